"""The folder of a new bot, which must not exist before.

This module knows no language.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["new_folder"]

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")  # valid as a file name in any language, and as Hello.bot


def new_folder(name: str, where: Path, taken: frozenset[str] = frozenset(), of_what: str = "") -> Path:
    """Create the folder `where / name`.

    Args:
        name: Name of the bot.
        where: Parent folder.
        taken: Words that cannot be names.
        of_what: What `taken` has, for the error.

    Raises:
        UsageError: If the name is invalid, or the folder exists or cannot be created.
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
        raise UsageError(f"{folder} already exists; name another folder") from None
    except OSError as problem:
        raise UsageError(f"{folder} cannot be made: {problem.strerror}") from None
    return folder
