"""Templates, all read when a process starts.

An upgrade may replace the files while the process runs, and new templates do not fit old code. This module knows no
template.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import DictLoader

__all__ = ["loader_of"]


def loader_of(folder: Path) -> DictLoader:
    """Read all templates of a folder, and return a loader that has them by file name."""
    return DictLoader({path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()})
