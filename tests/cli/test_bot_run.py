"""`cutpurse bot run` and `run`: names, addresses, what is printed where, exit codes, and how a bot is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.engine.commitment import commitment
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.run import connect, default_bot_name, run
from cutpurse.v1 import arena_pb2
from cutpurse.wire.server_address import server_address
from tests.roots import CHECKOUT
from tests.sdk.arena import Arena, Ending, arena
from tests.sdk.bot_files import CRASHES, FIRST, bot_file


class First:
    def choose(self, view: Any, decision: Any) -> int:
        return 0


class Bot(First):
    pass


# -- names and addresses
@pytest.mark.parametrize(
    ("maker", "name"),
    [
        (BotMaker("my_bot.py", First), "my_bot"),
        (BotMaker("bots/My Bot-2.py", First), "my_bot-2"),
        (BotMaker("my_bot.py:Bot", First), "my_bot"),
        (BotMaker("my_bot.py:CarefulBot", First), "careful_bot"),
        (BotMaker("random", First), "random"),
        (BotMaker("First", First), "first"),
        (BotMaker("Bot", Bot), "test_bot_run"),
        (BotMaker("x" * 40, First), "x" * 32),
        (BotMaker("_private", First), "private"),
    ],
)
def test_a_bot_plays_under_the_name_of_its_class_or_file(maker: BotMaker, name: str) -> None:
    assert default_bot_name(maker) == name


@pytest.mark.parametrize("called", ["???.py", "<lambda>"])
def test_a_name_that_is_none_is_asked_for(called: str) -> None:
    with pytest.raises(UsageError, match="no name can be made of"):
        default_bot_name(BotMaker(called, First))


def test_the_environment_names_the_server_unless_the_command_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_address() == "127.0.0.1:7777"
    monkeypatch.setenv("CUTPURSE_SERVER", "there:1")
    assert server_address() == "there:1"
    assert server_address("here:2") == "here:2"


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"name": "My Bot"}, "'My Bot' is no name: it has 1 to 32 of a-z"),
        ({"version": ""}, "'' is no version"),
        ({"games": "chess"}, "no game is called 'chess'"),
        ({"max_tables": 0}, "0 tables cannot be played at"),
        ({"matches": 0}, "0 matches cannot be played"),
        ({"server": "here"}, "is no address of a server"),
    ],
)
def test_what_makes_no_sense_is_said_before_a_connection_is_made(
    wishes: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(First, **wishes) == 2
    assert says in capsys.readouterr().err


def test_whoever_debugs_gets_the_exception() -> None:
    with pytest.raises(CutpurseError):
        run(First, server="here", debug=True)


async def test_in_a_loop_that_runs_as_in_a_notebook_one_line_says_what_to_await(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(First, "greed") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "one runs here already, as in a notebook: `await connect(...)` of cutpurse.sdk.run" in line
    async with arena(games=["greed"], matches=1) as server:
        came = await connect(First, "greed", server=server.address, matches=1)
    assert (came.matches, came.faults) == (1, 0)


# -- the command, in a process of its own
async def begin(server: Arena, *arguments: object, is_program: bool = False) -> asyncio.subprocess.Process:
    """`cutpurse bot run`, started, or the file of a bot itself."""
    words = arguments[:1] if is_program else ("-m", "cutpurse.cli", "bot", "run", *arguments)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *map(str, words)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"CUTPURSE_SERVER": server.address},
    )


async def run_command(server: Arena, *arguments: object) -> tuple[int | None, str, str]:
    """Exit code, stdout and stderr."""
    process = await begin(server, *arguments)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_a_file_plays_and_each_match_is_a_line(tmp_path: Path) -> None:
    path = bot_file(tmp_path, FIRST)
    async with arena(games=["greed", "szmal"], matches=3) as server:
        code, out, err = await run_command(server, path, "--matches", 3, "--version", "7", "--tables", 2)
    assert (code, out) == (0, "")
    lines = err.splitlines()
    assert lines[0] == f"my_bot (version 7) plays at {server.address} (test)"
    assert len(lines) == 4
    for line in lines[1:]:
        assert re.fullmatch(r"match [0-9a-f]{8} (greed|szmal) seat \d: place \d of 3, score [\d,]+", line)
    (hello,) = server.hellos
    assert (hello.bot, hello.version, hello.max_tables) == ("my_bot", "7", 1)


async def test_the_document_tells_of_every_match(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "print('hello')\n" + FIRST)
    async with arena(games=["greed"], matches=2) as server:
        wishes = ("--matches", 2, "--game", "greed", "--quiet", "--json", "--name", "me")
        code, out, err = await run_command(server, path, *wishes)
    assert code == 0
    document = json.loads(out)
    assert (document["bot"], document["version"], document["faults"]) == ("me", "1", 0)
    assert [match["match"][:4] for match in document["matches"]] in (["0001", "0002"], ["0002", "0001"])
    for match in document["matches"]:
        assert match["seats"][match["seat"]] == "me"
        assert sorted(match["places"])[0] == 1
        assert match["end_causes"] == ["normal"] * 3
        assert (match["game"], match["voided"], match["rated"]) == ("greed", False, True)
        seed, params = sha256(match["match"].encode()).digest(), {"board": match["match"], "game": "greed"}
        assert match["commitment"] == commitment(seed, json.dumps(params).encode()).hex()
    assert err == f"hello\nme (version 1) plays at {server.address} (test)\n"
    assert [game.game for game in server.hellos[0].games] == ["greed"]


async def test_the_game_of_a_ladder_is_asked_of_the_server() -> None:
    there = {"class": "szmal", "duel": "greed", "greed": "greed", "late": "greed"}
    busy = Ending(grpc.StatusCode.UNAVAILABLE, "not now")
    async with arena(ladders=there, no_ladders=[busy]) as server:
        wishes = ("--ladder", "duel", "--ladder", "late", "--ladder", "class", "--game", "bag_o_loot", "--matches", 1)
        code, out, err = await run_command(server, "random", *wishes)
    assert (code, out) == (0, "")
    assert err.splitlines()[0] == f"no server at {server.address} yet (not now); trying again"
    (hello,) = server.hellos
    wanted = {one.game: list(one.ladders) for one in hello.games}
    assert wanted == {"bag_o_loot": [], "greed": ["duel", "late"], "szmal": ["class"]}


async def test_a_ladder_that_is_not_there_is_exit_code_4_and_those_that_are_there_are_named() -> None:
    async with arena(ladders={"greed": "greed", "class": "szmal"}) as server:
        code, out, err = await run_command(server, "random", "--ladder", "clas")
    assert (code, out) == (4, "")
    no_ladder = "has no ladder 'clas' (did you mean 'class'?) (a private one needs a token); there are: class, greed"
    assert err == f"cutpurse: the server at {server.address} {no_ladder}\n"
    assert not server.hellos


async def test_a_token_that_is_not_good_is_said_before_the_ladders() -> None:
    bad = Ending(grpc.StatusCode.UNAUTHENTICATED, "no", "TOKEN_INVALID")
    async with arena(no_ladders=[bad]) as server:
        code, _, err = await run_command(server, "random", "--ladder", "greed")
    assert code == 6
    assert "lets bots in by token, and there is none" in err


async def test_a_bot_that_fails_is_exit_code_3(tmp_path: Path) -> None:
    async with arena(games=["greed"]) as server:
        code, _, err = await run_command(server, bot_file(tmp_path, CRASHES), "--matches", 1)
    assert code == 3
    assert "my_bot.py:4: KeyError: 'no plan'; offered were " in err


async def test_a_bot_that_cannot_read_what_it_is_asked_is_told_so(tmp_path: Path) -> None:
    def spoil(response: arena_pb2.PlayResponse) -> None:
        for decision in response.decisions:
            for option in decision.options:
                option.cards[:] = [4_000]

    async with arena(games=["greed"], tamper=spoil) as server:
        code, _, err = await run_command(server, bot_file(tmp_path, FIRST), "--matches", 1)
    assert code == 3
    assert "ValueError: card 4000 where there are" in err
    assert "offered were" not in err


async def test_a_bot_that_was_taken_over_is_exit_code_3(tmp_path: Path) -> None:
    def time_out(response: arena_pb2.PlayResponse) -> None:
        for ended in response.ends:
            for seat in ended.seats:
                seat.end_cause = arena_pb2.END_CAUSE_TIMEOUT

    async with arena(games=["greed"], matches=2, tamper=time_out) as server:
        code, out, err = await run_command(server, bot_file(tmp_path, FIRST), "--matches", 2, "--json")
    assert code == 3, "though no method of the bot failed"
    document = json.loads(out)
    assert (document["faults"], document["taken_over"]) == (0, 2)
    assert "my_bot was taken over in 2 matches, and came last there" in err
    assert ", taken over: timeout" in err


@pytest.mark.parametrize(
    ("ending", "exit_code"),
    [
        (Ending(grpc.StatusCode.ABORTED, "a newer stream took over", "SUPERSEDED"), 1),
        (Ending(grpc.StatusCode.FAILED_PRECONDITION, "no such name", "HELLO"), 2),
        (Ending(grpc.StatusCode.NOT_FOUND, "no such game", "NOT_FOUND"), 4),
    ],
)
async def test_what_the_server_says_is_one_line_and_an_exit_code(ending: Ending, exit_code: int) -> None:
    async with arena(refuse=[ending]) as server:
        code, out, err = await run_command(server, "random")
    assert (code, out) == (exit_code, "")
    assert err == f"cutpurse: the server at {server.address}: {ending.text}\n"


async def test_no_server_is_exit_code_5(tmp_path: Path) -> None:
    nobody = Arena(address=f"unix:{tmp_path}/nobody")
    code, out, err = await run_command(nobody, "random", "--reconnect-timeout", 0.1)
    assert (code, out) == (5, "")
    assert err.splitlines()[-1].startswith(f"cutpurse: no server at {nobody.address} for 0.1 s: ")


@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
async def test_an_open_match_is_played_to_the_end_unless_it_is_stopped_twice(signals: list[signal.Signals]) -> None:
    running, goes_on = asyncio.Event(), asyncio.Event()

    async def hold(request: arena_pb2.PlayRequest) -> None:
        if request.answers:  # in the middle of the match
            running.set()
            await goes_on.wait()

    async with arena(games=["greed"], matches=100, hold=hold) as server:
        process = await begin(server, "random", "--tables", 1)
        assert process.stderr is not None
        await running.wait()
        lines = []
        for number in signals:
            process.send_signal(number)
            lines.append((await process.stderr.readline()).decode())
            if not lines[-1].startswith(("leaving", "interrupted")):
                lines.append((await process.stderr.readline()).decode())
        goes_on.set()
        out, err = await process.communicate()
    assert out == b""
    assert lines[1] == "leaving: 1 match is played to the end; once more, and it goes at once\n"
    if len(signals) == 1:
        assert process.returncode == 0
        assert re.fullmatch(r"match 0001[0-9a-f]{4} greed seat 1: place \d of 3, score \d+\n", err.decode())
        assert any(request.leaving for request in server.requests)
    else:
        assert process.returncode == 130
        assert lines[2] == "interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("is_program", [False, True])
async def test_an_open_match_is_played_to_the_end_when_nobody_is_told_any_more(
    is_program: bool, number: signal.Signals, tmp_path: Path
) -> None:
    """As when Ctrl-C ends `tee` too, which had its lines, or when its terminal is closed."""
    path = bot_file(
        tmp_path,
        """
