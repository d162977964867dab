"""Boards of several matches in the lobby: who plays them, when they are opened, and that nobody meets a deal twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches import deals, match_start
from cutpurse.server.matches.open_boards import WAITS_S
from cutpurse.server.streams.hello import Introduction
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.server.streams.table_stages import TableEvent
from cutpurse.v1 import arena_pb2
from tests.engine.toy import Toy
from tests.server.small_world import BotThere, Manner, World
from tests.server.stores import match_of

CONTROL = TimeControl(base_ms=200, bank_ms=1_000, grace_ms=50, poll_floor_ms=20, handover_ms=100)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "toy", Toy)


def ladder(kind: str, seats: int = 2, **more: Any) -> Ladder:
    return Ladder(f"of-{kind}", "toy", seats, {"rounds": "3"}, CONTROL, boards=kind, **more)


def crowd(world: World, count: int, forgets: bool = False, **more: Any) -> list[BotThere]:
    """Bots of as many owners."""
    bots = []
    for n in range(count):
        bot = BotThere(world, f"bot{n}", 4, None, owner=f"owner{n}", **more)
        bot.is_forgetful = forgets
        world.bots.append(bot)
        world.lobby.enter(bot)
        bots.append(bot)
    return bots


def boards_of(world: World) -> dict[str, list[FinishedMatch]]:
    """The matches that are stored, by board."""
    found: dict[str, list[FinishedMatch]] = {}
    for result in world.store.kept.values():
        found.setdefault(result.deal.board, []).append(result)
    return found


def seats_of(result: FinishedMatch | MatchAnnouncement) -> list[Identity]:
    return list(result.players)


# -- who plays
def test_in_a_rotation_the_same_bots_have_every_seat_once() -> None:
    world = World([ladder("rotation", seats=3)])
    crowd(world, 5, forgets=True)
    world.run(lambda: len(world.store.kept) >= 30)
    whole = [results for results in boards_of(world).values() if len(results) == 3]
    assert len(whole) >= 9
    for results in whole:
        seats = [seats_of(result) for result in results]
        for bot in seats[0]:
            assert sorted(row.index(bot) for row in seats) == [0, 1, 2]
        assert {match_of(result).key for result in results} == {match_of(results[0]).key}
        assert len({result.match for result in results}) == 3
        assert {result.board_matches for result in results} == {3}


def test_only_those_who_forget_play_rotations() -> None:
    world = World([ladder("rotation"), ladder("plain")])
    with pytest.raises(
        CallRefused, match=r"plays rotations, where a bot meets the same cards again.*hand yours in"
    ) as no:
        world.lobby.check(Identity("ann", "sneak", "1"), {"toy": ["of-rotation"]})
    assert no.value.ending.reason == "NOT_YOURS"
    world.lobby.check(Identity("ann", "sneak", "1"), {"toy": ["of-rotation"]}, forgets=True)
    world.lobby.check(Identity("ann", "sneak", "1"), {"toy": []})  # it names none: it plays the others
    crowd(world, 4)
    world.run(lambda: len(world.store.kept) >= 10)
    assert {result.ladder for result in world.store.kept.values()} == {"of-plain"}
    only = World([ladder("rotation")])
    with pytest.raises(CallRefused, match="plays rotations"):
        only.lobby.check(Identity("ann", "sneak", "1"), {})


def test_a_duplicate_is_played_by_bots_of_different_owners_at_the_same_time() -> None:
    world = World([ladder("duplicate")])
    crowd(world, 9)
    world.run(lambda: len(world.store.kept) >= 60)
    sizes = Counter(result.board_matches for result in world.store.kept.values())
    assert set(sizes) <= {2, 3, 4}
    owners: dict[str, list[str]] = {}
    for announced in world.store.announced.values():
        owners.setdefault(announced.deal.board, []).extend(player.owner for player in announced.players)
    assert all(len(set(mine)) == len(mine) for mine in owners.values())
    for results in boards_of(world).values():
        assert {match_of(result).key for result in results} == {match_of(results[0]).key}


def test_with_too_few_owners_boards_are_plain_and_say_so() -> None:
    world = World([ladder("duplicate")])
    for n in range(6):
        world.bot(f"bot{n}", owner=f"owner{n % 3}")
    world.run(lambda: len(world.store.kept) >= 10)
    for result in world.store.kept.values():
        assert result.board_matches == 1
        assert result.reason.endswith("; a board of one match, for too few owners are here for two")
    world.bot("late", owner="another")
    before = set(world.store.kept)
    world.run(lambda: len(world.store.kept) >= 40)
    newest = [result for name, result in world.store.kept.items() if name not in before]
    assert any(result.board_matches == 2 for result in newest)
    alone = [result for result in newest if result.reason.endswith("too few owners are here for two")]
    assert all(result.board_matches == 1 for result in alone)


# -- what is promised and told
def test_all_tables_are_promised_and_opened_only_after_the_last_match() -> None:
    world = World([ladder("duplicate", matches_wanted=2)])
    slow, *others = crowd(world, 4)
    slow.manner = Manner(least_s=0.15, most_s=0.18)
    quick: list[BotThere] = []

    def quick_are_told() -> bool:
        quick[:] = [bot for bot in others if bot.done]
        return len(quick) == 2

    world.run(quick_are_told)
    assert len(world.store.kept) == 1
    for bot in quick:
        ended = bot.done[0].ended
        assert ended is not None
        assert not ended.HasField("opening")
        assert not ended.rated
        assert bot.opened_boards == []
    assert [facts["places"] for _, event, facts in world.log.lines if event == "match ended"] == [[]]
    world.run(lambda: bool(slow.done) and all(bot.opened_boards for bot in quick))
    for bot in quick:
        (opened,) = bot.opened_boards
        started = bot.done[0].started
        assert (opened.match, opened.board, opened.rated) == (started.match, started.board, True)
        assert commitment(opened.opening.seed, opened.opening.params) == started.commitment
        body = bot.done[0].seat_at.ended()  # as it is told to who was away, or has not said that it heard of the end
        assert body is not None
        again = arena_pb2.MatchEnded.FromString(body)
        assert (again.rated, again.opening) == (True, opened.opening)
    last = slow.done[0].ended
    assert last is not None
    assert last.rated
    assert last.opening == quick[0].opened_boards[0].opening
    assert slow.opened_boards == []
    settled = json.loads(last.opening.params)
    assert settled["boards"] == "duplicate"
    for table in settled["tables"]:
        result = world.store.kept[table["match"]]
        assert [tuple(seat[key] for key in ("owner", "bot", "version")) for seat in table["seats"]] == seats_of(result)
        assert match_of(result).key == board_key(last.opening.seed, last.opening.params)


def test_what_is_told_of_a_match_before_its_board_is_over_has_nothing_of_the_deal() -> None:
    """Neither the seed nor the key, nor what was dealt at the other table: bytes of the wire and lines of the log."""
    world = World([ladder("duplicate", seats=2)])
    crowd(world, 8)
    world.run(lambda: len(world.store.kept) >= 40)
    done = [(bot, played) for bot in world.bots for played in bot.done]
    sealed = [(bot, played) for bot, played in done if played.ended and not played.ended.HasField("opening")]
    assert len(sealed) > 20
    for _, played in sealed:
        deal = world.store.kept[played.started.match].deal
        for body in played.told:
            assert deal.seed not in body
            assert board_key(deal.seed, deal.params) not in body
            assert deal.params not in body
    logged = repr(world.log.lines)
    for result in world.store.kept.values():
        assert result.deal.seed.hex() not in logged
        assert repr(result.deal.seed) not in logged


# -- what goes wrong
def test_a_void_match_voids_what_has_not_begun_and_nothing_is_rated() -> None:
    world = World([ladder("rotation", seats=3, matches_wanted=3)])
    crowd(world, 3, forgets=True)
    for bot in world.bots:
        bot.max_tables = 1  # one match after the other
    world.run(lambda: world.lobby.tables == 1)
    (open_match,) = world.lobby.open_matches()
    open_match.table.void(EndCause.VOID_OPERATOR)
    world.run(lambda: len(world.store.kept) == 3)
    assert all(result.is_void for result in world.store.kept.values())
    assert [result.decisions for result in world.store.kept.values()][1:] == [0, 0]
    for bot in world.bots:
        assert len(bot.done) + len(bot.open) <= 2  # of those that never began it was told nothing
    world.run(lambda: len(world.store.kept) >= 6)  # and the ladder goes on
    assert all(not result.is_void for result in list(world.store.kept.values())[3:])


def test_a_bot_that_stays_away_voids_its_board_after_a_while() -> None:
    world = World([ladder("rotation", seats=2)])
    ann, _ = crowd(world, 2, forgets=True)
    for bot in world.bots:
        bot.max_tables = 1
    world.run(lambda: world.lobby.tables == 1)
    began = world.now
    ann.lose_stream(None)
    world.run(lambda: len(world.store.kept) == 2)
    assert began + WAITS_S <= world.now < began + WAITS_S + 2
    first, second = world.store.kept.values()
    assert (first.void_cause, second.void_cause) == (None, EndCause.VOID_SERVER.value)
    world.run(lambda: world.lobby.is_idle)


def test_nobody_waits_for_a_version_that_was_withdrawn() -> None:
    world = World([ladder("rotation", seats=2)])
    ann, _ = crowd(world, 2, forgets=True)
    for bot in world.bots:
        bot.max_tables = 1
    world.run(lambda: world.lobby.tables == 1)
    (playing,) = world.lobby.open_matches()
    ann.lose_stream(None)
    world.lobby.withdrawn(Identity("owner0", "bot0", "0"))  # another version: nobody waits for it
    world.run(lambda: len(world.store.kept) == 1)
    ended = world.now
    world.lobby.withdrawn(ann.identity)
    world.run(lambda: len(world.store.kept) == 2)
    assert world.now - ended < 1.0
    first, second = world.store.kept.values()
    assert (first.match, first.void_cause, second.void_cause) == (playing.name, None, EndCause.VOID_SERVER.value)
    world.run(lambda: world.lobby.is_idle)


def test_a_server_that_drains_begins_no_match_of_a_board() -> None:
    world = World([ladder("rotation", seats=2)])
    crowd(world, 2, forgets=True)
    for bot in world.bots:
        bot.max_tables = 1
    world.run(lambda: world.lobby.tables == 1)
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and all(bot.done for bot in world.bots))
    assert sorted(str(result.void_cause) for result in world.store.kept.values()) == ["None", "void_server"]
    assert all(bot.done[0].ended is not None and not bot.done[0].ended.rated for bot in world.bots)


@pytest.mark.parametrize("seed", ["first", "second", "third"])
def test_a_store_that_fails_voids_the_board(seed: str) -> None:
    world = World([ladder("duplicate")], seed=seed)
    crowd(world, 4)
    world.run(lambda: world.lobby.tables >= 2)
    world.store.is_broken = True
    world.run(lambda: world.lobby.unstored > 0)
    world.store.is_broken = False
    world.run(lambda: any(result.is_void for result in world.store.kept.values()) and world.lobby.unstored == 0)
    (board, *_) = [result.deal.board for result in world.store.kept.values() if result.is_void]

    def told() -> list[Any]:
        return [played.ended for bot in world.bots for played in bot.done if played.started.board == board]

    world.run(lambda: len(told()) == 4)
    assert not any(ended.rated for ended in told() if ended is not None)


def test_what_was_dealt_is_told_to_a_bot_that_is_there_and_has_heard_of_the_end() -> None:
    told: list[bytes] = []

    class Stream:
        """A link that takes what is told."""

        open_board = staticmethod(told.append)
        ready = staticmethod(lambda: None)

    class Matches:
        """A lobby that hears of nothing."""

        changed = enter = leave = staticmethod(lambda session: None)

    about = Introduction(Identity("ann", "sneak", "1"), "", "", 0, 4, False, frozenset(), {}, forgets=True)
    session: Any = ServerSession("s", b"", about, Matches())  # type: ignore[arg-type]
    assert session.forgets
    seat: Any = type("Seat", (), {"number": 0, "connected": lambda self: None, "disconnected": lambda self: None})()
    session.sit(seat)
    session.begin(seat)
    session.opened(seat, b"one")
    assert told == []  # it has no stream: there is nobody to tell
    session.connect(Stream())
    session.opened(seat, b"two")
    assert told == []  # it comes with the end of the match, which is still to be told
    session.places[seat.number].happened(TableEvent.SEND_START)
    session.end_told(session.places[seat.number])
    session.opened(seat, b"three")
    session.end_heard([seat.number])
    session.opened(seat, b"four")
    assert told == [b"three", b"four"]


# -- nobody meets a deal twice with memory
LADDERS = ("plain", "rotation", "duplicate")


def evening(seed: int, boards: int) -> Iterator[MatchAnnouncement]:
    """What was dealt to a crowd of owners with several bots and versions each, of whom some forget."""
    world = World(
        [ladder(kind, seats) for kind, seats in zip(LADDERS, (2, 3, 2), strict=True)]
        + [Ladder("big", "toy", 3, {"rounds": "3"}, CONTROL, boards="duplicate")],
        seed=f"crowd {seed}",
    )
    for n in range(12):
        owner = HOUSE if n > 9 else f"owner{n % 7}"
        bot = BotThere(world, f"bot{n % 5}", 1 + n % 3, Manner(most_s=0.02), owner=owner, version=str(n))
        bot.is_forgetful = n % 4 == 0 or owner == HOUSE
        world.bots.append(bot)
        world.lobby.enter(bot)
    world.run(lambda: len({one.deal.board for one in world.store.announced.values()}) >= boards)
    yield from world.store.announced.values()
    forgetful = {bot.identity for bot in world.bots if bot.is_forgetful}
    yield from ()
    evening_forgets.update(forgetful)


evening_forgets: set[Identity] = set()


def met_twice(dealt: list[MatchAnnouncement], forgets: set[Identity]) -> list[str]:
    """Who, or whose owner, was dealt the same cards twice, and remembers."""
    seen: dict[bytes, list[Identity]] = {}
    for one in dealt:
        seen.setdefault(one.deal.seed, []).extend(one.players)
    wrong = []
    for sat in seen.values():
        remember = [identity for identity in sat if identity not in forgets]
        owners = Counter(identity.owner for identity in remember)
        wrong += [owner for owner, count in owners.items() if count > 1]
        wrong += [one.shown for one, count in Counter(sat).items() if count > 1 and one not in forgets]
    return wrong


@pytest.mark.full
def test_nobody_meets_a_deal_twice_with_memory() -> None:
    dealt = [one for seed in range(4) for one in evening(seed, 300)]
    kinds = Counter(one.board_matches for one in dealt)
    assert kinds[1] > 100
    assert kinds[2] > 100
    assert kinds[3] > 100
    assert len({one.deal.board for one in dealt}) >= 1_200
    assert met_twice(dealt, evening_forgets) == []


def test_who_meets_a_deal_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    true = deals.dealt_for_all
    monkeypatch.setattr(
        match_start, "dealt_for_all", lambda *about, **how: true(*about, **how)._replace(seed=bytes(32))
    )
    dealt = list(evening(1, 200))
    assert met_twice(dealt, evening_forgets) != []
