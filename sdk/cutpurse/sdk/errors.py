"""What can go wrong outside the engine, and the exit code of each; the tree is that of `cutpurse.engine.errors`.

CutpurseError                 1   the run failed
|-- NotAuthorised             6   there is no token, or it is not good for this; or no trust in the server
|-- ServerRefused             1   a server that does not let this bot play, or plays something else
|-- ServerUnreachable         5   no server answers there
|-- UsageError                2   asked for something that does not exist or makes no sense
|   |-- BotNotLoaded          3   a bot's file or class is no bot
|   |   `-- ProgramNotStarted 3   a program that should play as a bot has not dialled in
|   |-- ExtraMissing          2   a part of the distribution is not installed
|   |-- NotFound              4   a file, or something of a server, that is not there
|   `-- RecordError           1   a record does not hold
`-- BotFault                  3   a bot did what it may not
    `-- ProgramFailed         3   a program that plays as a bot gave no answer
        `-- ProgramGone       3   a program that plays as a bot has left its match, so it answers nothing more
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cutpurse.engine.errors import BotFault, CutpurseError, RecordError, UsageError

__all__ = [
    "BOT_FAILED",
    "FAILED",
    "INTERRUPTED",
    "BotNotLoaded",
    "ExtraMissing",
    "NotAuthorised",
    "NotFound",
    "ProgramFailed",
    "ProgramGone",
    "ProgramNotStarted",
    "ServerRefused",
    "ServerUnreachable",
    "exit_code",
    "needs",
]

FAILED: Final = 1
USAGE: Final = 2
BOT_FAILED: Final = 3
NOT_FOUND: Final = 4
UNREACHABLE: Final = 5
NOT_AUTHORISED: Final = 6
INTERRUPTED: Final = 130


class BotNotLoaded(UsageError):
    """A file or class that was named as a bot is none."""


class ProgramNotStarted(BotNotLoaded):
    """A program that should play as a bot ended, was refused or said nothing before it had dialled in."""


class ExtraMissing(UsageError):
    """What a command needs is not installed; the text says how to install it."""


class NotFound(UsageError):
    """A file, or something of a server, is not there."""


class ProgramFailed(BotFault):
    """A program that plays as a bot gave no answer; the text is one line that names it."""


class ProgramGone(ProgramFailed):
    """A program that plays as a bot has ended, or has lost or given up its match: it answers nothing more in it."""


class NotAuthorised(CutpurseError):
    """There is no token, or not one for this; or the server is not the one that is trusted."""


class ServerRefused(CutpurseError):
    """A server does not let this bot play (any more), or what it says makes no sense here."""


class ServerUnreachable(CutpurseError):
    """No server answers there."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around the imports of a command whose needs are an extra.  Raises ExtraMissing with the line that installs it."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] == "cutpurse":
            raise
        raise ExtraMissing(f"{problem.name} is not installed; this does it: pip install 'cutpurse[{extra}]'") from None


def exit_code(error: CutpurseError) -> int:
    """Return the exit code of a command that ends with this error."""
    for kind, code in (
        (RecordError, FAILED),
        (BotNotLoaded, BOT_FAILED),
        (NotFound, NOT_FOUND),
        (ServerUnreachable, UNREACHABLE),
        (NotAuthorised, NOT_AUTHORISED),
        (UsageError, USAGE),
        (BotFault, BOT_FAILED),
    ):
        if isinstance(error, kind):
            return code
    return FAILED
