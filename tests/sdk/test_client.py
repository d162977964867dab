"""Bots that dial in, over real sockets: whole matches, lost streams, and what ends a stay."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import GAMES
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.online import client
from cutpurse.sdk.run import connect
from cutpurse.v1 import arena_pb2
from cutpurse.wire import errors
from cutpurse.wire.errors import NotFound, ServerRefused, ServerUnreachable
from tests.sdk.arena import Ending, arena
from tests.sdk.stays import LOST, AsyncDiary, Diary, First, diary, played_here, stay


@pytest.mark.parametrize("kind", [Diary, AsyncDiary])
async def test_a_bot_is_told_and_shown_the_same_as_in_local_play(kind: type[Diary]) -> None:
    bot, pages = diary(kind)
    async with arena(matches=len(GAMES)) as server:
        came, played = await stay(server, bot)
    assert (came.matches, came.faults) == (len(GAMES), 0)
    assert {match.game for match in played} == set(GAMES)
    for meeting in server.sessions["session 0"].tables.values():
        assert pages[f"{meeting.game} {meeting.seat}"] == played_here(meeting)


# -- lost streams
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("kind", [Diary, AsyncDiary])
async def test_a_stream_may_break_at_any_envelope(
    counts: bool, kind: type[Diary], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (0.0, 0.0))
    broken: list[int] = []

    def breaks(session: str, number: int) -> tuple[bool, Ending] | None:
        if number <= len(broken):  # one envelope later each time
            return None
        broken.append(number)
        return counts, LOST

    bot, pages = diary(kind)
    async with arena(games=["greed"], breaks=breaks, matches=2) as server:
        came, _ = await stay(server, bot, games=["greed"])
    assert came.matches == 2
    assert len(broken) > 10
    first, *resumed = [hello.resume.session for hello in server.hellos]
    assert (first, set(resumed)) == ("", {"session 0"})
    assert len(resumed) in (len(broken), len(broken) - 1)  # nobody comes back once all is played
    for meeting in server.sessions["session 0"].tables.values():
        written = pages[f"greed {meeting.seat}"]
        decisions = [line for line in written if line.startswith("decision")]
        assert decisions == [line for line in played_here(meeting) if line.startswith("decision")]
        assert written[-1] == f"end {meeting.match.result()}"


@pytest.mark.full
async def test_an_answer_that_was_lost_is_sent_again_and_the_bot_is_not_asked_twice() -> None:
    asked: list[int] = []

    class Counts:
        def choose(self, view: Any, decision: Any) -> int:
            asked.append(decision.number)
            return 0

    async with arena(games=["greed"], breaks=lambda session, number: (False, LOST) if number == 5 else None) as server:
        await stay(server, Counts)
        broken = len(server.hellos)
    assert broken > 3
    assert asked == list(range(len(asked)))


async def test_a_session_that_the_server_has_forgotten_is_begun_anew(capsys: pytest.CaptureFixture[str]) -> None:
    async def forget(request: arena_pb2.PlayRequest) -> None:
        if len(server.requests) == 6:
            server.sessions.clear()

    ended: list[object] = []

    class Ends(First):
        def end(self, result: object) -> None:
            ended.append(result)

    def breaks(session: str, number: int) -> tuple[bool, Ending] | None:
        return (False, LOST) if len(server.requests) == 6 else None

    async with arena(games=["greed"], matches=2, hold=forget, breaks=breaks) as server:
        came, _ = await stay(server, Ends)
    assert [hello.resume.session for hello in server.hellos] == ["", "session 0", ""]
    assert came.matches == len(ended) == 2
    assert "connected again, as a new session: 1 match lost" in capsys.readouterr().err


# -- events
@pytest.mark.parametrize("reads", [True, False])
async def test_events_are_asked_for_unless_the_bot_does_without(
    reads: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    class Reads:
        reads_events = reads

        def choose(self, view: Any, decision: Any) -> int:
            assert view.events
            return 0

    async with arena(games=["greed"]) as server:
        came, _ = await stay(server, Reads)
    assert [hello.events for hello in server.hellos] == [reads]
    assert came.faults == (0 if reads else 3)
    assert ("for its class says `reads_events = False`" in capsys.readouterr().err) != reads


# -- what ends a stay
@pytest.mark.parametrize(
    ("code", "reason", "error", "exit_code"),
    [
        (grpc.StatusCode.ABORTED, "SUPERSEDED", ServerRefused, 1),
        (grpc.StatusCode.FAILED_PRECONDITION, "PROTOCOL_VERSION", ServerRefused, 1),
        (grpc.StatusCode.FAILED_PRECONDITION, "RULES_VERSION", ServerRefused, 1),
        (grpc.StatusCode.FAILED_PRECONDITION, "HELLO", UsageError, 2),
        (grpc.StatusCode.NOT_FOUND, "NOT_FOUND", NotFound, 4),
        (grpc.StatusCode.INVALID_ARGUMENT, "BAD_MESSAGE", ServerRefused, 1),
        (grpc.StatusCode.PERMISSION_DENIED, "", ServerRefused, 1),
        (grpc.StatusCode.UNIMPLEMENTED, "", ServerRefused, 1),
    ],
)
async def test_what_a_server_says_for_good_ends_the_stay(
    code: grpc.StatusCode, reason: str, error: type[CutpurseError], exit_code: int
) -> None:
    async with arena(refuse=[Ending(code, "the reason", reason)]) as server:
        with pytest.raises(error, match="the reason") as raised:
            await stay(server, First)
    assert len(server.hellos) == 1
    assert errors.exit_code(raised.value) == exit_code


@pytest.mark.parametrize("at", range(3, 9))
async def test_a_stream_that_another_took_over_is_not_opened_again(at: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even if an answer is being written just then."""
    taken = Ending(grpc.StatusCode.ABORTED, "a newer stream took over", "SUPERSEDED")
    async with arena(breaks=lambda session, number: (True, taken) if number == at else None) as server:
        with pytest.raises(ServerRefused, match="a newer stream took over"):
            await stay(server, First)
    assert len(server.hellos) == 1
    assert "trying again" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, "DRAINING"),
        (grpc.StatusCode.UNAVAILABLE, "SILENT"),
        (grpc.StatusCode.UNAVAILABLE, "STORAGE"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "STREAMS"),
        (grpc.StatusCode.INTERNAL, "INCIDENT"),
    ],
)
async def test_what_passes_is_waited_for(code: grpc.StatusCode, reason: str) -> None:
    async with arena(games=["greed"], refuse=[Ending(code, "later", reason, retry_ms=1)]) as server:
        came, _ = await stay(server, First)
    assert (came.matches, len(server.hellos)) == (1, 2)


