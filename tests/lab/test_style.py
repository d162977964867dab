"""The style of bots: what is counted, its intervals, and the house bot that plays most alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.engine.record import read_record
from cutpurse.games import GAMES, game_named
from cutpurse.lab.style.bot_style import MIN_MATCHES, habit_numbers, similarity
from cutpurse.lab.style.house_styles import HOUSE_BOTS, house_styles
from cutpurse.lab.style.style_counts import AIMS, TIME, SeatCounts, counts_of_record, scales_of
from cutpurse.sdk.local import play


class Bot:
    """Stops as soon as it may, and raids the seat with most cards in front of it."""

    def choose(self, view: Any, decision: Any) -> Any:
        if decision.ask == "go_on_or_stop":
            return next(option for option in decision.options if option.verb == "stop")
        return decision.options[0]


def counted(bot: str | Callable[[], Any], matches: int, folder: Path, seed: int = 1) -> list[SeatCounts]:
    file = folder / "run.jsonl"
    run = play("greed", [bot, "random", "random"], matches=matches, seed=seed, record=file)
    records = map(read_record, file.read_text().splitlines())
    return [
        counts_of_record(record, game_named("greed"))[row.seats[0]]
        for record, row in zip(records, run.rows, strict=True)
    ]


def test_a_bot_that_always_stops_is_seen_to_stop_early(tmp_path: Path) -> None:
    (goes_on, numbers) = habit_numbers(counted(Bot, 12, tmp_path), list(scales_of("greed"))[:2])
    assert (goes_on.name, goes_on.mean, goes_on.interval) == ("goes on with a raid", 0.0, (0.0, 0.0))
    assert numbers.name == "numbers in the middle at a stop"
    assert 0 < numbers.mean <= 1  # the first card of a raid may have no number
    assert goes_on.choices == numbers.choices


def test_the_house_bot_itself_is_most_alike(tmp_path: Path) -> None:
    styles = house_styles("greed", 3, {})
    assert tuple(styles) == HOUSE_BOTS
    alike = [similarity(bot, counted("greedy", 20, tmp_path), styles[bot], scales_of("greed")) for bot in HOUSE_BOTS]
    values = [other.similarity for other in alike if other is not None]
    assert values[0] == max(values) > 0.9
    assert values[0] > max(values[1:]) + 0.1
    for other in alike:
        assert other is not None
        assert other.interval[0] <= other.similarity <= other.interval[1]


def test_intervals_hold_the_true_share_about_as_often_as_they_say() -> None:
    """Choices of a match are alike here, so an interval from single choices would be far too short."""
    chance, held = Random(4), 0
    for _ in range(400):
        matches: list[SeatCounts] = []
        for _ in range(40):
            often = chance.choice((0.1, 0.5))  # of this match; 0.3 on the whole
            matches.append({"steals": (float(sum(chance.random() < often for _ in range(20))), 20)})
        (number,) = habit_numbers(matches, ["steals"])
        assert number.interval is not None
        held += number.interval[0] <= 0.3 <= number.interval[1]
    assert 0.91 <= held / 400 <= 0.98


def test_too_few_matches_give_a_number_and_no_interval() -> None:
    few: list[SeatCounts] = [{"steals": (1.0, 2)}] * (MIN_MATCHES - 1)
    (number,) = habit_numbers(few, ["steals", "stops"])
    assert (number.mean, number.choices, number.interval) == (0.5, 14, None)
    assert similarity("greedy", few, few * 2, {"steals": 1.0}) is None
    assert similarity("greedy", few * 2, [{"stops": (1.0, 2)}] * MIN_MATCHES, {"steals": 1.0, "stops": 1.0}) is None


def test_times_are_counted_where_they_are_known(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    play("greed", ["greedy", "random", "random"], record=file)
    record = read_record(file.read_text().strip())
    counts = counts_of_record(record, game_named("greed"), {1: [100, 300]})
    assert counts[1][TIME] == (0.4, 2)
    assert TIME not in counts[0]
    leader, between, weakest = AIMS
    aims = sum(number[leader][1] for number in counts)
    assert aims == sum(number[weakest][1] for number in counts) > 0
    assert all(between not in number for number in counts)  # two others, so nobody is between


@pytest.mark.parametrize("game", list(GAMES))
def test_every_habit_of_every_game_can_be_seen(game: str, tmp_path: Path) -> None:
    """A verb or a sort that the game does not have would never be counted."""
    words = game_named(game).words
    from cutpurse.sdk.views import VIEWS

    for habit in VIEWS[game].habits:
        assert set(habit.verbs) <= {verb.name for verb in words.verbs}
        assert set(habit.sorts) <= {card.sort for card in words.cards}
    file = tmp_path / "run.jsonl"
    play(game, ["greedy", "random", "random"], matches=2, record=file)
    seen: set[str] = set()
    for line in file.read_text().splitlines():
        for counts in counts_of_record(read_record(line), game_named(game)):
            seen |= counts.keys()
            assert all(0 <= total <= times * 12 for total, times in counts.values())
    assert len(seen & {habit.name for habit in VIEWS[game].habits}) >= 3
