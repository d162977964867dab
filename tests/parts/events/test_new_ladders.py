"""An event is there while its next season begins, whose ladders are made between two looks at the store."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from cutpurse.leaderboard import events
from cutpurse.leaderboard.events import EventEntry
from cutpurse.server.parts.events.events import EventAnswers
from cutpurse.v1 import event_pb2

DAWN = datetime(2026, 1, 1, tzinfo=UTC)
NOBODY: Any = None


def answers_while_a_season_begins() -> EventAnswers:
    """Make the answers of a league in which the ladder of a second season is made while the event is read."""
    ladders = {"cup-s1": SimpleNamespace(game="greed")}

    def load(entry: object, number: int) -> list[str]:
        ladders["cup-s2"] = SimpleNamespace(game="greed")
        return ["cup-s2"]

    def run(query: object, *words: object, **more: object) -> Any:
        entry = EventEntry("0123456789ab", "cup-s1", "ann", "{}", DAWN, None, "", form="season")
        return entry if query is events.entry else [entry]

    form: Any = SimpleNamespace(
        form="season",
        kind=event_pb2.EVENT_KIND_SEASON,
        is_public=True,
        load=load,
        ladders=lambda state: state,
        viewer=lambda caller: caller,
        exists_for=lambda entry, caller: True,
        check_list=lambda request, caller: None,
        waits_for=lambda event: "",
        describe=lambda event, state, is_whole: None,
    )
    answers: Any = SimpleNamespace(visible=lambda viewer: dict(ladders), with_results=lambda viewer: set(ladders))
    readings: Any = SimpleNamespace(run=run)
    return EventAnswers(readings, answers, [form])


def test_an_event_is_there() -> None:
    assert answers_while_a_season_begins().ladder_of("0123456789ab", NOBODY) == "cup-s1"


def test_an_event_is_listed() -> None:
    listed = answers_while_a_season_begins().list(event_pb2.ListEventsRequest(), NOBODY, NOBODY)
    assert [event.event for event in listed.events] == ["0123456789ab"]
