"""The rules of seasons: tables with ties, promotion and relegation, and when the matches of a season are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.queries import Ranking
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.seasons import SeasonBot
from cutpurse.server.ladder_config import Ladder, ladder_with_defaults
from cutpurse.server.parts.events.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.parts.events.season_rules import (
    can_fill_match,
    has_played_out,
    members_of,
    next_divisions,
    season_table,
    unknown_bots,
)

DAWN = datetime(2027, 1, 1, 6, 0, tzinfo=UTC)


def plan_of(*divisions: tuple[int, int], **changed: Any) -> SeasonPlan:
    """Return a plan with divisions of these sizes and numbers of bots that go down."""
    facts: dict[str, Any] = {
        "ladder": Ladder("cup", "greed", 2),
        "divisions": tuple(DivisionPlan(*division) for division in divisions),
        "matches": 10,
        "lasts_s": 0,
        "ends": None,
        "pause_s": 60,
        "seasons": 3,
        "away_s": 3_600,
        "final": FinalPlan(2, 3),
    }
    return SeasonPlan(**(facts | changed))


def bots_of(*divisions: str, left: str = "") -> list[SeasonBot]:
    """Return bots by division and place, one for each letter; those of `left` have left."""
    return [
        SeasonBot(name, name, number, seed, has_left=name in left)
        for number, names in enumerate(divisions, 1)
        for seed, name in enumerate(names, 1)
    ]


def after(plan: SeasonPlan, *divisions: str, left: str = "") -> list[str]:
    """Return the divisions of the next season, a letter for each bot."""
    return ["".join(bot for _, bot in members) for members in next_divisions(plan, bots_of(*divisions, left=left))]


def ranked(name: str, rating: float | None, matches: int = 20, place: int = 1, owner: str = "") -> Ranking:
    skill = Skill(25.0, 8.0)
    return Ranking(
        place, owner or name, name, "1", 7, rating, 0.0, 0.0, matches, 0, 0, (), False, 0, 0, 0, skill, None, False
    )


@pytest.mark.parametrize(
    ("sizes", "before", "left", "expected"),
    [
        (((3, 1), (3, 1), (0, 0)), ("abc", "def", "ghi"), "", ["abd", "ceg", "fhi"]),
        (((4, 2), (4, 2), (0, 0)), ("abcd", "efgh", "ijkl"), "", ["abef", "cdij", "ghkl"]),
        (((3, 1), (3, 1), (0, 0)), ("abc", "def", "g"), "", ["abd", "ceg", "f"]),
        (((3, 1), (3, 1), (0, 0)), ("abc", "def", ""), "", ["abd", "cef", ""]),
        (((3, 1), (1, 1), (0, 0)), ("abc", "d", "ef"), "", ["abd", "c", "ef"]),
        (((3, 2), (2, 1), (0, 0)), ("abc", "de", "fg"), "", ["ade", "bc", "fg"]),
        (((1, 1), (0, 0)), ("a", "bc"), "", ["a", "bc"]),
        (((3, 0), (0, 0)), ("abc", "def"), "", ["abc", "def"]),
        (((0, 0),), ("abc",), "b", ["ac"]),
    ],
)
def test_as_many_go_up_as_down_and_the_first_bot_of_all_stays(
    sizes: Sequence[tuple[int, int]], before: Sequence[str], left: str, expected: list[str]
) -> None:
    assert after(plan_of(*sizes), *before, left=left) == expected


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        ("a", ["bdc", "egf", "hi"]),  # c stays up: it is the best of those that would go down
        ("c", ["adb", "egf", "hi"]),
        ("d", ["abe", "cgf", "hi"]),
        ("ab", ["cde", "gfh", "i"]),
        ("abcdef", ["ghi", "", ""]),
        ("ghi", ["abd", "cef", ""]),
        ("abcdefghi", ["", "", ""]),
    ],
)
def test_the_places_of_bots_that_have_left_are_filled_from_below(left: str, expected: list[str]) -> None:
    assert after(plan_of((3, 1), (3, 1), (0, 0)), "abc", "def", "ghi", left=left) == expected


def test_a_first_season_in_the_lowest_division_fills_the_others() -> None:
    assert after(plan_of((2, 1), (2, 1), (0, 0)), "", "", "abcdefg") == ["ab", "cd", "efg"]


@pytest.mark.parametrize("count", range(8))
def test_no_bot_is_lost_or_doubled_and_no_division_is_too_large(count: int) -> None:
    plan = plan_of((4, 2), (3, 2), (2, 1), (0, 0))
    names = "abcdefghijklmnop"
    for second in range(4):
        divisions = (names[: min(count, 4)], names[4 : 4 + second], names[7:9], names[9 : 9 + count])
        for left in ("", "ae", "abcd", "hij"):
            new = after(plan, *divisions, left=left)
            assert sorted("".join(new)) == sorted(name for name in "".join(divisions) if name not in left)
            assert all(len(members) <= size for members, size in zip(new, (4, 3, 2), strict=False))


def test_ties_share_a_place_and_the_better_seed_comes_first() -> None:
    plan = plan_of((4, 1), (0, 0))
    ranking = [ranked("d", 9.0), ranked("c", 7.0), ranked("a", 7.0), ranked("house", 3.0, owner="house")]
    table = season_table(plan, bots_of("abcd", "xy"), [ranking, []])
    assert [(bot.bot, bot.place, bot.rating, bot.matches) for bot in table] == [
        ("d", 1, 9.0, 20),
        ("a", 2, 7.0, 20),
        ("c", 2, 7.0, 20),
        ("b", 4, None, 0),
        ("x", 1, None, 0),
        ("y", 1, None, 0),
    ]
    assert [bot.next_division for bot in table] == [1, 1, 1, 2, 1, 2]
    last = season_table(plan, table, [ranking, []], is_last=True)
    assert last == [replace(bot, next_division=None) for bot in table], "nobody goes anywhere after the last season"


def test_a_provisional_rating_comes_after_the_placed_ones_however_high_it_is() -> None:
    ranking = [ranked("b", 2.0), ranked("a", 30.0, matches=1, place=0)]
    table = season_table(plan_of((0, 0)), bots_of("ab"), [ranking])
    assert [(bot.bot, bot.place) for bot in table] == [("b", 1), ("a", 2)]


def test_a_bot_that_has_left_keeps_its_place_and_goes_nowhere() -> None:
    ranking = [ranked("a", 9.0), ranked("b", 8.0), ranked("c", 7.0)]
    table = season_table(plan_of((3, 1), (0, 0)), bots_of("abc", "d", left="a"), [ranking, []])
    assert [(bot.bot, bot.place, bot.next_division) for bot in table] == [
        ("a", 1, 0),
        ("b", 2, 1),
        ("c", 3, 1),
        ("d", 1, 1),
    ]


def test_matches_are_enough_when_each_bot_has_played_them_but_late_or_left_ones() -> None:
    plan = plan_of((2, 1), (0, 0))
    bots = bots_of("ab", "cd", left="")
    counts = {(name, name): 10 for name in "abc"}
    assert not has_played_out(plan, bots, counts)
    assert has_played_out(plan, bots, {**counts, ("d", "d"): 10})
    assert has_played_out(plan, [replace(bot, is_late=bot.bot == "d") for bot in bots], counts)
    assert not has_played_out(plan_of((2, 1), (0, 0), matches=0), bots, counts), "their number does not matter"
    assert not has_played_out(plan, [], {}), "nobody has come yet"
    assert not has_played_out(plan, bots_of("ab", "cd", left="abcd"), {}), "all are away"


def test_a_division_that_is_too_small_to_play_is_not_waited_for() -> None:
    owners = [SeasonBot(owner, "bot", 1, seed) for seed, owner in enumerate(("ann", "bob"))]
    same = [SeasonBot("ann", name, 2, seed) for seed, name in enumerate("xy")]
    plan = plan_of((2, 1), (0, 0))
    assert can_fill_match(plan, [bot.key for bot in owners])
    assert not can_fill_match(plan, [bot.key for bot in same]), "bots of one owner never meet"
    assert has_played_out(plan, [*owners, *same], {bot.key: 10 for bot in owners})
    housed = replace(plan, ladder=replace(plan.ladder, terms=LadderTerms(house=("random",))))
    assert can_fill_match(housed, [bot.key for bot in same])
    assert not can_fill_match(housed, [])
    assert not has_played_out(housed, [*owners, *same], {bot.key: 10 for bot in owners})


def test_a_division_admits_its_bots_and_the_lowest_newcomers() -> None:
    plan, bots = plan_of((2, 1), (0, 0)), bots_of("ab", "c")
    first, last = (members_of(plan, bots, division, is_waiting=True) for division in (1, 2))
    admitted = [(first.admits(name, name), last.admits(name, name)) for name in "abcd"]
    assert admitted == [(True, False), (True, False), (False, True), (False, True)]
    assert unknown_bots(bots, [[], [ranked("c", 1.0), ranked("d", 1.0), ranked("random", 1.0, owner="house")]]) == [
        ("d", "d")
    ]


def test_a_plan_is_read_as_it_was_written_and_its_hash_changes_with_it() -> None:
    terms = LadderTerms(owners=("ann",), is_private=True, house=("random",), results_hidden_until=DAWN)
    ladder = replace(ladder_with_defaults("cup", "greed", 3, {}, TimeControl()), terms=terms)
    plan = plan_of((3, 1), (0, 0), ladder=ladder, ends=DAWN + timedelta(days=2), seasons=1, lasts_s=90)
    assert SeasonPlan.from_text(plan.text) == plan
    assert SeasonPlan.from_text(plan.text).digest == plan.digest
    assert "names_hidden_until" not in plan.text  # so plans of older versions keep their hash
    nameless = replace(plan, ladder=replace(ladder, terms=replace(terms, names_hidden_until=DAWN)))
    assert (SeasonPlan.from_text(nameless.text), nameless.digest == plan.digest) == (nameless, False)
    for changed in ({"matches": 11}, {"away_s": 1}, {"final": None}, {"divisions": plan.divisions[:1]}):
        assert replace(plan, **changed).digest != plan.digest
    assert plan.ends_at(DAWN) == DAWN + timedelta(seconds=90)
    assert replace(plan, lasts_s=0).ends_at(DAWN) == DAWN + timedelta(days=2)
    assert plan_of((0, 0)).ends_at(DAWN) is None
    assert (plan.next_at(1, DAWN), plan_of((0, 0)).next_at(2, DAWN)) == (None, DAWN + timedelta(seconds=60))
    new = plan.season(2, DAWN, [[("ann", "a")], [("bob", "b")]])
    assert [one.name for one in new.ladders] == ["cup-1-s2", "cup-2-s2"]
    assert {one.terms.frozen for one in new.ladders} == {DAWN + timedelta(seconds=90)}
    assert [(bot.key, bot.division, bot.seed) for bot in new.bots] == [(("ann", "a"), 1, 1), (("bob", "b"), 2, 1)]
