"""Bots that dial in, over real sockets: whole matches, lost streams, slow and failing bots, and what ends a stay."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.engine.commitment import board_key
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.match import EndCause, Match
from cutpurse.games import GAMES
from cutpurse.sdk import client, errors, thinking
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.errors import NotFound, ServerRefused, ServerUnreachable
from cutpurse.sdk.run import PlayedMatch, Stay, connect
from cutpurse.sdk.seating import play_match
from cutpurse.sdk.views.acts import Told
from cutpurse.v1 import arena_pb2
from tests.sdk.arena import Arena, Ending, Meeting, arena, others_chance
from tests.sdk.bot_files import bot_file

LOST = Ending()


class First:
    def choose(self, view: Any, decision: Any) -> int:
        return 0


class Diary:
    """Answers by counting, and writes down all that it is told and shown."""

    pages: dict[str, list[str]]  # by game and seat

    def start(self, match: MatchInfo) -> None:
        self.lines = self.pages[f"{match.game} {match.seat}"] = [f"start {match.seats} {dict(match.settings)}"]

    def event(self, event: Told) -> None:
        self.lines.append(f"{event.number} {event.text}")

    def choose(self, view: Any, decision: Any) -> Any:
        self.lines += [
            f"decision {decision.number} {decision.ask} {decision.rule} {decision.safe.text}",
            view.raw.to_bytes().decode(),
            *[option.text for option in decision.options],
            *[event.text for event in view.events],
        ]
        option = decision.options[decision.number % decision.count]
        return option if decision.number % 2 else option.index

    def end(self, result: Any) -> None:
        self.lines.append(f"end {result}")


class AsyncDiary(Diary):
    async def event(self, event: Told) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().event(event)

    async def choose(self, view: Any, decision: Any) -> Any:
        await asyncio.sleep(0)
        return super().choose(view, decision)

    async def end(self, result: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().end(result)


def diary(kind: type[Diary] = Diary) -> tuple[type[Diary], dict[str, list[str]]]:
    """A class of bots that write into a book of their own."""
    pages: dict[str, list[str]] = {}
    return type("Writer", (kind,), {"pages": pages}), pages


def played_here(meeting: Meeting) -> list[str]:
    """What a Diary writes in local play of the same match."""
    bot, pages = diary()

    class Other:
        chance = others_chance(meeting.game, meeting.number)

        def choose(self, view: Any, decision: Any) -> int:
            return int(self.chance.random() * decision.count)

    makers = [BotMaker(name, bot if name == meeting.bot else Other) for name in meeting.match.seats]
    key = board_key(meeting.seed, meeting.params)
    _, failed, _ = play_match(Match(GAMES[meeting.game], meeting.match.seats, key, log=True), makers)
    assert not failed
    return pages[f"{meeting.game} {meeting.seat}"]


async def stay(server: Arena, bot: Any, matches: int | None = None, **wishes: Any) -> tuple[Stay, list[PlayedMatch]]:
    """A bot plays there, for as many matches as the server has unless told otherwise."""
    played: list[PlayedMatch] = []
    wishes = {"name": "bot", **wishes}
    came = await connect(
        bot, server=server.address, matches=matches or server.matches, on_match=played.append, **wishes
    )
    return came, played


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
    assert "connected again, as a new session: 2 matches lost" in capsys.readouterr().err


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


# -- slow bots
@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_bot_thinks_about_is_acknowledged_before_it_answers(is_async: bool) -> None:
    done, free = threading.Event(), asyncio.Event()
    put_in: list[int] = []  # the envelope with the decision that takes long

    class Thinks:
        def choose(self, view: Any, decision: Any) -> int:
            if decision.number == 1:
                assert done.wait(20)
            return 0

    class AsyncThinks:
        async def choose(self, view: Any, decision: Any) -> int:
            if decision.number == 1:
                await free.wait()
            return 0

    def see(response: arena_pb2.PlayResponse) -> None:
        if any(decision.decision == 2 for decision in response.decisions):
            put_in.append(response.envelope)

    async def let_go(request: arena_pb2.PlayRequest) -> None:
        if put_in and request.received == put_in[0] and not request.answers:
            free.set()
            done.set()

    async with arena(games=["greed"], hold=let_go, tamper=see) as server:
        came, _ = await stay(server, AsyncThinks if is_async else Thinks)
    assert (came.matches, came.faults) == (1, 0)
    assert done.is_set()


async def test_tables_of_an_async_bot_go_on_while_one_of_them_thinks() -> None:
    finished = asyncio.Event()
    order: list[str] = []

    class Waits:
        def start(self, match: MatchInfo) -> None:
            self.seat = match.seat
            self.match = match.match

        async def choose(self, view: Any, decision: Any) -> int:
            if self.match.startswith("0001"):
                await finished.wait()
            return 0

        def end(self, result: object) -> None:
            order.append(self.match[:4])
            finished.set()

    async with arena(games=["greed"], matches=2) as server:
        came, _ = await stay(server, Waits)
    assert came.matches == 2
    assert order == ["0002", "0001"]


async def test_one_thread_asks_all_matches_and_a_quick_bot_comes_to_the_event_loop() -> None:
    threads: list[int] = []

    class Where(First):
        def choose(self, view: Any, decision: Any) -> int:
            threads.append(threading.get_ident())
            return 0

    async with arena(games=["greed"], matches=8) as server:
        await stay(server, Where)
    here = threading.get_ident()
    assert here not in threads[:32]
    assert threads[-1] == here
    assert len({*threads} - {here}) == 1


async def test_the_begin_and_the_end_of_a_quick_bots_matches_come_to_the_event_loop() -> None:
    threads: dict[str, list[int]] = {"start": [], "end": []}

    class Where(First):
        def start(self, match: MatchInfo) -> None:
            threads["start"].append(threading.get_ident())

        def end(self, result: object) -> None:
            threads["end"].append(threading.get_ident())

    async with arena(games=["greed"], matches=48, most_tables=2) as server:
        await stay(server, Where)
    here = threading.get_ident()
    for found in threads.values():
        assert len(found) == 48
        assert here not in found[:32]
        assert here in found[32:]


async def test_a_quick_bot_acknowledges_an_envelope_together_with_its_answers() -> None:
    async with arena(games=["greed"], matches=8, most_tables=2) as server:
        await stay(server, First)
    proven = server.requests[-50:]
    assert len({request.received for request in proven}) >= 45  # where a match begins or ends its thread has a turn
    assert sum(len(request.answers) for request in proven) >= 45


async def test_the_tables_of_a_quick_bot_rise_and_those_of_a_slow_one_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    async with arena(games=["greed"], matches=40, most_tables=20) as server:
        await stay(server, First)
    told = [request.max_tables for request in server.requests if request.HasField("max_tables")]
    assert server.hellos[0].max_tables == 4
    assert told[:3] == [6, 9, 13]
    assert max(told) == 20

    clock = iter(range(1_000_000))
    monkeypatch.setattr(thinking, "perf_counter", lambda: next(clock) * 0.3)  # each turn takes 300 ms
    async with arena(games=["greed"], matches=6) as server:
        await stay(server, First)
    told = [request.max_tables for request in server.requests if request.HasField("max_tables")]
    assert server.hellos[0].max_tables == 4
    assert told == [1]


async def test_the_last_match_that_is_wanted_is_the_last_that_begins() -> None:
    async with arena(games=["greed"], matches=50) as server:
        came, played = await stay(server, First, matches=6)
    assert came.matches == len(played) == len(server.sessions["session 0"].tables) == 6


# -- failing bots
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
        f"bot {path} in match {first.match[:8]} (greed, seat 1) crashed, decision 0 (play_a_card): "
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


async def test_a_bot_that_cannot_be_made_fails_at_each_decision(capsys: pytest.CaptureFixture[str]) -> None:
    class Unmade(First):
        def __init__(self) -> None:
            raise OSError("no model")

    async with arena(games=["greed"]) as server:
        came, (match,) = await stay(server, Unmade)
    assert came.faults == 3
    assert match.result.end_causes[match.seat] is EndCause.CRASHED
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
    assert "answered illegally: decision 0 (play_a_card) has options 0-" in first
    assert first.endswith("; it answered 99; it may be corrected 2 more times")
    assert second.endswith("; it answered 'nothing'; it may be corrected once more")


async def test_a_bot_that_never_answers_legally_is_played_on(capsys: pytest.CaptureFixture[str]) -> None:
    class Never:
        def choose(self, view: Any, decision: Any) -> None:
            return None

    async with arena(games=["szmal"]) as server:
        came, (match,) = await stay(server, Never)
    assert came.faults == 3
    assert match.result.end_causes[match.seat] is EndCause.ILLEGAL
    assert capsys.readouterr().err.count("it answered None; the safe option was taken") == 3


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
        await connect(First, server=address, name="bot", give_up_after_s=0.3)
    assert errors.exit_code(raised.value) == 5
    assert capsys.readouterr().err.count("trying again") == 1


async def test_a_server_may_be_away_for_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (1e-9, 1e-9))
    address = f"unix:{tmp_path}/nobody"
    stays = asyncio.create_task(connect(First, server=address, name="bot", give_up_after_s=1e9))
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


async def test_a_server_that_says_nothing_any_more_is_taken_for_lost(capsys: pytest.CaptureFixture[str]) -> None:
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
