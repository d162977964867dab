"""Bots in other languages conduct themselves as a server expects: they pass the check, leave politely, say why not."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from cutpurse.check import scenarios
from cutpurse.check.findings import CheckStatus
from cutpurse.check.local_arena import Host
from cutpurse.check.scenarios import SCENARIOS
from cutpurse.cli.check_bot import check_bot
from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.tokens import new_token
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import arena_pb2
from tests.addresses import DIALLED, HOSTILE, SOCKETS
from tests.languages.workshop import Made, Start, running
from tests.sdk.arena import Ending
from tests.sdk.arena import arena as small_arena
from tests.server.arenas import RunningArena, running_arena
from tests.server.raw_bot import RawBot

WAIT_S = 240.0  # for a program to end; it is a fault of the program
PATIENT = TimeControl(base_ms=60_000, bank_ms=60_000, handover_ms=60_000)


async def last_words(process: Process) -> tuple[int | None, list[str], list[str]]:
    """How it ended: its exit code, and the lines of both its outputs."""
    talk = asyncio.create_task(process.communicate())
    ended, _ = await asyncio.wait([talk], timeout=WAIT_S)
    if not ended:
        process.kill()
    out, err = await talk
    assert ended, f"it had not ended after {WAIT_S:g} s, and said {out!r} and {err!r}"
    return process.returncode, out.decode().splitlines(), err.decode().splitlines()


def is_leaving(bot: str, arena: RunningArena) -> bool:
    """Whether the server was told that a bot leaves."""
    sessions = arena.opened.arena.sessions._by_id.values()
    return any(session.leaving for session in sessions if session.identity.bot == bot)


async def test_it_passes_every_scenario_with_every_game(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 60.0)
    # Slower answers warn, and other tests make it slow.
    findings = await check_bot(made.spec, control=TimeControl(base_ms=30_000))
    assert [(one.scenario, one.seen) for one in findings if one.verdict is not CheckStatus.PASSED] == []
    matches = [f"{game}, a match" for game in GAMES]
    assert [one.scenario for one in findings] == ["handshake", *matches, *[name for name, _ in SCENARIOS[1:]]]


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGHUP, signal.SIGHUP]])
async def test_told_to_go_it_plays_its_open_matches_to_the_end(
    made: Made, tmp_path: Path, signals: list[signal.Signals]
) -> None:
    """A shell and the system may both send SIGHUP when one terminal is closed."""
    duel = Ladder("duel", "greed", 2, control=PATIENT)
    async with running_arena(tmp_path, [duel]) as arena, RawBot(arena.address) as other:
        await other.hello("other", max_tables=2)
        async with running(made, arena.address, CUTPURSE_BOT="leaver", CUTPURSE_VERSION="7") as process:
            waiting = [await other.decision() for _ in range(2)]
            for number in signals:
                process.send_signal(number)
                async with asyncio.timeout(WAIT_S):
                    while not is_leaving("leaver", arena):
                        await asyncio.sleep(0)
            for asked in waiting:
                await other.answer(asked)
            async with asyncio.timeout(WAIT_S):
                for _ in waiting:
                    end = await other.play_on()
                    assert not end.voided
            code, said, errors = await last_words(process)
        assert (code, [line for line in errors if not line.startswith("leaver: ")]) == (0, [])
        matches = arena.opened.store.run(queries.matches, ladder="duel")
        mine = {entry.match: seat for entry in matches for seat in entry.seats if seat.bot == "leaver"}
        assert {(seat.version, seat.faults) for seat in mine.values()} == {("7", 0)}
        told = [f"{name} greed place {seat.place} of 2, score {seat.score}" for name, seat in mine.items()]
        assert (len(said), sorted(said)) == (2, sorted(told))


@pytest.mark.parametrize("is_terminal", [False, True])
async def test_what_can_no_longer_be_written_is_lost_and_nothing_else(made: Made, is_terminal: bool) -> None:
    """As when `head` or `tee` has ended, which had its lines, or when its terminal is closed, which tells it to go."""
    told = asyncio.Event()

    async def hold(request: arena_pb2.PlayRequest) -> None:
        if not request.answers or told.is_set():
            return
        told.set()
        if is_terminal:
            os.close(reads)
        else:
            process.send_signal(signal.SIGTERM)

    def make_it_talk(envelope: arena_pb2.PlayResponse) -> None:
        envelope.problems.add(text="this is said on stderr")

    reads, writes = os.openpty() if is_terminal else os.pipe()
    terminal = os.ttyname(writes) if is_terminal else None
    if not is_terminal:
        os.close(reads)
    async with (
        small_arena(games=["greed"], matches=2, hold=hold, tamper=make_it_talk) as server,
        running(made, server.address, Start(writes, terminal), CUTPURSE_BOT="me") as process,
    ):
        os.close(writes)
        async with asyncio.timeout(WAIT_S):
            assert await process.wait() == 0
    assert not any(request.give_ups for request in server.requests)
    assert [one.known for session in server.sessions.values() for one in session.tables.values()] == [True, True]


async def test_told_again_it_ends_at_once(made: Made) -> None:
    """As when it plays on after its terminal was closed, and somebody will not wait."""

    async def hold(request: arena_pb2.PlayRequest) -> None:
        if request.leaving:
            process.send_signal(signal.SIGTERM)
            await process.wait()
        elif request.answers:
            process.send_signal(signal.SIGHUP)

    async with (
        small_arena(games=["greed"], hold=hold) as server,
        running(made, server.address, CUTPURSE_BOT="me") as process,
        asyncio.timeout(WAIT_S),
    ):
        assert await process.wait() == 130


async def test_under_nohup_it_plays_on_when_its_terminal_is_closed(made: Made, tmp_path: Path) -> None:
    if made.manifest.runtime == "node":
        pytest.skip("Node forgets at its start that SIGHUP was ignored")
    duel = Ladder("duel", "greed", 2, control=PATIENT)
    async with running_arena(tmp_path, [duel]) as arena, RawBot(arena.address) as other:
        await other.hello("other")
        async with running(made, arena.address, Start(hangup=signal.SIG_IGN), CUTPURSE_BOT="me") as process:
            asked = await other.decision()
            process.send_signal(signal.SIGHUP)
            await other.answer(asked)
            async with asyncio.timeout(WAIT_S):
                for _ in range(2):
                    assert not (await other.play_on()).voided
            assert process.returncode is None


async def test_no_token_goes_to_another_machine_without_tls(made: Made) -> None:
    token = new_token().reveal()
    for elsewhere in ("league.example:7777", "127.0.0.1.example:7777"):
        async with running(made, elsewhere, CUTPURSE_TOKEN=token, CUTPURSE_BOT="me") as process:
            code, said, errors = await last_words(process)
        assert (code, said, len(errors)) == (6, [], 1)
        assert errors[0].startswith("me: ")
        assert f"https://{elsewhere}" in errors[0]
        assert token[13:] not in errors[0]


async def test_certificates_that_cannot_be_read_are_told_in_a_line(made: Made, tmp_path: Path) -> None:
    ours = {"CUTPURSE_CA": str(tmp_path / "none.pem"), "CUTPURSE_BOT": "me"}
    async with running(made, "https://localhost:1", **ours) as process:
        code, said, errors = await last_words(process)
    assert (code, said, len(errors)) == (2, [], 1)
    assert errors[0].startswith("me: ")
    assert "none.pem" in errors[0]


@pytest.mark.parametrize(
    ("variable", "value", "exit_code"),
    [
        ("CUTPURSE_SERVER", "http://127.0.0.1:1", 2),
        ("CUTPURSE_SERVER", "localhost", 2),
        ("CUTPURSE_RECONNECT_TIMEOUT", "soon", 2),
        ("CUTPURSE_LADDER", "duel", 2),
        ("CUTPURSE_LADDER", "greed/duel, greed/", 2),
        ("CUTPURSE_LADDER", "greed/du el", 2),
        ("CUTPURSE_LADDER", "greed/duel/trio", 2),
        ("CUTPURSE_CA", __file__, 2),  # which holds no certificate
        ("CUTPURSE_TOKEN", "cutp_half\nof-it", 6),
    ],
)
async def test_what_makes_no_sense_is_told_in_a_line(made: Made, variable: str, value: str, exit_code: int) -> None:
    ours = {"CUTPURSE_BOT": "me", "CUTPURSE_RECONNECT_TIMEOUT": "1", variable: value}
    async with running(made, ours.pop("CUTPURSE_SERVER", "https://localhost:1"), **ours) as process:
        code, said, errors = await last_words(process)
    assert (code, said, len(errors)) == (exit_code, [], 1)
    assert errors[0].startswith("me: CUTPURSE_")
    assert variable in errors[0]
    assert "of-it" not in errors[0]


async def test_it_says_on_which_ladders_it_plays(made: Made) -> None:
    ladders = "szmal/alley,greed/duel, greed/class"
    async with (
        small_arena(games=["greed"]) as server,
        running(made, server.address, CUTPURSE_BOT="me", CUTPURSE_LADDER=ladders) as process,
        asyncio.timeout(WAIT_S),
    ):
        assert process.stdout is not None
        assert b" place " in await process.stdout.readline()
    told = {wanted.game: list(wanted.ladders) for wanted in server.hellos[0].games}
    assert (len(server.hellos[0].games), told) == (2, {"szmal": ["alley"], "greed": ["duel", "class"]})


async def test_it_plays_on_the_ladder_that_it_is_told_and_on_no_other(made: Made, tmp_path: Path) -> None:
    ladders = [Ladder(name, "greed", 2, control=PATIENT) for name in ("class", "duel")]
    async with running_arena(tmp_path, ladders) as arena, RawBot(arena.address) as other:
        await other.hello("other")
        async with running(made, arena.address, CUTPURSE_BOT="me", CUTPURSE_LADDER="greed/duel"):
            async with asyncio.timeout(WAIT_S):
                for _ in range(3):
                    await other.play_on()
        assert {entry.ladder for entry in arena.opened.store.run(queries.matches)} == {"duel"}
        async with running(made, arena.address, CUTPURSE_BOT="me", CUTPURSE_LADDER="greed/dual") as process:
            code, said, errors = await last_words(process)
        assert (code, said, len(errors)) == (1, [], 1)
        assert "no ladder of greed is called 'dual' (did you mean 'duel'?); there are: class, duel" in errors[0]


async def test_told_to_go_as_it_is_let_in_it_plays_what_it_was_given(made: Made) -> None:
    """It has been told of a match, and asks what the numbers mean, when the signal comes."""
    asked, is_told = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        asked.set()
        await is_told.wait()

    async with small_arena(games=["greed"], hold_catalogues=hold) as server:
        async with running(made, server.address, CUTPURSE_BOT="me") as process:
            async with asyncio.timeout(WAIT_S):
                await asked.wait()
            process.send_signal(signal.SIGTERM)
            with suppress(TimeoutError):  # whoever would go at once has gone by then
                await asyncio.wait_for(process.wait(), 1.0)
            is_told.set()
            code, said, _ = await last_words(process)
        assert (code, len(said), [" place " in line for line in said]) == (0, 1, [True])
        assert [meeting.known for session in server.sessions.values() for meeting in session.tables.values()] == [True]


async def test_told_to_go_before_there_is_a_server_it_ends_well(made: Made) -> None:
    async with running(made, "127.0.0.1:1", CUTPURSE_BOT="me") as process:
        assert process.stderr is not None
        async with asyncio.timeout(WAIT_S):
            assert (await process.stderr.readline()).startswith(b"me: away from 127.0.0.1:1: ")
        process.send_signal(signal.SIGTERM)
        code, said, _ = await last_words(process)
    assert (code, said) == (0, [])


async def test_told_to_go_before_a_server_has_said_a_word_it_ends_well(made: Made) -> None:
    dialled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def is_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        dialled.set_result(None)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(is_silent, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        async with running(made, f"{host}:{port}", CUTPURSE_BOT="me") as process:
            async with asyncio.timeout(WAIT_S):
                await dialled
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(WAIT_S):
                assert await process.wait() == 0


async def test_it_stays_away_as_long_as_it_is_told(made: Made) -> None:
    full = Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, "the ladder is full", "FULL", 2_000)
    async with (
        small_arena(refuse=[full]) as server,
        running(made, server.address, CUTPURSE_BOT="me") as process,
        asyncio.timeout(WAIT_S),
    ):
        assert process.stdout is not None
        assert b" place " in await process.stdout.readline()
    refused_at, anew_at = server.hellos_at
    assert anew_at - refused_at > 1.9  # half a second, if it waited as it likes


async def test_whoever_is_forgotten_says_hello_anew_at_once(made: Made) -> None:
    """However long it waits by then for a server that was away: this one is there."""
    away = Ending(text="away")

    def forget(_: str, number: int) -> tuple[bool, Ending] | None:
        if len(server.hellos) > 1 or number != 3:
            return None
        server.sessions.clear()
        server.refuse += [away, away]
        return False, away

    async with (
        small_arena(breaks=forget) as server,
        running(made, server.address, CUTPURSE_BOT="me") as process,
        asyncio.timeout(WAIT_S),
    ):
        assert process.stdout is not None
        assert b" place " in await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        code, _, _ = await last_words(process)
    assert code == 0
    assert [hello.HasField("resume") for hello in server.hellos] == [False, True, True, True, False]
    *_, refused_at, anew_at = server.hellos_at
    assert anew_at - refused_at < 2.0  # the next wait would have been at least that long


async def test_whoever_is_not_let_in_ends_with_the_words_of_the_server(made: Made) -> None:
    refusal = Ending(grpc.StatusCode.FAILED_PRECONDITION, "the server speaks version 2.0", "PROTOCOL_VERSION")
    async with small_arena(refuse=[refusal]) as server, running(made, server.address, CUTPURSE_BOT="me") as process:
        code, said, errors = await last_words(process)
    assert (code, said, len(errors)) == (1, [], 1)
    assert errors[0].startswith("me: ")
    assert "the server speaks version 2.0" in errors[0]
    assert [(hello.bot, hello.version or "1") for hello in server.hellos] == [("me", "1")]


async def test_it_follows_to_the_host_that_it_dialled_and_to_no_other(made: Made) -> None:
    async with Host(is_on_a_port=True) as first, Host(is_on_a_port=True) as second:
        first.sends_to = second.address
        second.sends_to = first.address.replace("127.0.0.1", "localhost")
        async with running(made, first.address, CUTPURSE_BOT="me") as process:
            code, said, errors = await last_words(process)
    assert (code, said, len(first.hellos), len(second.hellos)) == (6, [], 1, 1)
    assert errors[0] == f"me: the server at {first.address} sends the bot to {second.address}"
    assert errors[1].startswith(f"me: the server at {second.address} sends the bot elsewhere: {second.sends_to} ")
    assert errors[1].endswith("if that host is of the same league: CUTPURSE_TRUST=localhost")


async def test_it_reads_each_address_as_the_sdk_does(made: Made) -> None:
    addresses = dict(enumerate((*HOSTILE, *SOCKETS, *DIALLED)))
    assert len({*addresses.values()}) == len(addresses)  # each is refused once
    expected = dict.fromkeys(addresses, "what it names is no address of a server")
    for at, text in addresses.items():
        if text in DIALLED:
            host = text.removeprefix("https://").rpartition(":")[0].strip("[]").lower()
            hint = f"; if that host is of the same league: CUTPURSE_TRUST={host}"
            why = " without TLS" if host.endswith(".league.example") else hint
            expected[at] = f"{text} would get the token{why}"
    said: dict[int, str] = {}
    ours = {"CUTPURSE_BOT": "me", "CUTPURSE_TRUST": ".league.example"}
    async with Host(is_on_a_port=True) as server, asyncio.timeout(WAIT_S):
        server.elsewhere = tuple((str(number), text) for number, text in addresses.items())
        async with running(made, server.address, **ours) as process:
            assert process.stderr is not None
            while len(said) < len(expected):
                line = (await process.stderr.readline()).decode()
                assert line, f"it ended, and said of {len(said)} addresses why it doesn't dial them"
                number, _, why = line.rstrip("\n").removeprefix("me: does not play on ladder ").partition(": ")
                said.update({int(number): why} if number.isdigit() else {})
    assert said == expected


@pytest.mark.parametrize("address", ["localhost:1#:7777", "ipv4:127.0.0.1:1"])
async def test_its_server_is_a_host_and_a_port(made: Made, address: str) -> None:
    async with running(made, address, CUTPURSE_BOT="me") as process:
        code, said, errors = await last_words(process)
    assert (code, said, len(errors)) == (2, [], 1)
    assert address in errors[0]


async def test_without_a_server_it_does_not_stay_for_ever(made: Made) -> None:
    async with running(made, "127.0.0.1:1", CUTPURSE_BOT="me", CUTPURSE_RECONNECT_TIMEOUT="0.1") as process:
        code, said, errors = await last_words(process)
    assert (code, said) == (1, [])
    assert errors
    assert all(line.startswith("me: ") for line in errors)
