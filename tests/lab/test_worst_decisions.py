"""The worst decisions of a seat: what is listed is worse than another option by more than chance explains."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cutpurse.bots.search_bot import Expected, SearchBot
from cutpurse.engine.record import Record, read_record, replay
from cutpurse.games import GAMES
from cutpurse.lab import worst_decisions as module
from cutpurse.lab.worst_decisions import MIN_PLAYOUTS, worst_decisions
from cutpurse.sdk.bot import MatchInfo, bot_makers
from cutpurse.sdk.local import play
from cutpurse.sdk.playing.positions import decision_for

SECONDS = 1e9  # no clock decides


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["random", "random", "random"], seed=1, record=file)
    return read_record(file.read_text(encoding="utf-8").strip())


class Scripted:
    """A bot to which the first option always promises most, by a lead that the test sets."""

    leads: list[list[float]]

    def start(self, match: Any) -> None:
        self.compared_options: list[tuple[int, ...]] = []

    def choose(self, view: Any, decision: Any) -> int:
        self.count = decision.count
        return 0

    def expected(self, taken: int) -> dict[int, Expected]:
        return {index: Expected(1.0 if index == 0 else 0.5, 0.1, 10, False) for index in range(self.count)}

    def compared(self, view: Any, decision: Any, indices: tuple[int, ...], playouts: int) -> list[list[float]]:
        self.compared_options.append(indices)
        leads = self.leads[(len(self.compared_options) - 1) % len(self.leads)]
        return [[0.0] * len(leads), leads]


def test_only_what_is_worse_beyond_chance_is_listed_the_worst_first(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = MIN_PLAYOUTS
    Scripted.leads = [
        [0.1, 0.2] * many,  # clear
        [0.9, 0.9] * (MIN_PLAYOUTS // 2 - 1),  # clear, and too few
        [1.0, -0.95] * many,  # chance
        [0.5, 0.4] * many,
        [0.3, 0.4] * many,
        [0.05, 0.06] * many,  # the fourth
    ]
    monkeypatch.setattr(module, "load_bot", lambda name: bot_makers([Scripted])[0])
    result = worst_decisions(record, 1, SECONDS)
    assert result.looked_at == result.decisions > 8
    assert [round(decision.cost, 2) for decision in result.worst] == [0.45, 0.35, 0.15]  # the sixth was not compared
    assert all(decision.better == 0 != decision.taken for decision in result.worst)
    assert all(0 < decision.error < decision.cost and decision.playouts >= MIN_PLAYOUTS for decision in result.worst)
    at = {len(match.choices): chosen for match, _, chosen in replay(record, GAMES["greed"])}
    assert all(at[decision.at].seat == 1 for decision in result.worst)


def test_without_time_nothing_is_said(record: Record) -> None:
    result = worst_decisions(record, 0, 0.0)
    assert (result.looked_at, result.worst) == (0, ())
    assert result.decisions > 8


def test_search_plays_options_out_in_the_same_states_as_often_as_it_is_told(record: Record) -> None:
    match, question, _ = next(step for step in replay(record, GAMES["greed"]) if len(step[1].options) > 1)
    view, decision = decision_for(match, question)
    bot = SearchBot()
    bot.start(MatchInfo("greed", question.seat, record.seats, {}, Random(1)))
    values = bot.compared(view, decision, (0, decision.count - 1), 4)
    assert [len(results) for results in values] == [4, 4]
    assert all(0.0 <= value <= 1.0 for results in values for value in results)
