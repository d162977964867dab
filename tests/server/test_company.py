"""Who plays with whom when ratings are known, when owners have many bots, after a restart, and with house bots."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from random import Random

import pytest

from cutpurse.engine.chance import Chance
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.results import Change, LadderTerms
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import ANCHOR, Pairing, Seating
from cutpurse.server.matches.opponents import MOST_WORDS, SLACK, choose_opponents
from cutpurse.server.matches.roster import LAG
from tests.server.test_pairing import Evening, Somebody, matches_of, spread

BETA = TrueSkill(draw_probability=0.02).beta
HOUSED = LadderTerms(house=("random", "greedy", "search"))


def knows(pairing: Pairing, ladder: str, bot: Somebody, mu: float, matches: int = 0) -> None:
    """What the store tells of a bot."""
    pairing.know(bot.identity, {ladder: (Skill(mu, 1.0), matches)})


def rated(bots: int, tables: int, seats: int, matches: int) -> tuple[dict[str, float], list[Seating], Evening]:
    """An evening of bots whose ratings lie far apart: normal, with twice beta."""
    evening = Evening(Ladder("it", "bag_o_loot", seats))
    random = Random(1)
    there = [Somebody(f"bot{at}", tables, owner=f"owner{at}") for at in range(bots)]
    evening.enter(*there)
    mus = {repr(one): 25.0 + 2 * BETA * random.gauss(0, 1) for one in there}
    for one in there:
        knows(evening.pairing, "it", one, mus[repr(one)])
    return mus, evening.play(matches), evening


def used(evening: Evening, tables: int) -> float:
    """Which share of so many tables was taken, all the time."""
    taken = sum(evening.lasts(seating) * len(seating.players) for _, seating in evening.started)
    return taken / (tables * evening.now)


@pytest.mark.parametrize(("bots", "tables", "seats"), [(64, 4, 4), (64, 1, 2), (24, 4, 4)])
def test_most_company_is_near_and_some_is_far(bots: int, tables: int, seats: int) -> None:
    mus, played, _ = rated(bots, tables, seats, 1_500)

    def shares(pairs: list[tuple[str, str]]) -> tuple[float, float]:
        away = [abs(mus[one] - mus[other]) / BETA for one, other in pairs]
        return sum(one <= 1 for one in away) / len(away), sum(one > 3 for one in away) / len(away)

    near, far = shares([pair for seating in played for pair in combinations(map(repr, seating.players), 2)])
    all_near, all_far = shares(list(combinations(mus, 2)))
    assert near > 1.3 * all_near  # 1.5 to 1.8 measured
    assert 0.05 < far < 0.8 * all_far
    assert len({repr(one) for seating in played for one in seating.players}) == bots


@pytest.mark.parametrize(("bots", "tables", "seats"), [(64, 4, 4), (64, 1, 4), (9, 4, 2), (30, 2, 8)])
def test_ratings_cost_nobody_matches_seats_or_time(bots: int, tables: int, seats: int) -> None:
    _, played, evening = rated(bots, tables, seats, 2_000)
    assert spread(matches_of(played)) <= 6
    for name in {repr(one) for seating in played for one in seating.players}:
        seat_of = [
            [repr(one) for one in seating.players].index(name)
            for seating in played
            if name in map(repr, seating.players)
        ]
        taken = Counter(seat_of)
        assert spread([taken[seat] for seat in range(seats)]) <= 2
    assert used(evening, bots * tables) > 0.85


def test_at_every_moment_nobody_is_further_behind_than_company_may_cost() -> None:
    evening = Evening(Ladder("it", "greed", 4))
    there = [Somebody(f"bot{at}", 1_000, owner=f"owner{at}") for at in range(13)]
    evening.enter(*there)
    for at, one in enumerate(there):
        knows(evening.pairing, "it", one, 25.0 + 3 * at)
    evening.play(1_000)
    counts = Counter({repr(one): 0 for one in there})
    for _, seating in evening.started:
        counts.update(repr(one) for one in seating.players)
        assert spread(counts) <= SLACK + 1


def test_of_two_owners_with_thirty_bots_each_every_table_is_taken() -> None:
    evening = Evening(Ladder("two", "greed", 2))
    evening.enter(*(Somebody(f"{owner}{at}", 4, owner=owner) for at in range(30) for owner in ("ann", "bob")))
    for seating in evening.play(2_000):
        assert {one.identity.owner for one in seating.players} == {"ann", "bob"}
    assert used(evening, 60 * 4) > 0.9
    assert spread(matches_of([seating for _, seating in evening.started])) <= LAG


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_one_owner_with_many_bots_takes_nobody_elses_matches(seats: int) -> None:
    evening = Evening(Ladder("it", "greed", seats))
    few = [Somebody(f"only{at}", 4, owner=f"owner{at}") for at in range(6)]
    many = [Somebody(f"bot{at}", 4, owner="many") for at in range(30)]
    evening.enter(*few, *many)
    for seating in evening.play(1_500):
        assert len({one.identity.owner for one in seating.players}) == seats
    counts = Counter(one.identity for _, seating in evening.started for one in seating.players)
    assert used(evening, 6 * 4) * 4 > 0.8  # in any case the six are never without a match for long
    assert min(counts[one.identity] for one in few) >= max(counts[one.identity] for one in many)
    assert spread([counts[one.identity] for one in few]) <= 4
    assert spread([counts[one.identity] for one in many]) <= 4
    taken = sum(evening.lasts(seating) for _, seating in evening.started for one in seating.players if one in few)
    assert taken / (6 * 4 * evening.now) > 0.85


# -- what the store tells
def test_after_a_restart_whoever_has_played_least_is_next() -> None:
    evening = Evening(Ladder("it", "greed", 2))
    there = [Somebody(f"bot{at}", 1_000, owner=f"owner{at}") for at in range(4)]
    evening.enter(*there)
    for one, matches in zip(there, (500, 497, 503, 500), strict=True):
        knows(evening.pairing, "it", one, 25.0, matches)
    counts = Counter({repr(there[0]): 500, repr(there[1]): 497, repr(there[2]): 503, repr(there[3]): 500})
    counts.update(matches_of(evening.play(12)[:12]))
    assert spread(counts) <= 1


def test_a_newcomer_does_not_make_up_for_what_others_have_played() -> None:
    evening = Evening(Ladder("it", "greed", 2))
    old = [Somebody(f"old{at}", 2, owner=f"owner{at}") for at in range(4)]
    evening.enter(*old)
    for one in old:
        knows(evening.pairing, "it", one, 25.0, 800)
    new = [Somebody(f"new{at}", 2, owner=f"other{at}") for at in range(4)]
    evening.enter(*new)
    for one in new:
        knows(evening.pairing, "it", one, 25.0, 0)
    counts = matches_of(evening.play(200))
    assert spread(counts) <= LAG


def test_who_has_played_much_more_does_not_wait_for_all_newcomers() -> None:
    evening = Evening(Ladder("it", "greed", 2))
    new = [Somebody(f"new{at}", 2, owner=f"other{at}") for at in range(5)]
    evening.enter(*new)
    veteran = Somebody("veteran", 2, owner="ann")
    evening.enter(veteran)
    knows(evening.pairing, "it", veteran, 25.0, 800)
    counts = matches_of(evening.play(200))
    assert counts["veteran"] >= min(counts.values()) >= max(counts.values()) - 2 * LAG


def test_what_a_match_has_changed_is_looked_at_in_the_next() -> None:
    evening = Evening(Ladder("it", "greed", 2), seed="changed")
    there = [Somebody(f"bot{at}", 1_000, owner=f"owner{at}") for at in range(8)]
    evening.enter(*there)
    for at, one in enumerate(there):
        evening.pairing.rated("it", [Change(one.identity, Skill(25.0, 8.0), Skill(100.0 if at % 2 else 0.0, 1.0))])
    met = [abs(there.index(a) % 2 - there.index(b) % 2) for a, b in (s.players for s in evening.play(400))]  # type: ignore[arg-type]
    assert sum(met) < 0.35 * 400  # of all pairs 57 % are of the others


# -- house bots
def house(*names: str, tables: int = 8) -> list[Somebody]:
    return [Somebody(name, tables, owner=HOUSE) for name in names]


def owners(seating: Seating) -> list[str]:
    return [one.identity.owner for one in seating.players]


def test_house_bots_fill_the_seats_that_nobody_else_takes_after_a_while() -> None:
    evening = Evening(Ladder("it", "greed", 4, terms=HOUSED))
    ann = Somebody("sneak", 1, owner="ann")
    evening.enter(*house("random", "greedy", "search"), ann)
    assert evening.pairing.next(0.0) is None
    due = evening.pairing.next_event_at()
    assert due is not None
    assert 0.0 < due <= 1.0
    seating = evening.pairing.next(due)
    assert seating is not None
    assert sorted(owners(seating)) == ["ann", HOUSE, HOUSE, HOUSE]
    assert "ann/sneak:1 had fewest matches (0)" in seating.reason
    assert seating.reason.count("filled a seat") == 3


def test_house_bots_leave_seats_to_others_where_there_are_enough() -> None:
    evening = Evening(Ladder("it", "greed", 4, terms=HOUSED))
    evening.enter(*house("random", "greedy"), *(Somebody(f"bot{at}", 4, owner=f"owner{at}") for at in range(12)))
    played = evening.play(800)
    with_house = [at for at, seating in enumerate(played) if HOUSE in owners(seating)]
    # One in sixteen is theirs; for a handful of others too few were free at the moment.
    assert 800 / ANCHOR - 2 <= len(with_house) <= 800 / ANCHOR * 1.5
    assert max(later - earlier for earlier, later in pairwise(with_house)) <= ANCHOR
    assert all(owners(played[at]).count(HOUSE) < 4 for at in with_house)
    counts = Counter(one.identity.bot for seating in played for one in seating.players)
    assert abs(counts["random"] - counts["greedy"]) <= 2


def test_house_bots_never_play_among_themselves() -> None:
    pairing = Pairing([Ladder("it", "greed", 2, terms=HOUSED)], Chance(bytes(32)))
    for one in house("random", "greedy", "search"):
        pairing.enter(one)
    assert [pairing.next(at) for at in (0.0, 10.0, 100.0)] == [None] * 3
    assert pairing.next_event_at() is None


def test_two_versions_of_a_house_bot_do_not_sit_at_one_table() -> None:
    evening = Evening(Ladder("it", "greed", 4, terms=HOUSED))
    evening.enter(Somebody("sneak", 1, owner="ann"), *house("random"))
    evening.enter(Somebody("random", 8, owner=HOUSE, version="2"), Somebody("random", 8, owner=HOUSE, version="3"))
    assert evening.pairing.next(0.0) is None
    assert evening.pairing.next_event_at() is None


def test_a_house_bot_plays_where_the_terms_name_it() -> None:
    pairing = Pairing([Ladder("it", "greed", 2), Ladder("housed", "greed", 2, terms=HOUSED)], Chance(bytes(32)))
    (greedy,) = house("greedy")
    pairing.enter(greedy)
    assert pairing.ladders_of(greedy) == ("housed",)
    other = Somebody("else", 8, owner=HOUSE)
    pairing.enter(other)
    assert pairing.ladders_of(other) == ()


def test_a_bot_alone_is_kept_busy_and_its_seats_are_balanced() -> None:
    evening = Evening(Ladder("it", "greed", 3, terms=HOUSED))
    ann = Somebody("sneak", 4, owner="ann")
    evening.enter(ann, *house("random", "greedy"))
    played = evening.play(300)
    assert all(sorted(owners(seating)) == ["ann", HOUSE, HOUSE] for seating in played)
    taken = Counter(seating.players.index(ann) for seating in played)
    assert spread([taken[seat] for seat in range(3)]) <= 1
    assert used(evening, 4) / 3 > 0.8  # a quarter of a second is waited, in which others might come


# -- why
def test_a_reason_is_told_in_plain_words() -> None:
    evening = Evening(Ladder("it", "greed", 3))
    ann, bob, cid = (Somebody(name, 1, owner=f"{name}s") for name in ("ann", "bob", "cid"))
    evening.enter(ann, bob, cid)
    for one, mu, matches in ((ann, 25.0, 2), (bob, 25.0 + 0.4 * BETA, 3), (cid, 25.0 - 3.1 * BETA, 4)):
        knows(evening.pairing, "it", one, mu, matches)
    seating = evening.pairing.next(0.0)
    assert seating is not None
    first, _, company = seating.reason.partition("; ")
    assert first == "anns/ann:1 had fewest matches (2)"
    assert set(company.split(", ")) == {"bobs/bob:1 near (0.4 beta)", "cids/cid:1 far (3.1 beta)"}


def test_a_reason_is_never_too_long_to_be_kept() -> None:
    evening = Evening(Ladder("it", "bag_o_loot", 8))
    evening.enter(*(Somebody("b" * 31 + str(at), 1, owner="o" * 31 + str(at), version="v" * 32) for at in range(8)))
    seating = evening.pairing.next(0.0)
    assert seating is not None
    assert len(seating.reason) == MOST_WORDS


def test_too_few_different_bots_are_no_company() -> None:
    assert choose_opponents([], 2, BETA, Chance(bytes(32))) is None


def test_in_a_game_of_much_luck_company_is_near_beside_the_others_all_the_same() -> None:
    lucky = TrueSkill(draw_probability=0.02, beta=100.0)
    evening = Evening(Ladder("it", "bag_o_loot", 4, rating=lucky))
    there = [Somebody(f"bot{at}", 4, owner=f"owner{at}") for at in range(64)]
    evening.enter(*there)
    for at, one in enumerate(there):
        knows(evening.pairing, "it", one, 25.0 + at / 8)  # all of them within a twelfth of beta
    number = {one.identity: at for at, one in enumerate(there)}
    apart = [
        abs(number[one.identity] - number[other.identity])
        for seating in evening.play(1_500)
        for one, other in combinations(seating.players, 2)
    ]
    assert sum(one <= 16 for one in apart) > 0.55 * len(apart)  # of all pairs 44 %
    assert sum(one > 32 for one in apart) > 0.08 * len(apart)  # of all pairs 25 %
