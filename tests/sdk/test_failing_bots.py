"""Bots that raise, or answer what cannot be, on a real server: what is told of it, and that they play on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.match import EndCause
from cutpurse.engine.text import answer_text
from tests.sdk.arena import arena
from tests.sdk.bot_files import Array, Broken, bot_file
from tests.sdk.stays import First, stay


async def test_a_bot_that_raises_gives_up_the_decision_and_its_other_tables_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = bot_file(
        tmp_path,
        """
class Bot:
    def start(self, match):
        self.first = match.match.startswith("0001")

    def choose(self, view, decision):
        if self.first:
            raise SystemExit(f"no plan for {decision.ask}")
        return 0
""",
    )
    async with arena(games=["greed"], matches=2) as server:
        came, played = await stay(server, path)
    first = next(match for match in played if match.match.startswith("0001"))
    other = next(match for match in played if match is not first)
    assert came.faults == 3
    assert first.result.end_causes[first.seat] is EndCause.CRASHED
    assert set(other.result.end_causes) == {EndCause.NORMAL}
    given_up = [give_up for request in server.requests for give_up in request.give_ups]
    assert len(given_up) == 3
    assert given_up[0].reason == f"{path}:7: SystemExit: no plan for play_a_card"
    lines = [line for line in capsys.readouterr().err.splitlines() if "crashed" in line]
    assert len(lines) == 4  # with that of the match
    assert lines[0].startswith(
        f"bot {path} in match {first.match[:8]} (greed, seat 1) crashed, decision 1 (play_a_card): "
        f"{path}:7: SystemExit: no plan for play_a_card; offered were 'play "
    )
    assert lines[-1] == first.text()


async def test_traces_are_shown_to_who_asks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    class Raises:
        async def choose(self, view: Any, decision: Any) -> int:
            raise asyncio.CancelledError

    async with arena(games=["greed"]) as server:
        came, _ = await stay(server, Raises, debug=True)
    assert came.faults == 3
    shown = capsys.readouterr().err
    assert "RuntimeError: the bot cancelled itself" in shown
    assert "Traceback (most recent call last)" in shown


async def test_a_bot_that_cannot_be_made_gives_up_the_whole_match(capsys: pytest.CaptureFixture[str]) -> None:
    class Unmade(First):
        def __init__(self) -> None:
            raise OSError("no model")

    async with arena(games=["greed"]) as server:
        came, (match,) = await stay(server, Unmade)
    assert (came.faults, came.taken_over) == (1, 1)
    (give_up,) = [give_up for request in server.requests for give_up in request.give_ups]
    assert give_up.whole_match
    assert match.result.end_causes[match.seat] is EndCause.CRASHED
    assert match.result.places[match.seat] == 3
    assert "OSError: no model" in capsys.readouterr().err


async def test_a_failing_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    class Ends(First):
        def end(self, result: Any) -> None:
            raise KeyError("diary")

    async with arena(games=["greed"]) as server:
        came, _ = await stay(server, Ends)
    assert came.faults == 1
    assert "crashed, in end: " in capsys.readouterr().err


async def test_an_illegal_answer_is_told_and_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[int, Any, Any]] = []

    class Corrects:
        def choose(self, view: Any, decision: Any) -> Any:
            asked.append((decision.number, view, decision))
            times = sum(number == decision.number for number, *_ in asked)
            return [99, "nothing", 0][times - 1] if decision.number == 0 else 0

    async with arena(games=["greed"]) as server:
        came, (match,) = await stay(server, Corrects)
    assert came.faults == 0
    assert set(match.result.end_causes) == {EndCause.NORMAL}
    assert [number for number, *_ in asked[:4]] == [0, 0, 0, 1]
    assert asked[0][1] is asked[1][1] is asked[2][1]
    assert asked[0][2] is asked[2][2]
    first, second = [line for line in capsys.readouterr().err.splitlines() if "illegally" in line]
    assert "answered illegally: decision 1 (play_a_card) has options 0-" in first
    assert first.endswith("; it answered 99; it may be corrected 2 more times")
    assert second.endswith(
        "; it answered 'nothing' (return one of decision.options, or its index); it may be corrected once more"
    )


async def test_a_bot_that_never_answers_legally_is_played_on(capsys: pytest.CaptureFixture[str]) -> None:
    class Never:
        def choose(self, view: Any, decision: Any) -> None:
            return None

    async with arena(games=["szmal"]) as server:
        came, (match,) = await stay(server, Never)
    assert came.faults == 3
    assert match.result.end_causes[match.seat] is EndCause.ILLEGAL
    assert capsys.readouterr().err.count("it answered None (is a `return` missing?); the safe option was taken") == 3


@pytest.mark.parametrize("answer", [Array(), (Array(),), Broken()])
async def test_an_answer_of_whatever_kind_is_illegal(answer: object, capsys: pytest.CaptureFixture[str]) -> None:
    class Never:
        def choose(self, view: Any, decision: Any) -> Any:
            return answer

    async with arena(games=["szmal"]) as server:
        came, (match,) = await stay(server, Never)
    assert came.faults == 3
    assert match.result.end_causes[match.seat] is EndCause.ILLEGAL
    said = [line for line in capsys.readouterr().err.splitlines() if line.endswith("; the safe option was taken")]
    assert len(said) == 3
    assert all(f"; it answered {answer_text(answer)}" in line for line in said)


async def test_what_a_bot_raises_need_not_be_fit_to_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    class Raises:
        def choose(self, view: Any, decision: Any) -> int:
            raise Broken

    async with arena(games=["szmal"]) as server:
        came, (match,) = await stay(server, Raises)
    assert came.faults == 3
    assert match.result.end_causes[match.seat] is EndCause.CRASHED
    assert "Broken: it cannot be shown" in capsys.readouterr().err
