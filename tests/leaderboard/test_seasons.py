"""Stored seasons on both databases: what a phase writes, who gets word of the end, and the names that must exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cutpurse.leaderboard import events, queries, seasons, tournaments
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.events import TOURNAMENT, EventEntry
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.seasons import NewSeason, SeasonBot, SeasonState
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import write_hooks
from cutpurse.server.parts.notices import receivers
from cutpurse.server.parts.notices.kind import NOTICES
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver, ReceiverEntry
from tests.leaderboard.sample_results import DAWN, RATING, add_version

LATER = DAWN + timedelta(hours=1)
SERIES = EventEntry("s", "", "root", "{}", DAWN, name="cup", form=events.SERIES)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database, hooks=write_hooks([NOTICES], pytest.fail)) as opened:
        for owner in ("ann", "bob", "cid"):
            add_version(opened, owner, "bot", "1")
        yield opened


def season(number: int, *bots: SeasonBot, **terms: Any) -> NewSeason:
    ladders = [
        NewLadder(f"cup-{division}-s{number}", "greed", 2, RATING, terms=LadderTerms(**terms)) for division in (1, 2)
    ]
    return NewSeason(ladders, bots, DAWN)


def start(store: Store, **terms: Any) -> SeasonState:
    new = season(1, SeasonBot("ann", "bot", 1, 1), SeasonBot("bob", "bot", 2, 1), **terms)
    return store.write(seasons.start, SERIES, new, 2)


def texts(store: Store, receiver: ReceiverEntry) -> list[dict[str, Any]]:
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT receiver_id, body FROM outbox ORDER BY number").all()
    return [json.loads(body) for to, body in rows if to == receiver.id]


def end(store: Store) -> SeasonState:
    """End the first season, which ann wins."""
    state = store.write(seasons.end_play, "s", 1, LATER)
    table = [replace(bot, place=1, version="1", rating=25.5, matches=3, next_division=1) for bot in state.bots]
    return store.write(seasons.put_table, "s", 1, table, None, LATER, LATER)


def test_a_season_is_stored_and_goes_on_to_the_next(store: Store) -> None:
    first = start(store)
    assert (first.ladders, first.phase, first.series) == (("cup-1-s1", "cup-2-s1"), "playing", SERIES)
    assert store.run(seasons.series_by_ladder) == {"cup-1-s1": ("s", 1), "cup-2-s1": ("s", 1)}
    store.write(seasons.note_bots, "s", 1, [SeasonBot("cid", "bot", 2, 2, is_late=True)], {("bob", "bot"): True})
    store.write(seasons.note_bots, "s", 1, [SeasonBot("cid", "bot", 1, 9)], {})
    assert store.run(seasons.state, "s").bots == (
        SeasonBot("ann", "bot", 1, 1),
        SeasonBot("bob", "bot", 2, 1, has_left=True),
        SeasonBot("cid", "bot", 2, 2, is_late=True),
    ), "a bot is added once"
    over = end(store)
    assert (over.phase, over.ended, over.next_at) == ("break", LATER, LATER)
    assert over.bots[0] == SeasonBot("ann", "bot", 1, 1, False, False, 1, "1", 25.5, 3, 1)
    second = store.write(seasons.begin_next, "s", 1, season(2, SeasonBot("ann", "bot", 1, 1)))
    assert (second.number, second.ladders, second.series.number) == (2, ("cup-1-s2", "cup-2-s2"), 2)
    assert store.run(seasons.state, "s", 1) == replace(over, phase="over", series=second.series)
    assert [entry.id for entry in store.run(events.entries, [events.SERIES], only_running=True)] == ["s"]
    store.write(seasons.stop, "s", LATER)
    assert store.run(events.entries, [events.SERIES], only_running=True) == []
    assert {store.run(queries.ladder, name).terms.frozen for name in second.ladders} == {LATER}


def test_a_table_and_its_final_are_stored_together_or_not_at_all_however_many_tournaments_are_played(
    store: Store,
) -> None:
    start(store)
    other = EventEntry("t", "cup-1-s1", "root", "{}", DAWN)
    store.write(tournaments.start, other, 1)
    state = store.write(seasons.end_play, "s", 1, LATER)
    table = [replace(bot, place=1) for bot in state.bots]
    with pytest.raises(NoSuchEntry, match="there is no ladder 'nowhere'"):
        store.write(seasons.put_table, "s", 1, table, replace(other, id="f", ladder="nowhere"), None, LATER)
    assert store.run(seasons.state, "s") == state
    final = store.write(seasons.put_table, "s", 1, table, replace(other, id="f"), None, LATER)
    assert (final.phase, final.tournament, final.bots) == ("final", "f", tuple(table))
    again = store.write(seasons.put_table, "s", 1, table, replace(other, id="again"), None, LATER)
    assert (again, [entry.id for entry in store.run(events.entries, [TOURNAMENT])]) == (final, ["t", "f"])
    with pytest.raises(InvalidEntry, match="2 tournaments are being played, as many as may"):
        store.write(tournaments.start, replace(other, id="more"), 2)
    store.write(seasons.stop, "s", LATER)
    assert store.run(events.entry, "f").outcome == "stopped"
    assert store.run(events.entry, "t").ended is None


def test_what_does_not_exist_is_refused_and_nothing_is_stored(store: Store) -> None:
    with pytest.raises(NoSuchEntry, match="owner 'zoe' has no bot 'bot'"):
        store.write(seasons.start, SERIES, season(1, SeasonBot("zoe", "bot", 1, 1)), 2)
    assert (store.run(events.entries, [events.SERIES]), store.run(queries.ladders)) == ([], [])
    start(store)
    with pytest.raises(InvalidEntry, match="there is a ladder cup-1-s1 already"):
        store.write(seasons.start, replace(SERIES, id="again"), season(1), 2)
    with pytest.raises(InvalidEntry, match="seasons of 1 plans go on, as many as may"):
        store.write(seasons.start, replace(SERIES, id="more"), season(3), 1)
    assert [entry.id for entry in store.run(events.entries, [events.SERIES])] == ["s"]
    for series, number in (("s", 2), ("none", None)):
        with pytest.raises(NoSuchEntry, match=r"have no season 2|there is no event 'none'"):
            store.run(seasons.state, series, number)


@pytest.mark.parametrize(
    ("terms", "who"),
    [
        ({}, ["ann", "bob", "root"]),
        ({"owners": ("ann",), "is_private": True}, ["ann", "root"]),
        ({"results_hidden_until": LATER + timedelta(hours=1)}, ["root"]),
    ],
    ids=["public", "private", "hidden results"],
)
def test_owners_who_may_know_get_word_that_a_season_is_over(
    store: Store, terms: dict[str, Any], who: list[str]
) -> None:
    listening = {
        owner: store.write(
            receivers.add_receiver,
            NewReceiver(owner, WEBHOOK, f"https://{owner}.example", b"k", is_host=owner == "root"),
            DAWN,
        )
        for owner in ("ann", "bob", "cid", "root")
    }
    start(store, **terms)
    end(store)
    got = {owner: texts(store, receiver) for owner, receiver in listening.items()}
    assert sorted(owner for owner, bodies in got.items() if bodies) == who
    (body,) = got["root"]
    assert body["text"] == "Season 1 of cup is over: ann/bot won it."
    assert (body["event"], body["ladder"], body["link"]) == ("season_over", "cup-1-s1", "/events/s/1")
    assert body["details"] == {"series": "s", "season": 1, "champion": "ann/bot"}
