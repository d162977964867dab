"""A bot's methods: which are called, when, with what; and that it does not matter whether they are `async def`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.seating import arrangement
from cutpurse.games import GAMES
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.local import play
from cutpurse.sdk.views.acts import SeenEvent
from tests.sdk.bot_files import bot_file


class Diary:
    """Answers at random and writes down all that it is told."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def start(self, match: MatchInfo) -> None:
        self.chance = match.chance
        self.lines.append(f"start {match.game} {match.seat}")

    def event(self, event: SeenEvent) -> None:
        self.lines.append(f"{event.number} {event.text}")

    def choose(self, view: Any, decision: Any) -> int:
        self.lines.append(f"decision {decision.number}")
        return int(self.chance.random() * decision.count)

    def end(self, result: Any) -> None:
        self.lines.append(f"end {result.places}")


class AsyncDiary(Diary):
    """The same, and lets others have a turn wherever it can."""

    async def start(self, match: MatchInfo) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().start(match)
        self.loop = asyncio.get_running_loop()

    async def event(self, event: SeenEvent) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().event(event)

    async def choose(self, view: Any, decision: Any) -> int:  # type: ignore[override]
        await asyncio.sleep(0)
        assert asyncio.get_running_loop() is self.loop  # what a bot opened in one method it may use in another
        return super().choose(view, decision)

    async def end(self, result: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().end(result)


def diary(kind: type[Diary], game: str, seats: int = 3, seed: int = 5) -> list[str]:
    lines: list[str] = []
    played = play(game, [lambda: kind(lines), *["random"] * (seats - 1)], seed=seed)
    assert not played.failures
    return lines


@pytest.mark.parametrize("game", list(GAMES))
def test_an_async_bot_plays_the_same_match(game: str) -> None:
    lines = diary(Diary, game)
    assert diary(AsyncDiary, game) == lines
    assert lines[0] == f"start {game} {arrangement(3, 5, 0).index(0)}"
    assert lines[-1].startswith("end ")


@pytest.mark.parametrize("game", list(GAMES))
def test_every_event_is_told_once_and_in_order_before_the_decision_it_led_to(game: str) -> None:
    lines = diary(Diary, game)
    numbers = [int(line.split()[0]) for line in lines if line[0].isdigit()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 20
    decisions = [index for index, line in enumerate(lines) if line.startswith("decision")]
    told = [index for index, line in enumerate(lines) if line[0].isdigit()]
    assert min(told) < decisions[0]
    assert max(told) > decisions[-1]  # the last ones come with the end


async def test_an_async_bot_can_be_played_from_within_an_event_loop() -> None:
    assert diary(AsyncDiary, "greed") == diary(Diary, "greed")


def test_a_bot_hears_only_what_its_seat_may_know() -> None:
    heard: list[tuple[Any, ...]] = []

    class Hears:
        def event(self, event: SeenEvent) -> None:
            if event.kind == "moved":
                heard.append(event.cards)

        def choose(self, view: Any, decision: Any) -> int:
            return 0

    play("bag_o_loot", [Hears, "random", "random"], seed=2)
    assert any(None in cards for cards in heard)
    assert any(cards and None not in cards for cards in heard)


@pytest.mark.parametrize(
    ("method", "ask"),
    [
        ("def event(self, event): raise KeyError(event.kind)", "play_a_card"),
        ("async def event(self, event): raise KeyError(event.kind)", "play_a_card"),
        ("async def end(self, result): raise SystemExit(3)", "in end"),
        ("async def start(self, match): raise SystemExit(3)", "when it was started"),
        ("def start(self, match): self.first = next(one for one in ())", "when it was started"),
    ],
)
def test_a_method_that_raises_is_a_fault_that_names_its_line(method: str, ask: str, tmp_path: Path) -> None:
    path = bot_file(tmp_path, f"class Bot:\n    def choose(self, view, decision): return 0\n    {method}\n")
    (failure,) = play("greed", [path, "random"], seed=1).failures
    assert failure.ask == ask
    assert failure.reason.startswith(f"{path}:3: ")


def test_an_illegal_answer_is_asked_again_without_telling_the_events_twice() -> None:
    told: list[int] = []

    class Stubborn:
        asked = -1

        def event(self, event: SeenEvent) -> None:
            told.append(event.number)

        async def choose(self, view: Any, decision: Any) -> int:
            again, self.asked = decision.number == self.asked, decision.number
            return 0 if again else -1

    assert not play("greed", [Stubborn, "random"], seed=1).failures
    assert told == list(range(len(told)))


@pytest.mark.parametrize("seats", [2, 3])
def test_a_bot_that_does_without_events_has_none(seats: int) -> None:
    class Without:
        reads_events = False

        def choose(self, view: Any, decision: Any) -> int:
            return len(view.events)

    (failure,) = play("greed", [Without, *["random"] * (seats - 1)], seed=1).failures
    assert "no view.events, for its class says `reads_events = False`: take that line out" in failure.reason


def test_a_method_that_hears_events_outweighs_the_word_that_none_are_read() -> None:
    told: list[int] = []

    class Hears:
        reads_events = False

        def event(self, event: SeenEvent) -> None:
            told.append(event.number)

        def choose(self, view: Any, decision: Any) -> int:
            return 0

    assert not play("greed", [Hears, "random"], seed=1).failures
    assert told == list(range(len(told)))
    assert len(told) > 20