import sys
class Bot:
    def choose(self, view, decision):
        print("one of", decision.count)
        print("here", file=sys.stderr, flush=True)
        return 0
if __name__ == "__main__":
    from cutpurse.sdk.run import run
    sys.exit(run(Bot, name="talker", max_tables=1))
""",
    )
    running, goes_on = asyncio.Event(), asyncio.Event()

    async def hold(request: arena_pb2.PlayRequest) -> None:
        if request.answers:
            running.set()
            await goes_on.wait()

    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # else it hears of none where these tests run under nohup
    async with arena(games=["greed"], matches=100, hold=hold) as server:
        process = await begin(server, path, "--tables", 1, is_program=is_program)
        signal.signal(signal.SIGHUP, before)
        assert process.stderr is not None
        await running.wait()
        process.stderr._transport.close()  # type: ignore[attr-defined]  # there is no other way to have it closed
        for _ in range(2 if number == signal.SIGHUP else 1):  # a shell and the system both send that
            process.send_signal(number)
        goes_on.set()
        assert await process.wait() == 0
    assert any(request.leaving for request in server.requests)
    assert not any(request.give_ups for request in server.requests)
    assert len(server.sessions["session 0"].tables) == 1


async def test_a_slow_bot_can_be_stopped_at_once(tmp_path: Path) -> None:
    """The thread it thinks in holds nobody up."""
    path = bot_file(
        tmp_path,
        """
