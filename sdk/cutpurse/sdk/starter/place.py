"""Where a new bot is put: a folder of its name, which was not there before.

This module knows no language.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["new_folder"]

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")  # of a file in any language, and in Hello.bot


def new_folder(name: str, where: Path, taken: frozenset[str] = frozenset(), of_what: str = "") -> Path:
    """Make the folder `where / name`.

    taken: words that cannot be names, and what they are words of.
    Raises UsageError for a name that cannot be a bot's, and for a folder that is there.
    """
    if not NAME.fullmatch(name) or name in taken:
        raise UsageError(
            f"{name!r} is no name for a bot: it has 1 to 32 of a-z, 0-9 and _, the first a letter"
            + (f", and is no {of_what}" if taken else "")
        )
    folder = where / name
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"{folder} is there already, and nothing is overwritten; name another") from None
    except OSError as problem:
        raise UsageError(f"{folder} cannot be made: {problem.strerror}") from None
    return folder
