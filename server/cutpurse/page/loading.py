"""Templates, all read when a process starts.

An upgrade may replace the files while the process runs, and new templates do not fit old code. This module knows no
template.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import DictLoader, Environment, StrictUndefined

from cutpurse.page.language.in_templates import speak

__all__ = ["templates_of"]


def templates_of(folder: Path, others: Mapping[str, str] | None = None) -> Environment:
    """Read all templates of a folder, which escape every text and speak the language of the request.

    Args:
        folder: The folder.
        others: Texts by name that take the place of its templates.
    """
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}
    files |= others or {}
    environment = Environment(
        loader=DictLoader(files),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    speak(environment)
    return environment
