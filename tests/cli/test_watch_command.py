"""`cutpurse match watch` as a process: pictures, JSON lines, exit codes, and streams that are lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import Any

import pytest

from cutpurse.cli.commands import match_watch
from cutpurse.cli.league_options import local_time
from cutpurse.engine.record import event_to_json, read_record, replay
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import change_ladder
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.sdk.matches.watching import WatchEnd, WatchUpdate
from cutpurse.v1 import ladder_pb2
from cutpurse.wire import league as leagues
from cutpurse.wire.errors import ServerUnreachable
from cutpurse.wire.league import league_at
from tests.roots import CHECKOUT
from tests.server.test_watch_service import LADDER, OWNERS, Stage, stage, until
from tests.typed import run


async def begin(on: Stage, *arguments: object, token: str = "") -> asyncio.subprocess.Process:
    """The command as a process, watching."""
    environment = {**os.environ, "CUTPURSE_TOKEN": token, "COLUMNS": "100"}
    count = on.arena.opened.watching.watchers
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cutpurse.cli", "match", "watch", "--server", on.arena.address),
        *(str(argument) for argument in arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=CHECKOUT,
    )
    await until(on, lambda: process.returncode is not None or on.arena.opened.watching.watchers > count)
    return process


async def end(process: asyncio.subprocess.Process) -> tuple[int | None, str, str]:
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_a_match_is_shown_as_play_shows_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        process = await begin(on, match[:10])
        await on.play()
        code, out, err = await end(process)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"match {match[:12]} of greed on duel, as a spectator sees it, 0.3 s later than the bots"
    assert "table" in lines
    assert any(line.startswith("- ") for line in lines)
    assert f"match {match[:12]} is over" in lines
    assert "  the deal was fixed in advance: the published seed matches the commitment" in lines
    assert sum(": place " in line for line in lines) == 2
    assert "\x1b" not in out


async def test_json_lines_tell_the_events_as_the_record_does(tmp_path: Path) -> None:
    async with stage(tmp_path, *OWNERS) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        spectator = await begin(on, match, "--json")
        seats = [one.owner for one in on.arena.opened.lobby.open_matches()[0].seats]
        own = await begin(on, match, "--seat", seats.index("ann"), "--json", token=on.tokens["ann"])
        foreign = await begin(on, match, "--seat", seats.index("bob"), token=on.tokens["ann"])
        assert (await end(foreign))[0] == 6
        await on.play()
        entry = on.arena.opened.store.run(queries.match, match)
        record = read_record(on.arena.opened.store.run(queries.record, match))
        for process, viewer, delay in ((spectator, 2, 300), (own, seats.index("ann"), 0)):
            code, out, err = await end(process)
            assert (code, err) == (0, "")
            began, *events, over = map(json.loads, out.splitlines())
            assert began["began"]["commitment"] == entry.deal.commitment.hex()
            assert (began["began"]["delay_ms"], began["began"]["view"]["viewer"]) == (delay, [0, 1, None][viewer])
            assert began["began"]["seats"] == list(record.seats)  # with their versions
            (*_, (played, _, _)) = replay(record, GAMES["greed"])
            log = played.game.log
            assert log is not None
            first = events[0]["number"]
            assert [row["number"] for row in events] == list(range(first, len(log)))
            told = [json.loads(json.dumps(event_to_json(event.to(viewer)))) for event in log[first:]]
            assert [row["event"] for row in events] == told
            assert over["over"]["seed"] == entry.deal.seed.hex()
            assert over["over"]["broken_promise"] is None
            assert over["over"]["scores"] == [seat.score for seat in entry.seats]
        gone = await begin(on, match)
        code, _, err = await end(gone)
        assert code == 4
        assert "cutpurse match replay" in err


async def test_an_interrupt_ends_it_with_130(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        process = await begin(on, "--ladder", "duel")
        process.send_signal(signal.SIGINT)
        code, out, err = await end(process)
    assert (code, out) == (130, "")
    *waiting, last = err.splitlines()  # before it, perhaps, that there is no match yet
    assert last == "interrupted"
    assert len(waiting) <= 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "name a match, or with --ladder a ladder"),
        (["m", "--ladder", "l"], 2, "name a match, or with --ladder a ladder"),
        (["--ladder", "l", "--seat", "1"], 2, "one seat of a match that is named"),
        (["m", "--seat", "-1"], 2, "one seat of a match that is named"),
        (["m", "--server", "127.0.0.1:1"], 5, "the server at 127.0.0.1:1"),
    ],
)
def test_what_cannot_be_done_has_its_exit_code(arguments: list[str], code: int, said: str) -> None:
    done = run("match", "watch", *arguments)
    assert (done.exit_code, said in done.stderr) == (code, True)


class Broken:
    """A league whose streams are lost, but for the last."""

    def __init__(self, *streams: int) -> None:
        self.streams = list(streams)  # how much each tells before it is lost

    def WatchMatch(self, request: ladder_pb2.WatchMatchRequest) -> Iterator[Any]:  # noqa: N802  # as the league has it
        told = self.streams.pop(0)
        yield from range(told)
        if self.streams:
            raise ServerUnreachable("gone")


def test_a_stream_that_is_lost_is_taken_up_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    request = ladder_pb2.WatchMatchRequest(ladder="it")

    def told(*streams: int) -> list[Any]:
        return list(match_watch._messages(Broken(*streams), request))  # type: ignore[arg-type]

    assert told(2, 0, 0, 1, 3) == [0, 1, 0, 0, 1, 2]
    assert slept == [0.5, 1.0, 2.0, 0.5]
    assert capsys.readouterr().err == "the stream was lost: gone; reconnecting\n" * 2
    with pytest.raises(ServerUnreachable):  # nobody was ever there
        told(0, 1)
    moments = iter(range(0, 1_000, 31))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(moments)))
    with pytest.raises(ServerUnreachable):  # nobody comes back
        told(1, 0, 0, 0, 0, 1)


def test_who_follows_a_ladder_is_told_why_no_match_comes_each_reason_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    clock = SimpleNamespace(now=0.0)
    looks: list[float] = []
    reasons = iter(["nobody", "nobody", "", "frozen", "frozen", "nobody"])
    table: Any = SimpleNamespace()
    match = WatchUpdate(table, 0, 0, (), table)
    over = WatchEnd(table, 0, (), table, False, b"", b"", None)

    def why() -> str:
        looks.append(clock.now)
        return next(reasons)

    class Waiting:
        """Nothing comes up to these moments, and then a step."""

        steps = iter([(65.0, match), (300.0, over), (370.0, match), (400.0, None)])
        until, step = next(steps)

        def get(self, timeout: float) -> Any:
            clock.now = min(clock.now + timeout, self.until)
            if clock.now < self.until:
                raise Empty
            step = self.step
            self.until, self.step = next(self.steps, (inf, None))
            return step

    monkeypatch.setattr(match_watch, "LOOK_S", 0.5)
    monkeypatch.setattr(match_watch, "print_message", said.append)
    monkeypatch.setattr(match_watch, "time", SimpleNamespace(monotonic=lambda: clock.now))
    told = match_watch._Told(iter(()), why)
    monkeypatch.setattr(told, "_waiting", Waiting())
    assert list(told) == [match, over, match]
    assert looks == [3.0, 33.0, 63.0, 303.0, 333.0, 363.0]
    assert said == ["nobody", "frozen", "nobody"]


async def test_why_no_match_of_a_ladder_comes(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, AsyncExitStack() as stack:

        async def why() -> str:
            with league_at(on.arena.address) as league:
                return await asyncio.to_thread(match_watch._why_nothing_comes, league, "duel")

        idle = "no match of ladder duel is being played{}; the next match is shown when it starts"
        assert await why() == idle.format(", and no bot is online")
        await on.sit_down(stack)
        assert await why() == idle.format("")
        noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
        on.arena.opened.lobby.set_ladder(replace(LADDER, terms=LadderTerms(frozen=noon)))
        on.arena.opened.store.write(change_ladder, "duel", LadderTerms(frozen=noon))
        moment = local_time(int(noon.timestamp() * 1_000))
        assert await why() == f"ladder duel is frozen since {moment}: no match starts there"
        gone = SimpleNamespace(ListLadders=refuse)
        assert match_watch._why_nothing_comes(gone, "duel") == ""  # type: ignore[arg-type]


def refuse(_: object) -> None:
    raise ServerUnreachable("gone")


def test_a_watch_asks_whether_the_server_is_still_there() -> None:
    assert dict(leagues.OPTIONS)["grpc.keepalive_time_ms"] == 30_000
