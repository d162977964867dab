"""Where the files of submitted bots are, for a server and for commands on its database."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["storage_beside"]


def storage_beside(database: Path, arena: str = "") -> Path:
    """Return the folder for the submissions of a database; of one `arena` of several, by its address."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{database.name} {arena}").strip("-") if arena else database.name
    return database.with_name(f"{name}.bots")
