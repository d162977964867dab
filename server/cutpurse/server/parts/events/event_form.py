"""What the calls about events need to know of a kind of events: its plans, who sees them, and its details.

All that the kinds share is in `events`. A kind reads the database, and writes nothing by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar

from sqlalchemy import Connection

from cutpurse.leaderboard import events
from cutpurse.leaderboard.events import STOPPED, EventEntry
from cutpurse.server.errors import legible
from cutpurse.server.league.league_queries import Caller
from cutpurse.server.league.messages import milliseconds
from cutpurse.server.league.presence import Presence
from cutpurse.v1 import event_pb2
from cutpurse.wire.league import format_absent

__all__ = ["EventForm", "EventPlan", "common_facts", "digest_of", "why_not_start"]


@dataclass(frozen=True, slots=True)
class EventPlan:
    """An event that can be started.

    Attributes:
        entry: What is stored of it; without an ID.
        event: The event before its first match.
        why_not: Why it cannot begin now; empty if it can.
        write: Stores the entry, with an ID. Raises InvalidEntry.
    """

    entry: EventEntry
    event: event_pb2.EventShown
    why_not: str
    write: Callable[[Connection, EventEntry], object]


class EventForm(ABC):
    """A kind of events, as callers plan and see them. `State` is what is stored of one event."""

    form: ClassVar[str]  # in the database
    kind: ClassVar[int]  # in a request for a list
    field: ClassVar[str]  # of an EventRequest
    scope: ClassVar[str] = "admin"  # of tokens that start and stop its events
    is_public: ClassVar[bool] = True  # whether its events exist for all who see their ladders
    waits_for: Callable[[str], str]  # returns why no board of an event can begin now; empty if nothing is known

    @abstractmethod
    def plan(self, request: event_pb2.EventRequest, caller: Caller, presence: Presence) -> EventPlan:
        """Return the plan that a request describes.  Raises CallRefused."""

    @abstractmethod
    def load(self, entry: EventEntry, number: int) -> Any:
        """Load an event; of a series the season of this number, 0 is the newest.  Raises NoSuchEntry."""

    @abstractmethod
    def describe(self, event: event_pb2.EventShown, state: Any, *, is_whole: bool) -> None:
        """Add the detail of a loaded event; if `is_whole`, with all that is left out in lists."""

    def stop(self, connection: Connection, event_id: str, ended: datetime) -> None:
        """Store that a person ended an event."""
        events.end(connection, event_id, STOPPED, ended)

    def ladders(self, state: Any) -> Sequence[str]:
        """Return the ladders of a loaded event."""
        return (state.ladder,)

    def exists_for(self, entry: EventEntry, caller: Caller) -> bool:
        """Return whether an event exists for a caller, whatever its ladders."""
        return True

    def viewer(self, caller: Caller) -> Caller:
        """Return the caller as the results of ladders are shown to them in an event of this kind."""
        return caller

    def check_list(  # noqa: B027 # most kinds check nothing
        self, request: event_pb2.ListEventsRequest, caller: Caller
    ) -> None:
        """Check that a caller may ask for a list of events of this kind alone.  Raises CallRefused."""


def digest_of(plan: str) -> str:
    """Return the SHA-256 of the text of a plan, in hexadecimal."""
    return sha256(plan.encode()).hexdigest()


def common_facts(entry: EventEntry) -> event_pb2.EventShown:
    """Encode what events of all kinds have."""
    return event_pb2.EventShown(
        event=entry.id,
        name=entry.name,
        ladder=entry.ladder,
        started_by=entry.started_by,
        plan=digest_of(entry.plan),
        created_ms=milliseconds(entry.created) if entry.id else 0,
        ended_ms=milliseconds(entry.ended),
        outcome=entry.outcome,
    )


def why_not_start(event: event_pb2.EventShown, bots: int, needs: str, *, can_play: bool) -> str:
    """Return why an event cannot begin now; empty if it can.

    Args:
        event: Its plan.
        bots: Number of all bots of the plan.
        needs: What has to be there, as "a tournament needs two bots".
        can_play: Whether the bots that can play now are that.
    """
    if can_play:
        return ""
    absent = [bot for bot in event.absent if not bot.is_left_out]
    facts = [format_absent(absent, bots)] if absent else []
    return legible("; ".join([*facts, f"{needs}: wait for them, or start it with --force"]), 1_000)
