"""Awards: they are what the records say, move by move, in every game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cutpurse.engine.match import EndCause
from cutpurse.engine.record import Record, replay
from cutpurse.engine.text import option_text
from cutpurse.games import game_named
from cutpurse.games.awards import MIN_ANSWERS, Award, AwardKind, Awards, AwardUnit, SeenMatch
from cutpurse.sdk.matches.match_file import read_matches
from tests.server.awarded_matches import record_line

BOTS = ("ann/a:1", "bob/b:1", "cid/c:1")
GAMES = ("greed", "szmal", "bag_o_loot", "stolen_treasure", "steal_and_plunder")


def record_of(game: str, seed: int = 3) -> Record:
    return next(read_matches(record_line(game, 3, seed).encode())).record()


def awards_of(*matches: SeenMatch) -> dict[AwardKind, Award]:
    awards = Awards()
    for match in matches:
        awards.add(match)
    return {award.kind: award for award in awards.best()}


def words_of(record: Record) -> list[str]:
    """The text of each choice."""
    return [option_text(match.game, chosen.option) for match, _, chosen in replay(record, game_named(record.game))]


@pytest.mark.parametrize(
    ("game", "verbs", "value", "unit"),
    [
        ("greed", ("take",), 1, AwardUnit.CARDS),
        ("szmal", ("",), 10_000, AwardUnit.MONEY),
        ("bag_o_loot", ("take bag",), 5, AwardUnit.CARDS),
        ("steal_and_plunder", ("attack the open pack", "play Plunder"), 600_000, AwardUnit.MONEY),
    ],
)
def test_the_largest_steal_is_a_choice_that_took_from_others(
    game: str, verbs: Sequence[str], value: int, unit: AwardUnit
) -> None:
    record = record_of(game)
    steal = awards_of(SeenMatch("m", BOTS, record))[AwardKind.STEAL]
    assert (steal.value, steal.unit, steal.match) == (value, unit, "m")
    chosen = list(replay(record, game_named(game)))[steal.at - 1][2]
    assert (BOTS[chosen.seat], chosen.cause) == (steal.bot, EndCause.NORMAL)
    assert words_of(record)[steal.at - 1].startswith(tuple(verbs))


@pytest.mark.parametrize("game", GAMES)
def test_a_comeback_lasts_until_the_winner_is_last_no_more(game: str) -> None:
    record = record_of(game)
    scores = []
    for match, _, _ in replay(record, game_named(game)):
        scores.append(match.game.scores())
    scores = [*scores[1:], match.game.scores()]
    winner = record.result["places"].index(1)
    behind = [at for at, one in enumerate(scores, 1) if sorted(one)[0] == one[winner] < sorted(one)[1]]
    found = awards_of(SeenMatch("m", BOTS, record)).get(AwardKind.COMEBACK)
    assert (found is None) == (not behind)
    if found is not None:
        assert (found.bot, found.at, found.value) == (BOTS[winner], behind[-1], behind[-1] / len(scores))


def test_bots_without_awards_and_shared_wins_earn_none() -> None:
    record = record_of("stolen_treasure")
    assert awards_of(SeenMatch("m", (None, None, None), record, ([1] * 99,) * 3)) == {}
    shared = replace(record, result={**record.result, "places": [1, 1, 3]})
    assert AwardKind.COMEBACK in awards_of(SeenMatch("m", BOTS, record))
    assert AwardKind.COMEBACK not in awards_of(SeenMatch("m", BOTS, shared))


def test_of_equal_awards_the_first_stays() -> None:
    record = record_of("greed")
    found = awards_of(SeenMatch("m1", BOTS, record), SeenMatch("m2", BOTS[::-1], record))
    assert found[AwardKind.STEAL].match == "m1"


def test_the_calmest_clock_is_of_the_bot_whose_slowest_answer_was_quickest() -> None:
    few, slow, calm = [1] * (MIN_ANSWERS // 2 - 1), [*[2] * 20, 50], [30] * MIN_ANSWERS
    first = SeenMatch("m1", BOTS, None, (few, slow, calm))
    second = SeenMatch("m2", BOTS, None, (few, [1] * 20, [*calm, 31]))
    assert awards_of(first, second) == {
        AwardKind.CLOCK: Award(AwardKind.CLOCK, "cid/c:1", 31, AwardUnit.MILLISECONDS, "m2")
    }


def test_a_record_of_other_rules_is_counted_and_left_out() -> None:
    awards = Awards()
    awards.add(SeenMatch("m", BOTS, replace(record_of("greed"), rules="0.0.1")))
    awards.add(SeenMatch("n", BOTS, None))
    assert (awards.matches, awards.unread, awards.best()) == (2, 2, [])
    assert json.loads(record_line("greed", 3, 3))["rules"] != "0.0.1"
