"""The bot in JavaScript plays every game on a real server, comes back, leaves politely, and says why it cannot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from pathlib import Path

import grpc
import pytest

from cutpurse.bots import node_bot
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.server.ladder_config import default_ladders
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.errors import NotFound
from tests.roots import CHECKOUT
from tests.sdk.arena import Ending
from tests.sdk.arena import arena as small_arena
from tests.server.arenas import running_arena
from tests.server.raw_bot import Ended, RawBot

MATCHES = 4  # of each game
SHIFT = 100  # options that are not there, before those that are


def node_command() -> list[str]:
    """How the bot is started; where that cannot be the test is skipped, with the reason."""
    try:
        return node_bot.command()
    except NotFound as reason:
        pytest.skip(str(reason))


@asynccontextmanager
async def node_at(address: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The bot as a process that is gone in the end."""
    environment = {**os.environ, "CUTPURSE_SERVER": address, "CUTPURSE_BOT": "node"}
    process = await asyncio.create_subprocess_exec(
        *node_command(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def takes_anything(address: str, name: str) -> None:
    """An opponent: any option, all equally likely."""
    chance = random.Random(name)
    async with RawBot(address) as bot:
        await bot.hello(name, max_tables=8)
        while True:
            asked = await bot.decision()
            await bot.answer(asked, chance.randrange(len(asked.options)))


async def test_it_plays_every_game_well_and_leaves_when_told(tmp_path: Path) -> None:
    node_command()
    async with (
        running_arena(tmp_path, default_ladders(matches_wanted=MATCHES)) as arena,
        node_at(arena.address) as node,
    ):
        others = [asyncio.create_task(takes_anything(arena.address, f"any_{number}")) for number in range(3)]
        assert node.stdout is not None
        played: Counter[str] = Counter()
        while played.total() < MATCHES * len(GAMES):
            line = (await node.stdout.readline()).decode().split()
            assert line[2] == "place", line
            played[line[1]] += 1
        node.send_signal(signal.SIGTERM)
        _, said = await node.communicate()
        for other in others:
            other.cancel()
            with contextlib.suppress(asyncio.CancelledError, Ended):
                await other
        assert played == dict.fromkeys(GAMES, MATCHES)
        assert (node.returncode, said.decode().splitlines()[1:]) == (0, [])
        seats = [
            seat
            for game in GAMES
            for entry in arena.opened.store.run(queries.matches, ladder=game)
            for seat in entry.seats
        ]
    assert len(seats) == 4 * MATCHES * len(GAMES)
    mine = [seat for seat in seats if seat.bot == "node"]
    assert len(mine) == MATCHES * len(GAMES)
    assert sum(seat.faults for seat in mine) == 0
    assert sum(seat.place or 4 for seat in mine) / len(mine) < 2.0  # by chance it is 2.5


async def test_a_lost_stream_is_resumed_and_what_is_open_played_on() -> None:
    node_command()

    def breaks(session: str, number: int) -> tuple[bool, Ending] | None:
        return (True, Ending()) if number == 7 and len(server.hellos) == 1 else None

    async with small_arena(games=["greed"], breaks=breaks) as server, node_at(server.address) as node:
        assert node.stdout is not None
        line = (await node.stdout.readline()).decode()
        assert " greed place " in line
    assert [hello.resume.session for hello in server.hellos] == ["", "session 0"]
    assert not any(request.give_ups for request in server.requests)


async def test_a_catalogue_that_was_not_to_be_had_is_asked_for_again() -> None:
    node_command()
    async with small_arena(games=["szmal"], no_catalogues=1) as server, node_at(server.address) as node:
        assert node.stdout is not None
        assert " szmal place " in (await node.stdout.readline()).decode()
    assert [hello.resume.session for hello in server.hellos] == ["", "session 0"]


async def test_what_was_answered_illegally_is_put_right() -> None:
    node_command()

    def shift(response: arena_pb2.PlayResponse) -> None:
        for decision in response.decisions:
            options = list(decision.options)
            del decision.options[:]
            decision.options.extend([game_pb2.Act(verb=1)] * SHIFT + options)

    async with small_arena(games=["greed"], tamper=shift) as server, node_at(server.address) as node:
        assert node.stdout is not None
        assert " greed place " in (await node.stdout.readline()).decode()
    answers = [answer for request in server.requests for answer in request.answers]
    illegal = [at for at, answer in enumerate(answers) if answer.option >= SHIFT]
    assert len(illegal) > 3
    for at in illegal:
        assert answers[at + 1].decision == answers[at].decision
        assert answers[at + 1].option < SHIFT
    (meeting,) = server.sessions["session 0"].tables.values()
    assert not meeting.match.faults


async def test_where_its_own_code_fails_it_gives_up_and_plays_on() -> None:
    node_command()
    broken: list[int] = []

    def break_one(response: arena_pb2.PlayResponse) -> None:
        for decision in response.decisions:
            if not broken:
                broken.append(decision.decision)
                decision.options[0].verb = 999

    async with small_arena(games=["greed"], tamper=break_one) as server, node_at(server.address) as node:
        assert node.stdout is not None
        assert " greed place " in (await node.stdout.readline()).decode()
    given_up = [given_up for request in server.requests for given_up in request.give_ups]
    assert [one.decision for one in given_up] == broken
    assert given_up[0].reason.startswith("TypeError: ")


async def test_whoever_is_not_let_in_ends_with_the_words_of_the_server() -> None:
    node_command()
    refusal = Ending(grpc.StatusCode.FAILED_PRECONDITION, "the server speaks version 2.0", "PROTOCOL_VERSION")
    async with small_arena(refuse=[refusal]) as server, node_at(server.address) as node:
        _, said = await node.communicate()
    assert node.returncode == 1
    assert said.decode() == "node: the server does not let this bot play: the server speaks version 2.0\n"


async def test_told_to_go_without_a_server_it_goes() -> None:
    node_command()
    async with node_at("127.0.0.1:1") as node:
        assert node.stderr is not None
        assert b"away from 127.0.0.1:1" in await node.stderr.readline()
        node.send_signal(signal.SIGTERM)
        assert await node.wait() == 0


# -- where it is
def test_the_demo_finds_it() -> None:
    (point,) = entry_points(group="cutpurse.programs", name="node")
    assert point.load() is node_bot.command


def test_without_node_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotFound, match="Node is not installed"):
        node_bot.command()


def program(folder: Path, name: str, script: str) -> None:
    """A program that is found in this folder."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As in a wheel: no checkout around it, an empty cache, and a folder for programs."""
    package = tmp_path / "site" / "cutpurse"
    (package / "bots" / "javascript").mkdir(parents=True)
    (package / "v1").mkdir()
    for name in node_bot.FILES:
        content = (CHECKOUT / "sample_bots" / "javascript" / name).read_bytes()
        (package / "bots" / "javascript" / name).write_bytes(content)
    for proto in (CHECKOUT / "proto/cutpurse/v1").glob("*.proto"):
        (package / "v1" / proto.name).write_bytes(proto.read_bytes())
    monkeypatch.setattr(node_bot, "__file__", str(package / "bots" / "node_bot.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return programs


def test_out_of_a_wheel_it_is_copied_to_the_cache_with_its_packages_once(away: Path) -> None:
    program(away, "node", "echo v20.1.0")
    # As npm does: the list of what is there comes last.
    program(
        away,
        "npm",
        f"echo . >> {away}/calls; mkdir node_modules && cp package-lock.json node_modules/.package-lock.json",
    )
    first = node_bot.command()
    assert node_bot.command() == first == [str(away / "node"), str(node_bot.folder() / "bot.mjs")]
    assert (away / "calls").read_text(encoding="utf-8") == ".\n"
    place = node_bot.folder()
    assert place.is_relative_to(away.parent / "cache" / "cutpurse")
    assert (place / "../../proto/cutpurse/v1/arena.proto").exists()
    assert not list(place.glob(".installing-*"))


def test_packages_of_another_version_are_replaced(away: Path) -> None:
    program(away, "node", "echo v20.1.0")
    program(away, "npm", "mkdir node_modules && cp package-lock.json node_modules/.package-lock.json")
    older = node_bot.folder() / "node_modules" / ".package-lock.json"
    older.parent.mkdir()
    older.write_text('{"packages": {"node_modules/long": {"version": "1.0.0"}}}', encoding="utf-8")
    node_bot.command()
    assert older.read_bytes() == (node_bot.folder() / node_bot.LOCK).read_bytes()


@pytest.mark.parametrize(
    ("node", "npm", "reason"),
    [
        ("echo v16.20.0", "", r"Node 18 or newer is needed; .*node is v16\.20\.0"),
        ("exit 1", "", "is of no known version"),
        (
            "echo v20.1.0",
            "echo npm error code ENOTFOUND >&2; exit 1",
            "cannot install the packages: npm error code ENOTFOUND",
        ),
        ("echo v20.1.0", "exit 1", "it does not say why"),
    ],
)
def test_what_is_missing_is_named_and_nothing_half_done_is_left(away: Path, node: str, npm: str, reason: str) -> None:
    program(away, "node", node)
    program(away, "npm", npm)
    with pytest.raises(NotFound, match=reason):
        node_bot.command()
    assert not list(node_bot.folder().glob(".installing-*"))
    assert not (node_bot.folder() / "node_modules").exists()


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_versions_are_exact_and_the_lock_names_no_host(language: str) -> None:
    folder = CHECKOUT / "sample_bots" / language
    lock = (folder / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') == lock.count('"node_modules/')
    package = (folder / "package.json").read_text(encoding="utf-8")
    assert "^" not in package
    assert "~" not in package
