"""Who watches matches as they are played, in virtual time: what is told, when, to whom, and what that costs a table."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.record import event_to_json
from cutpurse.games import GAMES
from cutpurse.server.errors import LEFT, CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.server.watching.broadcast import EVERY_S, WATCHES_OF_A_PERSON, Visitor, Watching, WatchSubscriber
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.decode import event_of, view_of
from cutpurse.wire.encode import MatchEncoder
from tests.server.small_world import Manner, World

DELAY_S = 10.0


class Seen:
    """A watcher who reads everything."""

    def __init__(
        self,
        hall: Hall,
        *,
        owner: str | None = None,
        address: str = "ann",
        sees: Callable[[Ladder], bool] = lambda ladder: True,
        why_hidden_match: str = "",
        **asked: Any,
    ) -> None:
        self.hall = hall
        self.told: list[tuple[float, ladder_pb2.WatchMatchResponse]] = []
        self.raw: list[tuple[float, bytes]] = []
        self.may_see = self.is_good = True
        self.why_hidden, self.why_hidden_match = "", why_hidden_match
        self.reads = True
        self.watcher: WatchSubscriber | None = None
        visitor = Visitor(
            owner,
            address,
            lambda ladder: self.may_see and sees(ladder),
            lambda: self.is_good,
            lambda ladder, owners: self.why_hidden if owners is None else self.why_hidden or self.why_hidden_match,
        )
        self.watcher = hall.watching.watch(ladder_pb2.WatchMatchRequest(**asked), visitor, self.read)
        self.read()

    def read(self) -> None:
        while self.watcher is not None and self.reads and (message := self.watcher.take()) is not None:
            self.raw.append((self.hall.world.now, message))
            self.told.append((self.hall.world.now, ladder_pb2.WatchMatchResponse.FromString(message)))

    @property
    def kinds(self) -> list[str]:
        return [str(message.WhichOneof("what")) for _, message in self.told]

    @property
    def ending(self) -> Any:
        assert self.watcher is not None
        return self.watcher.ending

    def leave(self) -> None:
        assert self.watcher is not None
        self.hall.watching.leave(self.watcher)


class Hall:
    """A world of matches with those who watch them."""

    def __init__(
        self,
        game: str = "greed",
        matches: int | None = 1,
        *,
        delay_s: float = DELAY_S,
        limits: ServerLimits | None = None,
    ) -> None:
        self.world = World([Ladder("it", game, 3, matches_wanted=matches)], seed=game)
        self.said = io.StringIO()
        self.watching = Watching(
            self.world.lobby,
            logger(self.said, "debug"),
            delay_s=delay_s,
            limits=limits,
        )
        self.watching.begin(clock=lambda: self.world.now, due=self.ring, incident_number=lambda: "17")

    def ring(self) -> None:
        at = self.watching.next_event_at()
        if at is not None:
            self.world.after(at - self.world.now, self.tick)

    def tick(self) -> None:
        self.watching.tick(self.world.now)
        self.ring()

    def bots(self, manner: Manner | None = None) -> None:
        for name in ("ann", "bob", "cid"):
            self.world.bot(name, manner=manner or Manner(least_s=0.1, most_s=0.5))

    def begin(self) -> ServerMatch:
        """The first match; its table."""
        self.world.run(lambda: bool(self.world.lobby.open_matches()))
        return self.world.lobby.open_matches()[-1].table


@pytest.mark.parametrize("game", list(GAMES))
def test_a_spectator_is_told_all_that_is_open_and_not_before_the_delay(game: str) -> None:
    hall = Hall(game)
    hall.bots()
    table = hall.begin()
    began, log = hall.world.now, table.match.game.log
    assert log is not None
    first = len(log)
    seen = Seen(hall, match=table.name)
    hall.world.run(lambda: seen.ending is not None)
    assert seen.kinds == ["started", *["moved"] * (len(seen.kinds) - 2), "ended"]
    assert seen.ending is LEFT
    (begun, started), *moves = seen.told
    assert begun == began + DELAY_S
    assert (started.started.delay_ms, started.started.match.match) == (10_000, table.name)
    events: list[Event] = []
    for at, message in moves:
        moved = message.moved if message.HasField("moved") else message.ended.match
        assert moved.first_event == first + len(events)
        events += [event_of(event, GAMES[game], 3) for event in moved.events]
        if message.HasField("moved"):
            assert -0.001 <= at - (began + message.moved.at_ms / 1_000 + DELAY_S) <= EVERY_S + 0.001
            assert message.moved.events
    wanted = [event.to(3) for event in log[first:]]
    assert [event_to_json(event) for event in events] == [event_to_json(event) for event in wanted]
    view = view_of(moves[-2][1].moved.observation, GAMES[game], table.match.game.settings, 3, None)
    assert view == table.match.game.view(None)
    assert moves[-1][1].ended.match.opening.seed == table.deal.seed
    assert [seat.place for seat in moves[-1][1].ended.match.seats] == list(table.match.result().places)


def test_a_seat_is_shown_to_its_owner_at_once_and_to_nobody_else() -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    for owner in (None, "eve"):
        with pytest.raises(CallRefused, match="only the owner of its bot may watch seat 1"):
            Seen(hall, owner=owner, match=table.name, seat=1)
    with pytest.raises(CallRefused, match="seats 0 to 2"):
        Seen(hall, owner="local", match=table.name, seat=3)
    assert hall.watching.watchers == 0
    assert table.on_moved == []
    seen = Seen(hall, owner="local", match=table.name, seat=1)
    assert (seen.kinds, seen.told[0][0], seen.told[0][1].started.delay_ms) == (["started"], hall.world.now, 0)
    hall.world.run(lambda: seen.ending is not None)
    assert hall.world.now < 1_000 + DELAY_S + 60
    for at, message in seen.told[1:-1]:
        assert 0 <= at - (table.began + message.moved.at_ms / 1_000) + 0.001 <= EVERY_S + 0.002
        assert message.moved.observation.viewer == 1
    log = table.match.game.log
    assert log is not None
    view = view_of(seen.told[-2][1].moved.observation, GAMES["greed"], table.match.game.settings, 3, 1)
    assert view == table.match.game.view(1)


def test_many_spectators_are_told_the_same_bytes_from_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    looks: list[int | None] = []
    as_written = MatchEncoder.observation_of

    def observation_of(self: MatchEncoder, game: Game, seat: int | None, agenda: bool) -> bytes:
        looks.append(seat)
        return as_written(self, game, seat, agenda)

    monkeypatch.setattr(MatchEncoder, "observation_of", observation_of)
    several = [Seen(hall, match=table.name, address=str(number)) for number in range(50)]
    hall.world.run(lambda: all(seen.ending for seen in several))
    assert all(seen.raw == several[0].raw for seen in several)
    assert looks.count(None) == several[0].kinds.count("moved") + 1


def test_who_comes_later_is_told_how_it_looks_for_the_others_by_then() -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    first = Seen(hall, match=table.name)
    hall.world.run(lambda: len(first.told) == 6)
    later = Seen(hall, match=table.name[:8])  # the first signs of a name will do
    ((at, started),) = later.told
    assert at == hall.world.now
    assert started.started.observation == first.told[-1][1].moved.observation
    hall.world.run(lambda: later.ending is not None)
    assert later.raw[1:] == first.raw[6:]


def test_a_name_that_is_too_short_or_that_several_matches_share_is_refused_with_what_would_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    with pytest.raises(CallRefused, match=r"named in full, or by the first 8 or more characters of its name$"):
        Seen(hall, match=table.name[:7])
    (match,) = hall.world.lobby.open_matches()
    alike = [SimpleNamespace(name=f"feedc0de{number}", ladder=match.ladder) for number in range(6)]
    monkeypatch.setattr(hall.world.lobby, "open_matches", lambda: alike)
    names = ", ".join(f"feedc0de{number}" for number in range(5))
    expected = f"several matches that are played begin with 'feedc0de', give more of it: {names} and others$"
    with pytest.raises(CallRefused, match=expected):
        Seen(hall, match="feedc0de")


def test_what_happens_in_a_tenth_of_a_second_is_told_together() -> None:
    hall = Hall("szmal", delay_s=0.0)
    hall.bots(Manner(least_s=0.0, most_s=0.001))
    table = hall.begin()
    seen = Seen(hall, match=table.name)
    hall.world.run(lambda: seen.ending is not None)
    log = table.match.game.log
    assert log is not None
    moved = [(at, message.moved) for at, message in seen.told if message.HasField("moved")]
    assert sum(len(one.events) for _, one in moved) + len(seen.told[-1][1].ended.match.events) == (
        len(log) - moved[0][1].first_event
    )
    lasted = hall.world.now - table.began
    assert len(moved) <= lasted / EVERY_S + 2 < len(table.match.choices)
    assert all(later - sooner > EVERY_S - 0.001 for (sooner, _), (later, _) in itertools.pairwise(moved[:-1]))
    assert view_of(moved[-1][1].observation, GAMES["szmal"], table.match.game.settings, 3, None) == (
        table.match.game.view(None)
    )


def test_a_ladder_is_followed_from_match_to_match() -> None:
    hall = Hall(matches=None)
    seen = Seen(hall, ladder="it")  # nothing is played yet
    hall.bots()
    hall.world.run(lambda: seen.kinds.count("ended") == 5)
    assert seen.ending is None
    names, under_way = [], ""
    for _, message in seen.told:
        match message.WhichOneof("what"):
            case "started":
                assert under_way == ""
                under_way = message.started.match.match
                names.append(under_way)
            case "ended":
                under_way = ""
    assert len(set(names)) == len(names) >= 5
    assert [at for at, _ in seen.told] == sorted(at for at, _ in seen.told)
    seen.leave()
    assert all(not match.table.on_moved for match in hall.world.lobby.open_matches())


def test_without_a_delay_a_ladder_is_followed_as_well() -> None:
    hall = Hall(matches=None, delay_s=0.0)
    seen = Seen(hall, ladder="it")
    hall.bots()
    hall.world.run(lambda: seen.kinds.count("ended") == 5)
    assert [kind for kind in seen.kinds if kind != "moved"][:10] == ["started", "ended"] * 5


def test_a_match_without_watchers_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    seen = Seen(hall, match=table.name)
    assert len(table.on_moved) == 1
    seen.leave()
    assert table.on_moved == []
    hall.world.run(lambda: hall.world.lobby.is_complete)
    assert seen.told == []
    assert (hall.watching.watchers, hall.watching._shows) == (0, {})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "name one of them"),
        ({"match": "x", "ladder": "it"}, "name one of them"),
        ({"ladder": "it", "seat": 1}, "a seat is watched in one match"),
        ({"ladder": "other"}, "no ladder is called 'other' here"),
        ({"match": "0" * 32}, f"one that is over is shown by: cutpurse match replay {'0' * 32}"),
        ({"match": "a\x1b[2J"}, r"no match 'a\?\[2J' is being played"),
    ],
)
def test_what_cannot_be_watched_is_told(asked: dict[str, Any], said: str) -> None:
    hall = Hall()
    with pytest.raises(CallRefused, match=said):
        Seen(hall, **asked)
    assert hall.watching.watchers == 0


def test_what_one_may_not_see_is_not_there() -> None:
    hall = Hall(matches=None)
    hall.bots()
    table = hall.begin()
    sees_nothing = Visitor("eve", "eve", lambda ladder: False)
    for asked in ({"match": table.name}, {"ladder": "it"}, {"match": table.name, "seat": 0}):
        with pytest.raises(CallRefused) as refused:
            hall.watching.watch(ladder_pb2.WatchMatchRequest(**asked), sees_nothing, lambda: None)
        assert refused.value.ending.reason == "NOT_FOUND"
    seen = Seen(hall, ladder="it")
    hall.world.run(lambda: "started" in seen.kinds)
    seen.may_see = False  # the ladder has become private: no other match of it is told
    hall.world.run(lambda: seen.ending is not None)
    assert seen.ending.reason == "NOT_FOUND"
    assert seen.kinds.count("started") == 1


def test_when_a_ladder_becomes_private_strangers_see_no_more_of_the_matches_that_are_played_there() -> None:
    hall = Hall(matches=None)
    hall.bots()
    table = hall.begin()
    public = hall.world.lobby.ladder_named("it")
    assert public is not None

    def sees(ladder: Ladder) -> bool:
        return not ladder.terms.is_private

    ann, bob = Seen(hall, match=table.name, sees=sees), Seen(hall, ladder="it", sees=sees)
    own = Seen(hall, owner="local", match=table.name, seat=0)
    hall.world.run(lambda: "moved" in ann.kinds and "moved" in bob.kinds)
    hall.world.lobby.set_ladder(replace(public, terms=replace(public.terms, is_private=True)))
    told = len(ann.told), len(bob.told)
    hall.world.run(lambda: ann.ending is not None and bob.ending is not None)
    assert (len(ann.told), len(bob.told)) == told
    assert {(one.ending.reason, one.ending.text) for one in (ann, bob)} == {
        ("NOT_FOUND", "this ladder is no longer shown here")
    }
    assert not table.over
    with pytest.raises(CallRefused, match=f"no match '{table.name[:8]}' is being played"):
        Seen(hall, match=table.name[:8], sees=sees)
    hall.world.run(lambda: own.ending is not None)
    assert own.kinds[-1] == "ended"  # who has a seat is told of it to the end


def test_who_waits_for_a_ladder_that_is_deleted_or_hidden_waits_no_more() -> None:
    hall = Hall()
    others = [Ladder(name, "greed", 2) for name in ("gone", "hidden", "kept")]
    for ladder in others:
        hall.world.lobby.set_ladder(ladder)

    def sees(ladder: Ladder) -> bool:
        return not ladder.terms.is_private

    gone, hidden, kept = [Seen(hall, ladder=ladder.name, sees=sees) for ladder in others]
    host = Seen(hall, ladder="hidden")
    hall.world.lobby.remove_ladder("gone")
    assert (gone.ending.reason, gone.ending.text) == ("NOT_FOUND", "this ladder is no longer shown here")
    hall.world.lobby.set_ladder(replace(others[1], terms=replace(others[1].terms, is_private=True)))
    hall.world.lobby.set_ladder(replace(others[2], terms=replace(others[2].terms, owners=("ann",))))
    assert hidden.ending.reason == "NOT_FOUND"
    assert (host.ending, kept.ending) == (None, None)
    for one in (gone, hidden, host, kept):
        one.leave()
    assert hall.watching.watchers == 0


def test_when_results_are_hidden_all_watches_end_with_the_reason() -> None:
    hall = Hall(matches=None)
    hall.world.lobby.set_ladder(Ladder("other", "greed", 2))
    hall.bots()
    table = hall.begin()
    match, ladder, waits = Seen(hall, match=table.name), Seen(hall, ladder="it"), Seen(hall, ladder="other")
    own, host = Seen(hall, owner="local", match=table.name, seat=0), Seen(hall, match=table.name)
    hall.world.run(lambda: "moved" in match.kinds and "moved" in ladder.kinds)
    for seen in (match, ladder, waits, own):
        seen.why_hidden = "results of it are hidden until 2027-01-31 18:00 UTC"
    hall.world.lobby.set_ladder(Ladder("other", "greed", 2))  # as if its terms had changed
    told = len(match.told), len(ladder.told), len(own.told)
    hall.world.run(lambda: None not in (match.ending, ladder.ending, own.ending))
    assert (len(match.told), len(ladder.told), len(own.told)) == told
    assert {(seen.ending.reason, seen.ending.text) for seen in (match, ladder, waits, own)} == {
        ("NOT_YOURS", match.why_hidden)
    }
    hall.world.run(lambda: host.ending is not None)
    assert host.kinds[-1] == "ended"


def test_a_token_that_is_revoked_is_told_nothing_more() -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    seen = Seen(hall, owner="local", match=table.name, seat=0)
    seen.is_good = False
    hall.world.run(lambda: seen.ending is not None)
    assert seen.ending.reason == "TOKEN_INVALID"
    assert seen.kinds == ["started"]


def test_who_does_not_read_is_dropped_and_the_others_are_told() -> None:
    hall = Hall(limits=ServerLimits(watcher_bytes=20_000))
    hall.bots()
    table = hall.begin()
    reads, sleeps = Seen(hall, match=table.name), Seen(hall, match=table.name)
    sleeps.reads = False
    hall.world.run(lambda: reads.ending is not None)
    assert (sleeps.ending.reason, reads.ending) == ("SILENT", LEFT)
    sleeps.reads = True
    sleeps.read()
    assert sleeps.told == []  # what waited for this watcher is gone
    assert hall.watching.watchers == 2  # until their calls are over
    reads.leave()
    sleeps.leave()
    assert hall.watching.watchers == 0


def test_watchers_are_bounded_in_all_and_for_each_address() -> None:
    hall = Hall(limits=ServerLimits(most_watchers=3, watchers_per_address=2))
    ann = [Seen(hall, ladder="it", address="ann") for _ in range(2)]
    with pytest.raises(CallRefused, match="2 from this address are watching"):
        Seen(hall, ladder="it", address="ann")
    Seen(hall, ladder="it", address="bob")
    with pytest.raises(CallRefused, match="3 are watching already"):
        Seen(hall, ladder="it", address="cid")
    ann[0].leave()
    ann[0].leave()  # a second time changes nothing
    Seen(hall, ladder="it", address="ann")


def test_a_person_gets_each_choice_by_itself_and_has_a_few_watches_of_their_seat() -> None:
    hall = Hall(limits=ServerLimits(watchers_per_address=1))
    for name in ("person", "bob", "cid"):
        hall.world.bot(name, manner=Manner(least_s=0.01, most_s=0.02))
    table = hall.begin()
    seat = [bot.bot for bot in hall.world.lobby.open_matches()[-1].seats].index("person")
    Seen(hall, ladder="it")  # the one that this address may have
    own = [Seen(hall, owner="local", match=table.name, seat=seat) for _ in range(WATCHES_OF_A_PERSON)]
    with pytest.raises(CallRefused, match=f"4 from seat {seat} of match {table.name} are watching already"):
        Seen(hall, owner="local", match=table.name, seat=seat)
    with pytest.raises(CallRefused, match="1 from this address are watching already"):
        Seen(hall, owner="local", match=table.name, seat=1 - min(seat, 1))
    own[0].leave()
    Seen(hall, owner="local", match=table.name, seat=seat)
    hall.world.run(lambda: own[1].ending is not None)
    moves = [message.moved.at_ms for _, message in own[1].told[1:-1]]
    assert min(later - before for before, later in itertools.pairwise(moves)) < EVERY_S * 1_000


def test_what_breaks_in_watching_does_not_break_the_match() -> None:
    hall = Hall()
    hall.bots(Manner(least_s=0.1, most_s=0.2))
    table = hall.begin()
    seen = Seen(hall, match=table.name)
    original = table.encoder.observation_of
    calls = 0

    def breaks_once(game: Any, seat: int | None, agenda: bool) -> bytes:
        nonlocal calls
        if seat is None:
            calls += 1
            raise KeyError("a card that nobody may know")
        return original(game, seat, agenda)

    table.encoder.observation_of = breaks_once  # type: ignore[method-assign]
    hall.world.run(lambda: hall.world.lobby.is_complete)
    assert (calls, seen.ending.reason, seen.told) == (1, "INCIDENT", [])
    (problem,) = [json.loads(line) for line in hall.said.getvalue().splitlines()]
    assert (problem["incident"], problem["match"], problem["error"]) == ("17", table.name, "KeyError")
    assert "a card" not in hall.said.getvalue()
    (result,) = hall.world.store.kept.values()
    assert not result.is_void
    assert (table.on_moved, hall.world.log.errors()) == ([], [])


def test_a_match_that_breaks_down_is_told_as_void(monkeypatch: pytest.MonkeyPatch) -> None:
    hall = Hall()
    hall.bots()
    table = hall.begin()
    seen = Seen(hall, match=table.name)
    hall.world.run(lambda: len(seen.told) == 3)

    def broken(game: Any, seat: int) -> None:
        raise KeyError("a card that nobody may know")

    monkeypatch.setattr(type(table.match.game), "options", broken)
    hall.world.run(lambda: seen.ending is not None)
    assert seen.told[-1][1].ended.match.voided
    assert seen.ending is LEFT
    assert hall.said.getvalue() == ""


def test_when_the_server_stops_everybody_is_told_what_waits_and_that() -> None:
    hall = Hall()
    waits = Seen(hall, ladder="it")
    hall.bots()
    table = hall.begin()
    watches, own = Seen(hall, match=table.name), Seen(hall, owner="local", match=table.name, seat=0)
    hall.world.run(lambda: len(own.told) == 4)
    hall.world.lobby.drain(hall.world.now)
    hall.world.lobby.void_all()
    hall.world.run(lambda: hall.world.lobby.is_idle)
    assert (waits.told, watches.told, own.ending) == ([], [], LEFT)
    hall.watching.close()
    assert watches.kinds == waits.kinds == own.kinds
    assert watches.told[-1][1].ended.match.voided
    assert watches.ending is LEFT
    assert waits.ending.reason == "DRAINING"


def test_who_follows_a_ladder_waits_while_only_its_players_may_see_its_matches() -> None:
    hall = Hall(matches=None)
    hall.bots()
    hall.begin()
    seen, refused = (Seen(hall, ladder="it", why_hidden_match="replays are hidden") for _ in range(2))
    refused.why_hidden = "replays are hidden"
    hall.world.run(lambda: refused.ending is not None)
    assert (refused.ending.text, seen.kinds, seen.ending) == ("replays are hidden", [], None)
    seen.why_hidden_match = ""
    hall.world.run(lambda: "ended" in seen.kinds)
    assert seen.kinds[0] == "started"
