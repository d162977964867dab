"""Who plays whom, where and on which ladder: that it is fair, that chance has its part, that nobody is starved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from heapq import heappop, heappush
from itertools import combinations, pairwise, permutations
from random import Random

import pytest

from cutpurse.engine.chance import Chance
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import PairableBot, Pairing, Seating
from cutpurse.server.matches.requests import Requests


class Somebody:
    """A bot that is there, for pairing."""

    def __init__(
        self,
        name: str,
        tables: int = 4,
        ladders: tuple[str, ...] = (),
        version: str = "1",
        owner: str = "local",
        forgets: bool = False,
    ) -> None:
        self.forgets = forgets
        self.identity = Identity(owner, name, version)
        self.max_tables = tables
        self.sits_at = 0
        self.declines_requests = False
        self.ladders = ladders

    @property
    def free_tables(self) -> int:
        return self.max_tables - self.sits_at

    def plays(self, game: str, ladder: str) -> bool:
        return not self.ladders or ladder in self.ladders

    def __repr__(self) -> str:
        return self.identity.bot


class Evening:
    """Matches are started as soon as they can be and last as long as `lasts` says."""

    def __init__(
        self, *ladders: Ladder, seed: str = "evening", lasts: Callable[[Seating], float] | None = None
    ) -> None:
        self.pairing = Pairing(ladders, Chance(sha256(seed.encode()).digest()))
        random = Random(seed)
        self.lasts = lasts or (lambda seating: random.uniform(1.0, 2.0))
        self.now = 0.0
        self.started: list[tuple[float, Seating]] = []
        self._open: list[tuple[float, int, float, Seating]] = []

    def enter(self, *somebody: Somebody) -> None:
        for one in somebody:
            self.pairing.enter(one)

    def start(self) -> None:
        """Whatever can be started now."""
        while (seating := self.pairing.next(self.now)) is not None:
            names = [one.identity.bot for one in seating.players]
            assert len(set(names)) == len(names) == seating.ladder.seats
            self.started.append((self.now, seating))
            heappush(self._open, (self.now + self.lasts(seating), len(self.started), self.now, seating))
            for one in seating.players:
                assert isinstance(one, Somebody)
                assert one.free_tables > 0
                assert one.plays(seating.ladder.game, seating.ladder.name)
                one.sits_at += 1
                self.pairing.changed(one)

    def step(self) -> None:
        """Start what can be, and go on to the next moment at which something changes."""
        self.start()
        due = self.pairing.next_event_at()
        assert due is None or due > self.now
        if self._open and (due is None or self._open[0][0] <= due):
            self.now, _, began, seating = heappop(self._open)
            self.pairing.ended(seating, self.now - began, is_void=False)
            for one in seating.players:
                assert isinstance(one, Somebody)
                one.sits_at -= 1
                self.pairing.changed(one)
        else:
            assert due is not None, "nobody plays, and nothing will change that"
            self.now = due

    def play(self, matches: int) -> list[Seating]:
        """Until so many matches were started in all; those."""
        while len(self.started) < matches:
            self.step()
        return [seating for _, seating in self.started]


def matches_of(played: list[Seating]) -> Counter[str]:
    return Counter(one.identity.bot for seating in played for one in seating.players)


def spread(counts: Counter[str] | list[int]) -> int:
    values = list(counts.values()) if isinstance(counts, Counter) else counts
    return max(values) - min(values)


def neighbours_of(seats: Sequence[PairableBot]) -> list[tuple[PairableBot, PairableBot]]:
    """Return each bot with the one on the next seat."""
    return [(seats[seat - 1], bot) for seat, bot in enumerate(seats)]


SHAPES = [(bots, seats) for bots, seats in [(2, 2), (3, 2), (5, 4), (6, 4), (7, 3), (11, 4), (9, 8), (13, 5)]]


@pytest.mark.parametrize(("bots", "seats"), SHAPES)
def test_equal_bots_play_equally_often_at_every_moment(bots: int, seats: int) -> None:
    evening = Evening(Ladder("it", "bag_o_loot", seats))
    there = [Somebody(f"bot{at}", tables=1_000) for at in range(bots)]
    evening.enter(*there)
    evening.play(1_000)
    counts = Counter({repr(one): 0 for one in there})
    for _, seating in evening.started:
        counts.update(repr(one) for one in seating.players)
        assert spread(counts) <= 1  # the best possible


@pytest.mark.parametrize(("bots", "seats"), SHAPES)
def test_equal_bots_with_few_tables_play_nearly_equally_often(bots: int, seats: int) -> None:
    evening = Evening(Ladder("it", "bag_o_loot", seats))
    evening.enter(*(Somebody(f"bot{at}", tables=3) for at in range(bots)))
    played = evening.play(1_000)
    # A bot at three tables cannot be paired, though it has played least.
    assert spread(matches_of(played)) <= 4


@pytest.mark.parametrize(("bots", "seats"), SHAPES)
@pytest.mark.parametrize("tables", [1, 4, 1_000])
def test_everybody_takes_each_seat_equally_often(bots: int, seats: int, tables: int) -> None:
    evening = Evening(Ladder("it", "bag_o_loot", seats))
    there = [Somebody(f"bot{at}", tables) for at in range(bots)]
    evening.enter(*there)
    played = evening.play(1_000)
    for one in there:
        taken = Counter(seating.players.index(one) for seating in played if one in seating.players)
        assert spread([taken[seat] for seat in range(seats)]) <= 2


@pytest.mark.parametrize(("bots", "seats"), SHAPES)
def test_everybody_sits_left_of_everybody_they_meet_equally_often(bots: int, seats: int) -> None:
    evening = Evening(Ladder("it", "bag_o_loot", seats))
    evening.enter(*(Somebody(f"bot{at}", 4) for at in range(bots)))
    met: Counter[tuple[PairableBot, PairableBot]] = Counter()
    left: Counter[tuple[PairableBot, PairableBot]] = Counter()
    for seating in evening.play(1_000):
        met.update(permutations(seating.players, 2))
        left.update(neighbours_of(seating.players))
    assert max(abs(left[pair] - met[pair] / (seats - 1)) for pair in met) <= 4


def test_beside_house_bots_the_others_sit_equally_often() -> None:
    """A house bot sits where it is sent, and a bot left of it gains or loses as it would left of any other."""
    house = ("random", "greedy", "search")
    evening = Evening(Ladder("it", "greed", 4, terms=LadderTerms(house=house)))
    there = [Somebody("ann"), *(Somebody(name, owner=HOUSE) for name in house)]
    evening.enter(*there)
    left = Counter(pair for seating in evening.play(300) for pair in neighbours_of(seating.players))
    counts = [left[pair] for other in there[1:] for pair in ((there[0], other), (other, there[0]))]
    assert sum(counts) == 600
    assert spread(counts) <= 3


def test_on_a_rotation_neighbours_change_within_a_board_and_from_board_to_board() -> None:
    evening = Evening(Ladder("it", "greed", 4, boards="rotation"))
    evening.enter(*(Somebody(f"bot{at}", forgets=True) for at in range(4)))
    left: Counter[tuple[PairableBot, PairableBot]] = Counter()
    for seating in evening.play(30):
        for seats in (*seating.tables, *zip(*seating.tables, strict=True)):
            assert set(seats) == set(seating.players)  # everybody once in each match, and once in each seat
        board = Counter(pair for table in seating.tables for pair in neighbours_of(table))
        assert len(board) == 12  # everybody sits left of everybody
        left += board
        assert max(left.values()) - min(left.values()) <= 3


@pytest.mark.parametrize("tables", [1, 2, 4, 64])
def test_everybody_meets_everybody(tables: int) -> None:
    evening = Evening(Ladder("it", "greed", 4))
    evening.enter(*(Somebody(f"bot{at}", tables) for at in range(8)))
    met = Counter(
        pair for seating in evening.play(1_000) for pair in combinations(sorted(map(repr, seating.players)), 2)
    )
    assert len(met) == 28
    share = 1_000 * 6 / 28
    assert min(met.values()) >= share * (0.35 if tables == 1 else 0.6)  # two tables of four are a hard case


def test_two_versions_of_a_bot_never_sit_at_one_table() -> None:
    evening = Evening(Ladder("it", "greed", 3))
    evening.enter(*(Somebody(name, version=version) for name in ("ann", "bob", "cid") for version in ("1", "2", "3")))
    for seating in evening.play(300):
        assert {one.identity.bot for one in seating.players} == {"ann", "bob", "cid"}
    versions = Counter(one.identity for _, seating in evening.started for one in seating.players)
    assert len(versions) == 9
    assert max(versions.values()) - min(versions.values()) <= 3


def test_bots_of_one_owner_never_sit_at_one_table() -> None:
    evening = Evening(Ladder("greed", "greed", 3))
    owners = ["ann"] * 3 + ["bob"] * 2 + ["cid", "dan"]
    evening.enter(*(Somebody(f"bot{number}", owner=owner) for number, owner in enumerate(owners)))
    met = [[one.identity.owner for one in seating.players] for seating in evening.play(300)]
    assert len(met) == 300
    assert all(len(set(owners)) == 3 for owners in met)
    played = Counter(one.identity.bot for _, seating in evening.started for one in seating.players)
    assert len(played) == 7  # every bot of an owner gets its matches


def test_nobody_plays_where_all_bots_are_of_one_owner() -> None:
    evening = Evening(Ladder("greed", "greed", 2))
    evening.enter(*(Somebody(f"bot{number}", owner="ann") for number in range(5)))
    assert evening.pairing.next(0.0) is None
    evening.enter(Somebody("bot0", owner="bob"))  # of the same name, and no relation
    seating = evening.pairing.next(0.0)
    assert seating is not None
    assert {one.identity.owner for one in seating.players} == {"ann", "bob"}


def test_nobody_plays_where_too_few_different_bots_are() -> None:
    evening = Evening(Ladder("it", "greed", 3))
    evening.enter(Somebody("ann"), Somebody("bob"), Somebody("bob", version="2"))
    assert evening.pairing.next(0.0) is None
    assert evening.pairing.next_event_at() is None


@pytest.mark.parametrize("tables", [1, 4, 100])
def test_everybody_plays_every_ladder_equally_often(tables: int) -> None:
    evening = Evening(*(Ladder(name, "greed", seats) for name, seats in (("two", 2), ("three", 3), ("five", 5))))
    there = [Somebody(f"bot{at}", tables) for at in range(7)]
    evening.enter(*there)
    played = evening.play(1_000)
    for one in there:
        counts = Counter(seating.ladder.name for seating in played if one in seating.players)
        assert len(counts) == 3
        assert spread(counts) <= counts.total() / 3 * 0.2


@pytest.mark.parametrize("tables", [1, 4, 100])
def test_ladders_with_the_same_seats_have_equally_many_matches(tables: int) -> None:
    evening = Evening(*(Ladder(f"ladder{at}", "greed", 4) for at in range(5)))
    evening.enter(*(Somebody(f"bot{at}", tables) for at in range(6)))
    counts = Counter(seating.ladder.name for seating in evening.play(1_000))
    assert len(counts) == 5
    assert spread(counts) <= 20


@pytest.mark.parametrize(("bots", "tables"), [(4, 1), (4, 7), (6, 1)])
def test_ladders_with_the_same_seats_take_turns_from_the_first_match_on(bots: int, tables: int) -> None:
    evening = Evening(*(Ladder(f"ladder{at}", "greed", 4) for at in range(5)))
    evening.enter(*(Somebody(f"bot{at}", tables) for at in range(bots)))
    counts = Counter({f"ladder{at}": 0 for at in range(5)})
    for seating in evening.play(300):
        counts[seating.ladder.name] += 1
        assert spread(counts) <= 1


def test_a_ladder_for_many_is_not_starved_by_one_for_two() -> None:
    evening = Evening(Ladder("two", "greed", 2), Ladder("five", "greed", 5))
    evening.enter(*(Somebody(f"bot{at}", tables=1) for at in range(6)))
    at = [place for place, seating in enumerate(evening.play(1_000)) if seating.ladder.name == "five"]
    assert len(at) > 50
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert max(gaps) <= 20


def test_a_bot_that_plays_one_ladder_only_is_not_starved_by_bots_that_play_all() -> None:
    evening = Evening(*(Ladder(f"ladder{at}", "greed", 4) for at in range(5)))
    picky = Somebody("picky", tables=1, ladders=("ladder3",))
    evening.enter(picky, *(Somebody(f"bot{at}", tables=1) for at in range(5)))
    played = evening.play(1_000)
    assert sum(picky in seating.players for seating in played) >= 100
    moments = [at for at, seating in enumerate(played) if picky in seating.players]
    assert max(later - earlier for earlier, later in pairwise(moments)) <= 30


def test_a_bot_with_one_table_is_not_starved_by_bots_with_many() -> None:
    evening = Evening(Ladder("it", "greed", 4))
    small = Somebody("small", tables=1)
    evening.enter(small, *(Somebody(f"bot{at}", tables=64) for at in range(5)))
    evening.play(1_000)
    mine = [(at, seating) for at, seating in evening.started if small in seating.players]
    waits = [later[0] - earlier[0] for earlier, later in pairwise(mine)]
    assert len(mine) >= 5
    assert max(waits) <= 2.0 + 0.2  # a match lasts two seconds at most: it is seated again as soon as it rises


def test_a_crowd_of_newcomers_does_not_starve_who_was_there() -> None:
    evening = Evening(Ladder("it", "greed", 4))
    old = [Somebody(f"old{at}", tables=1) for at in range(3)]
    evening.enter(*old, Somebody("old3", tables=1))
    evening.play(500)
    evening.enter(*(Somebody(f"new{at}", tables=1) for at in range(5)))
    since = matches_of(evening.play(700)[500:])
    assert min(since[repr(one)] for one in old) >= 0.6 * 200 * 4 / 9


def test_who_stayed_away_does_not_make_up_for_it() -> None:
    evening = Evening(Ladder("it", "greed", 2))
    tired = [Somebody(f"tired{at}", tables=2) for at in range(2)]
    evening.enter(*tired, *(Somebody(f"bot{at}", tables=2) for at in range(3)))
    evening.play(20)
    for one in tired:
        one.max_tables = 0
        evening.pairing.changed(one)
    evening.play(500)
    for one in tired:
        one.max_tables = 2
        evening.pairing.changed(one)
    counts = matches_of(evening.play(700)[500:])
    assert min(counts[f"bot{at}"] for at in range(3)) >= 0.6 * 200 * 2 / 5


def test_bots_come_and_go() -> None:
    evening = Evening(Ladder("two", "greed", 2), Ladder("four", "greed", 4))
    random = Random(1)
    away = [Somebody(f"bot{at}", tables=random.randint(1, 5)) for at in range(12)]
    there: list[Somebody] = []
    for _ in range(400):
        while len(there) < 6 or (away and random.random() < 0.5):
            one = away.pop(random.randrange(len(away)))
            there.append(one)
            evening.enter(one)
        before = len(evening.started)
        evening.play(before + random.randint(1, 5))
        assert all(one in there for _, seating in evening.started[before:] for one in seating.players)
        if len(there) > 6:
            one = there.pop(random.randrange(len(there)))
            evening.pairing.leave(one)
            away.append(one)
    assert len(matches_of([seating for _, seating in evening.started])) == 12


def test_who_comes_back_before_its_matches_are_over_is_counted_once() -> None:
    evening = Evening(Ladder("it", "greed", 2))
    ann, bob = Somebody("ann", tables=2), Somebody("bob", tables=2)
    evening.enter(ann, bob)
    evening.start()
    for _ in range(20):
        evening.pairing.leave(ann)
        assert evening.pairing.next(evening.now) is None
        evening.enter(ann, ann)
        evening.play(len(evening.started) + 3)
    assert len(evening.started) >= 60
    assert ann.free_tables >= 0


def test_a_complete_ladder_is_played_no_more_and_a_void_match_does_not_count() -> None:
    pairing = Pairing([Ladder("it", "greed", 2, matches_wanted=2)], Chance(bytes(32)))
    for name in ("ann", "bob"):
        pairing.enter(Somebody(name))
    first, second = pairing.next(0.0), pairing.next(0.0)
    assert first is not None
    assert second is not None
    assert [pairing.is_complete, pairing.next(0.0)] == [True, None]
    pairing.ended(first, 1.0, is_void=True)
    assert pairing.next(0.0) is not None
    assert [pairing.is_complete, pairing.next(0.0)] == [True, None]


def test_a_ladder_that_is_postponed_is_played_again_later() -> None:
    ladder = Ladder("it", "greed", 2)
    pairing = Pairing([ladder], Chance(bytes(32)))
    for name in ("ann", "bob"):
        pairing.enter(Somebody(name))
    pairing.postpone(ladder, 5.0)
    assert pairing.next(4.9) is None
    assert pairing.next_event_at() == 5.0
    assert pairing.next(5.0) is not None
    assert pairing.next_event_at() is None


def test_of_several_ladders_that_wait_the_first_is_told() -> None:
    ladders = [Ladder("it", "greed", 2), Ladder("she", "greed", 2), Ladder("he", "greed", 2)]
    pairing = Pairing(ladders, Chance(bytes(32)))
    for ladder, until in zip(ladders, (5.0, 3.0, 4.0), strict=True):
        pairing.postpone(ladder, until)
    assert pairing.next_event_at() == 3.0


@pytest.mark.parametrize(("bots", "free"), [(40, 4), (96, 6), (128, 8), (256, 8)])
def test_the_more_play_the_more_are_waited_for_to_choose_from_up_to_four_a_seat(bots: int, free: int) -> None:
    """As many as a sixteenth of the seats that are taken, and more than one match needs; two come free with each."""
    evening = Evening(Ladder("it", "greed", 2), lasts=lambda _: 100.0)
    evening.enter(*[Somebody(f"bot{number}", tables=1) for number in range(bots)])
    evening.start()
    assert len(evening.started) == bots // 2
    for _, seating in evening.started[: free // 2]:
        assert evening.pairing.next(100.0) is None
        evening.pairing.ended(seating, 100.0, is_void=False)
        for one in seating.players:
            assert isinstance(one, Somebody)
            one.sits_at -= 1
            evening.pairing.changed(one)
    assert evening.pairing.next(100.0) is not None


def test_chance_decides_between_equals() -> None:
    first = set()
    for seed in range(40):
        pairing = Pairing([Ladder("it", "greed", 2)], Chance(bytes([seed]) * 32))
        for name in ("ann", "bob", "cid"):
            pairing.enter(Somebody(name))
        seating = pairing.next(0.0)
        assert seating is not None
        first.add(tuple(map(repr, seating.players)))
    assert len(first) == 6


def test_ladders_have_different_names() -> None:
    with pytest.raises(ValueError, match="two ladders have the same name: it, it"):
        Pairing([Ladder("it", "greed", 2), Ladder("it", "szmal", 2)], Chance(bytes(32)))


class Placed(Somebody):
    """One who lies at this place in a set, as others do by where they happen to lie in memory."""

    def __init__(self, name: str, place: int) -> None:
        super().__init__(name, tables=1)
        self._place = place

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return self._place


@pytest.mark.parametrize("is_asked_for", [False, True])
def test_where_bots_lie_in_memory_does_not_matter(is_asked_for: bool) -> None:
    paired = set()
    for places in permutations(range(4)):
        bots = [Placed(name, place) for name, place in zip(("ann", "bob", "cid", "dan"), places, strict=True)]
        pairing = Pairing([Ladder("it", "greed", 2)], Chance(bytes(32)))
        requests = Requests()
        for bot in bots:
            pairing.enter(bot)
        requests.next({}, 0.0, bots if is_asked_for else ())
        pairing.keep(requests.reserved if is_asked_for else bots)
        assert pairing.next(0.0) is None, "all are kept for somebody else"
        pairing.keep(())
        seating = pairing.next(0.0)
        assert seating is not None
        paired.add(tuple(map(repr, seating.players)))
    assert len(paired) == 1


def test_a_match_is_sought_when_somebody_is_free_who_was_not() -> None:
    """And not whenever the number of its free tables is another: most of these can make no match possible."""
    pairing = Pairing([Ladder("it", "greed", 2)], Chance(sha256(b"free").digest()))
    ann, bob = Somebody("ann", tables=2), Somebody("bob")
    assert not pairing.changed(ann), "she is not there"
    pairing.enter(bob)
    pairing.enter(ann)
    for sits_at, is_sought in ((1, False), (0, False), (2, False), (2, False), (1, True), (0, False)):
        ann.sits_at = sits_at
        assert pairing.changed(ann) is is_sought
    pairing.keep([ann])  # for a match that was asked for
    ann.sits_at = 1
    assert pairing.changed(ann), "the table that is kept is free"
    ann.sits_at = 2
    assert not pairing.changed(ann)


def test_no_match_is_sought_while_fewer_are_free_than_any_has_seats() -> None:
    housed = Ladder("housed", "greed", 3, terms=LadderTerms(house=("random",)))
    pairing = Pairing([Ladder("it", "greed", 4), housed], Chance(sha256(b"few").digest()))
    ann, bob, cid = bots = [Somebody(name, tables=1) for name in ("ann", "bob", "cid")]
    for bot in bots:
        bot.sits_at = 1
        pairing.enter(bot)
    for bot, is_sought in ((ann, False), (bob, False), (cid, True)):
        bot.sits_at = 0
        assert pairing.changed(bot) is is_sought
    pairing.enter(Somebody("random", owner=HOUSE))  # it takes the seats that are left
    for bot in bots:
        bot.sits_at = 1
        assert not pairing.changed(bot)
    ann.sits_at = 0
    assert pairing.changed(ann)


def test_another_bot_is_waited_for_anew_once_too_few_were_free() -> None:
    """Five are there, and four rise from a table: it is waited for the fifth, a tenth of what a match lasts."""
    pairing = Pairing([Ladder("it", "greed", 4)], Chance(sha256(b"anew").digest()))
    bots = [Somebody(name, tables=1) for name in "abcde"]

    def sit(sits_at: int, *some: Somebody) -> list[bool]:
        for bot in some:
            bot.sits_at = sits_at
        return [pairing.changed(bot) for bot in some]

    for bot in bots:
        pairing.enter(bot)
    seating = pairing.next(0.0)
    assert seating is not None
    (fifth,) = [bot for bot in bots if bot not in seating.players]
    four = [bot for bot in bots if bot is not fifth]
    sit(1, *bots)
    pairing.sat([fifth])
    pairing.ended(seating, 10.0, is_void=False)
    assert sit(0, *four) == [False, False, False, True]
    assert pairing.next(100.0) is None
    assert pairing.next_event_at() == 101.0
    sit(1, *four[:2])
    assert sit(0, four[0]) == [False]
    assert pairing.next_event_at() is None
    assert sit(0, four[1]) == [True]
    assert pairing.next(100.9) is None
    assert pairing.next(101.8) is None
    assert pairing.next(101.9) is not None