import sys, threading
class Bot:
    def choose(self, view, decision):
        print("thinking", file=sys.stderr)
        threading.Event().wait()
""",
    )
    async with arena(games=["greed"]) as server:
        process = await begin(server, path)
        assert process.stderr is not None
        while b"thinking" not in await process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert b"leaving" in await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 130


# -- what it costs to have it
def test_commands_that_need_no_server_do_not_load_what_speaks_to_one() -> None:
    loaded = "import sys, cutpurse.cli.main; print(*{'asyncio', 'grpc', 'google.protobuf'} & {*sys.modules})"
    shown = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert shown.stdout == "\n"


def test_a_bot_that_plays_has_no_other_command_in_its_process() -> None:
    code = (
        "from cutpurse.cli.main import main; import atexit, sys; atexit.register(lambda: print(*sys.modules)); main()"
    )
    words = [sys.executable, "-c", code, "bot", "run", "--help"]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert "cutpurse.cli.commands.bot_run" in loaded
    assert not {
        "cutpurse.sdk.local",
        "cutpurse.sdk.matches.match_file",
        "cutpurse.lab.tournament",
        "rich",
        "multiprocessing",
    } & {*loaded}


async def test_the_bot_of_the_page_plays(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs/how-to/play_on_a_server.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n# online\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    path = bot_file(tmp_path, source, "online.py")
    async with arena(games=["greed"], matches=10) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"CUTPURSE_SERVER": server.address},
        )
        out, err = await process.communicate()
    assert process.returncode == 0
    assert out.decode().count("places: ") == 10
    assert err.decode().startswith(f"always_safe (version 1) plays at {server.address} (test)\nmatch ")
