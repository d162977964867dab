"""Moments in a writing transaction at which a part of the server may write, too, as part of the same commit.

    hooks = WriteHooks()
    hooks.on(ResultsWritten, queue_notices_of_results)
    Store("league.db", hooks=hooks)

A listener runs on the writing thread, in the transaction of the event: if it raises, nothing is committed. The events
of this module are all there are; it knows no listener.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement

__all__ = [
    "CheckingLadder",
    "DeletingLadder",
    "EstimatesReplaced",
    "LadderFrozen",
    "LookingForOpen",
    "MatchesAnnounced",
    "MatchesVoided",
    "ResultsWritten",
    "SeasonOver",
    "SubmissionSettled",
    "TournamentBegins",
    "VersionTestOver",
    "WriteHooks",
    "around",
    "send",
]

_OPTION: Final = "write_hooks"
Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class MatchesAnnounced:
    """Matches that will begin are stored, with their boards."""

    matches: Sequence[MatchAnnouncement]


@dataclass(frozen=True, slots=True)
class ResultsWritten:
    """New results with their numbers, in the order of storing, and the new rows of `pauses`."""

    results: Sequence[tuple[FinishedMatch, int]]
    version_ids: Mapping[Identity, int]
    pauses: Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class SubmissionSettled:
    """A submission was accepted or refused."""

    at: datetime
    player: Identity
    is_accepted: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class LadderFrozen:
    """A ladder starts no matches from `at` on."""

    ladder: str
    at: datetime


@dataclass(frozen=True, slots=True)
class BotForgets:
    """The owner of a bot empties what all its versions keep on a ladder."""

    owner: str
    bot: str
    ladder: str


@dataclass(frozen=True, slots=True)
class CheckingLadder:
    """A ladder is to be deleted if nothing needs it; a listener that does raises InvalidEntry."""

    ladder: str


@dataclass(frozen=True, slots=True)
class DeletingLadder:
    """A ladder is about to be deleted, with what belongs to it."""

    ladder_id: int


@dataclass(frozen=True, slots=True)
class LookingForOpen:
    """It is looked which matches an earlier server left open; a listener adds those that are played elsewhere."""

    elsewhere: set[str]


@dataclass(frozen=True, slots=True)
class MatchesVoided:
    """Matches that an earlier server left open are void."""

    matches: Sequence[str]


@dataclass(frozen=True, slots=True)
class SeasonOver:
    """A season ended."""

    at: datetime
    series: str
    name: str
    number: int
    ladder: str
    champion: str
    owners: Collection[str]


@dataclass(frozen=True, slots=True)
class TournamentBegins:
    """A tournament is stored, and played from now on; `owners` are those of its bots."""

    at: datetime
    event: str
    ladder: str
    bots: int
    owners: Collection[str]


@dataclass(frozen=True, slots=True)
class VersionTestOver:
    """A version test ended, by itself or because a person stopped it."""

    at: datetime
    event: str
    ladder: str
    new: Identity
    old: Identity
    outcome: str


@dataclass(frozen=True, slots=True)
class EstimatesReplaced:
    """The estimates of a ladder are replaced, see `WriteHooks.around`."""

    ladder: str
    ladder_id: int
    made: datetime


class WriteHooks:
    """The listeners of a `Store`, by the class of their events."""

    def __init__(self) -> None:
        """Begin without a listener."""
        self._listeners: dict[type, list[Callable[[Connection, Any], None]]] = {}
        self._around: dict[type, list[Callable[[Connection, Any], AbstractContextManager[None]]]] = {}

    def on(self, event: type[Event], listener: Callable[[Connection, Event], None]) -> None:
        """Call `listener` at each event of a class."""
        self._listeners.setdefault(event, []).append(listener)

    def around(self, event: type[Event], listener: Callable[[Connection, Event], AbstractContextManager[None]]) -> None:
        """Make each change of a class within the context of `listener`, which so sees what was before and after."""
        self._around.setdefault(event, []).append(listener)

    def install(self, connection: Connection) -> None:
        """Let the listeners hear of what is written on a connection."""
        connection.execution_options(**{_OPTION: self})

    @classmethod
    def of(cls, connection: Connection) -> WriteHooks:
        """Return the hooks that are installed on a connection."""
        hooks = connection.get_execution_options().get(_OPTION, _NOBODY)
        assert isinstance(hooks, cls)
        return hooks

    def listeners(self, event: object) -> Sequence[Callable[[Connection, Any], None]]:
        """Return the listeners of an event."""
        return self._listeners.get(type(event), ())

    def contexts(self, event: object) -> Sequence[Callable[[Connection, Any], AbstractContextManager[None]]]:
        """Return the listeners around an event."""
        return self._around.get(type(event), ())


_NOBODY: Final = WriteHooks()


def send(connection: Connection, event: object) -> None:
    """Call the listeners of an event, which is part of the transaction."""
    for listener in WriteHooks.of(connection).listeners(event):
        listener(connection, event)


@contextmanager
def around(connection: Connection, event: object) -> Iterator[None]:
    """Make a change within the contexts of its listeners."""
    with ExitStack() as stack:
        for listener in WriteHooks.of(connection).contexts(event):
            stack.enter_context(listener(connection, event))
        yield
