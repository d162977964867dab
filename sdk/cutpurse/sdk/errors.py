"""What can go wrong outside the engine, and the exit code of each; the tree is that of `cutpurse.engine.errors`.

CutpurseError                 1   the run failed
|-- UsageError                2   asked for something that does not exist or makes no sense
|   |-- BotNotLoaded          3   a bot's file or class is no bot
|   |-- NotFound              4   a file that is not there
|   `-- RecordError           1   a record does not hold
`-- BotFault                  3   a bot did what it may not
"""

from __future__ import annotations

from typing import Final

from cutpurse.engine.errors import BotFault, CutpurseError, RecordError, UsageError

__all__ = [
    "BOT_FAILED",
    "FAILED",
    "INTERRUPTED",
    "BotNotLoaded",
    "NotFound",
    "exit_code",
]

FAILED: Final = 1
USAGE: Final = 2
BOT_FAILED: Final = 3
NOT_FOUND: Final = 4
INTERRUPTED: Final = 130


class BotNotLoaded(UsageError):
    """A file or class that was named as a bot is none."""


class NotFound(UsageError):
    """A file is not there."""


def exit_code(error: CutpurseError) -> int:
    """The exit code of a command that ends with this error."""
    for kind, code in (
        (RecordError, FAILED),
        (BotNotLoaded, BOT_FAILED),
        (NotFound, NOT_FOUND),
        (UsageError, USAGE),
        (BotFault, BOT_FAILED),
    ):
        if isinstance(error, kind):
            return code
    return FAILED