async def test_a_server_that_fails_twice_is_left_alone() -> None:
    fails = [Ending(grpc.StatusCode.INTERNAL, f"incident {number}", "INCIDENT") for number in (17, 18)]
    async with arena(refuse=fails) as server:
        with pytest.raises(ServerRefused, match="failed twice: incident 18"):
            await stay(server, First)


async def test_no_server_at_all_ends_it_after_a_while(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"unix:{tmp_path}/nobody"
    with pytest.raises(ServerUnreachable, match=f"no server at {address} for 0.3 s: ") as raised:
        await connect(First, server=address, name="bot", reconnect_timeout_s=0.3)
    assert errors.exit_code(raised.value) == 5
    assert capsys.readouterr().err.count("trying again") == 1


async def test_a_server_may_be_away_for_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (1e-9, 1e-9))
    address = f"unix:{tmp_path}/nobody"
    stays = asyncio.create_task(connect(First, server=address, name="bot", reconnect_timeout_s=1e9))
    attempts = 0

    async def fails(self: client.Client) -> Any:
        nonlocal attempts
        attempts += 1
        await asyncio.sleep(0)
        if attempts == 3_000:
            self.leave()
        return client._Ended(grpc.StatusCode.UNAVAILABLE, "away")

    monkeypatch.setattr(client.Client, "_stream", fails)
    assert (await stays).matches == 0
    assert attempts == 3_000


async def test_a_server_that_goes_away_is_waited_for_and_found_again(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/server"
    away = asyncio.Event()

    async def leave(request: arena_pb2.PlayRequest) -> None:
        away.set()

    async with arena(address, games=["greed"], hold=leave):
        stays = asyncio.create_task(connect(First, server=address, name="bot", matches=1))
        await away.wait()
    async with arena(address, games=["greed"]) as server:
        came = await stays
    assert came.matches == 1
    assert [hello.resume.session for hello in server.hellos] == ["session 0", ""]


@pytest.mark.full
async def test_a_server_that_says_nothing_any_more_is_taken_for_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "WELCOME_S", 3.0)  # it is looked at then for the first time
    never = asyncio.Event()
    held: list[object] = []

    async def hold(request: arena_pb2.PlayRequest) -> None:
        if not held:
            held.append(request)
            await never.wait()

    async with arena(games=["greed"], hold=hold, heartbeat_ms=10) as server:
        came, _ = await stay(server, First)
    assert came.matches == 1
    assert [hello.resume.session for hello in server.hellos] == ["", "session 0"]
    assert "the server was silent for too long" in capsys.readouterr().err


async def test_a_broken_promise_is_seen_over_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    def cheat(response: arena_pb2.PlayResponse) -> None:
        for end in response.ends:
            end.opening.seed = bytes(32)

    async with arena(games=["greed"], tamper=cheat) as server:
        await stay(server, First)
    assert "WARNING: match 0001" in capsys.readouterr().err


async def test_two_bots_play_in_one_process() -> None:
    async with arena(games=["greed"], matches=3) as server:
        (one, _), (two, _) = await asyncio.gather(stay(server, First), stay(server, "random", name="other"))
    assert (one.matches, two.matches) == (3, 3)
    assert {hello.bot for hello in server.hellos} == {"bot", "other"}


async def test_a_bot_can_ask_how_long_it_may_think() -> None:
    left: list[tuple[float, float]] = []

    class Asks(First):
        def choose(self, view: Any, decision: Any) -> int:
            left.append((decision.base_left_s, decision.bank_left_s))
            while not decision.base_left_s < left[-1][0]:  # the clock of a machine may be coarse
                pass
            left.append((decision.base_left_s, decision.bank_left_s))
            return 0

    async with arena(games=["greed"], matches=1) as server:
        await stay(server, Asks)
    assert len(left) > 10
    for base_s, bank_s in left:
        assert base_s < 1.0  # as the arena of the tests says with each decision
        assert bank_s == pytest.approx(10.0 + min(0.0, base_s))
    assert left[0][0] > 0.0


async def test_the_chance_of_a_bot_follows_from_match_and_seat() -> None:
    drawn: dict[str, set[float]] = {}

    class Draws(First):
        def start(self, match: MatchInfo) -> None:
            drawn.setdefault(match.match, set()).add(match.chance.random())

    for _ in range(2):
        async with arena(games=["greed"], matches=2) as server:
            await stay(server, Draws)
    assert [len(numbers) for numbers in drawn.values()] == [1, 1]
    assert len(set.union(*drawn.values())) == 2
