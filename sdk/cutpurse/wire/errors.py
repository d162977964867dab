"""The errors outside the engine, and the exit code of each; they extend the tree of `cutpurse.engine.errors`.

CutpurseError                 1   the run failed
|-- NotAuthorised             6   no token, a token without the scope, or a server that is not trusted
|-- ServerRefused             1   a server rejects this bot, or plays something else
|-- ServerUnreachable         5   no server answers at this address
|-- UsageError                2   a request that names something unknown or makes no sense
|   |-- BotNotLoaded          3   a bot's file or class is no bot
|   |   `-- ProgramNotStarted 3   a program that should play as a bot did not connect
|   |-- ExtraMissing          2   an optional part of the distribution is not installed
|   |-- NotFound              4   a file or a server's object does not exist
|   `-- RecordError           1   a record cannot be verified
`-- BotFault                  3   a bot broke the rules
    `-- ProgramFailed         3   a program that plays as a bot gave no answer
        `-- ProgramGone       3   a program that plays as a bot left its match and answers nothing more
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cutpurse.engine.errors import BotFault, CutpurseError, RecordError, UsageError
from cutpurse.wire.installation import how_to_install

__all__ = [
    "BOT_FAILED",
    "FAILED",
    "INTERRUPTED",
    "IN_END",
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

FAILED: Final = 1  # the run failed, a record is wrong, or a server does not let the bot play
USAGE: Final = 2  # wrong usage: no such game, bot, option, setting, value or number of seats
BOT_FAILED: Final = 3  # a bot cannot be loaded, raised, answered illegally, was taken over, or failed a check
NOT_FOUND: Final = 4  # a file, or something on a server, does not exist
UNREACHABLE: Final = 5  # no server answers
NOT_AUTHORISED: Final = 6  # no token, a token without the scope, or an untrusted certificate of the server
INTERRUPTED: Final = 130  # interrupted by Ctrl-C, SIGTERM or a closed terminal

IN_END: Final = "crashed, in end: "  # begins the message about a bot whose `end` raised; `bot check` looks for it


class BotNotLoaded(UsageError):
    """A file or class that was given as a bot, but is none."""


class ProgramNotStarted(BotNotLoaded):
    """A program that should play as a bot ended, was refused or stayed silent before it connected."""


class ExtraMissing(UsageError):
    """A command's requirement is not installed; the text says how to install it."""


class NotFound(UsageError):
    """A file, or a server's object, that does not exist."""


class ProgramFailed(BotFault):
    """A program that plays as a bot gave no answer; the text is one line that names it."""


class ProgramGone(ProgramFailed):
    """A program that plays as a bot ended, or left or lost its match. It answers nothing more in it."""


class NotAuthorised(CutpurseError):
    """There is no token, it lacks the scope, or the server is not trusted."""


class ServerRefused(CutpurseError):
    """A server rejects this bot, or sends something that makes no sense here."""


class ServerUnreachable(CutpurseError):
    """No server answers at this address."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Report a missing import within the block as an extra to install.

    Raises:
        ExtraMissing: With the line that installs `extra`.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] == "cutpurse":
            raise
        raise ExtraMissing(f"{problem.name} is not installed; {how_to_install(extra)}") from None


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
