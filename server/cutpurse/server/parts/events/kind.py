"""The part `events` as the server finds it: what it answers from a database, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from cutpurse.server.hosting.part import PartKind

if TYPE_CHECKING:
    from cutpurse.leaderboard.reader import LeaderboardReader
    from cutpurse.server.hosting.configuration import Value
    from cutpurse.server.hosting.part import Core, Part
    from cutpurse.server.league.league_queries import Answers

__all__ = ["EVENTS"]


def _read(values: Mapping[str, Value]) -> bool:
    """Return that the part is on: it has no settings."""
    return True


def _open(settings: bool, core: Core) -> Part:
    from cutpurse.server.parts.events.part import EventsPart

    return EventsPart(core)


def _reads(reader: LeaderboardReader, answers: Answers) -> Mapping[str, Any]:
    from cutpurse.server.parts.events.events import EventAnswers, event_forms

    events = EventAnswers(reader, answers, event_forms(reader, answers))
    return {"ListEvents": events.list, "GetEvent": events.get}


EVENTS: Final = PartKind(name="events", read=_read, open=_open, reads=_reads)
