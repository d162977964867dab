"""What can go wrong, and whose fault it is.

    CutpurseError
    |-- UsageError            the caller asked for something that does not exist
    |   |-- UnknownGame
    |   |-- SettingsError     a setting or a number of seats that the game does not have
    |   `-- RecordError       a record that is truncated, altered, or of another rules version
    `-- BotFault              a bot did what it may not
        |-- IllegalAnswer     not one of the options
        `-- WrongDecision     an answer to a question that is not open

Each says in one line what was wrong, what was possible, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BotFault",
    "CutpurseError",
    "IllegalAnswer",
    "RecordError",
    "SettingsError",
    "UnknownGame",
    "UsageError",
    "WrongDecision",
    "did_you_mean",
]

MAX_NAME_LENGTH = 64  # of a name that is compared: what a stranger sends may be long


class CutpurseError(Exception):
    """Anything this project raises on purpose."""


class UsageError(CutpurseError):
    """The caller asked for something that does not exist."""


class UnknownGame(UsageError):
    """No game has this name."""


class SettingsError(UsageError):
    """The game has no such setting, value or number of seats."""


class RecordError(UsageError):
    """A record cannot be read, or does not hold what it says."""


class BotFault(CutpurseError):
    """A bot did what it may not."""


class IllegalAnswer(BotFault):
    """An answer that is not among the options."""


class WrongDecision(BotFault):
    """An answer to a question that is not open."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the name that was probably meant: " (did you mean 'greed'?)"; empty if none is close."""
    from difflib import get_close_matches  # only where something is wrong

    near = get_close_matches(name[:MAX_NAME_LENGTH].lower(), names, 1)
    return f" (did you mean '{near[0]}'?)" if near else ""
