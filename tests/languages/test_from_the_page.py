"""A bot in Ruby, written from `docs/reference/protocol.md` alone to test that page, passes the check and plays."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Final

import pytest

from cutpurse.check import scenarios
from cutpurse.check.findings import CheckStatus
from cutpurse.check.scenarios import SCENARIOS
from cutpurse.cli.check_bot import check_bot
from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.server.ladder_config import Ladder
from tests.languages.test_conduct import is_leaving
from tests.languages.workshop import environment
from tests.roots import CHECKOUT
from tests.server.arenas import running_arena
from tests.server.raw_bot import RawBot

BOT: Final = Path(__file__).parent / "ruby" / "bot.rb"
PATIENT: Final = TimeControl(base_ms=60_000, bank_ms=60_000, handover_ms=60_000)
WAIT_S: Final = 240.0


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that starts the bot, with the messages that protoc has made; skipped where a tool is missing."""
    wanted = f"apt install {' '.join(BOT.with_name('debian.txt').read_text().split())}"
    for tool in ("ruby", "protoc"):
        if shutil.which(tool) is None:
            pytest.skip(f"missing: {tool} ({wanted})")
    if subprocess.run(["ruby", "-e", 'require "grpc"'], capture_output=True, check=False).returncode:
        pytest.skip(f"missing: gRPC for Ruby ({wanted})")
    made = tmp_path_factory.mktemp("ruby")
    protos = ["cutpurse/v1/arena.proto", "cutpurse/v1/game.proto"]
    subprocess.run(["protoc", "-I", CHECKOUT / "proto", f"--ruby_out={made}", *protos], check=True)
    return ["ruby", "-I", str(made), str(BOT)]


async def test_it_passes_every_scenario_with_every_game(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 60.0)
    # Slower answers warn, and other tests make it slow.
    findings = await check_bot(f"exec:{shlex.join(command)}", control=TimeControl(base_ms=30_000))
    # It is as short as the page: it stays at one server, which a league may have several of.
    warned = [(one.scenario, one.verdict) for one in findings if one.verdict is not CheckStatus.PASSED]
    assert warned == [("several servers", CheckStatus.WARNED)]
    assert len(findings) == len(SCENARIOS) + len(GAMES)


async def test_it_plays_rated_matches_and_leaves_at_sigterm(command: list[str], tmp_path: Path) -> None:
    duel = Ladder("duel", "greed", 2, control=PATIENT)
    async with running_arena(tmp_path, [duel]) as arena, RawBot(arena.address) as other:
        await other.hello("other")
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment(CUTPURSE_SERVER=arena.address, CUTPURSE_BOT="from-the-page"),
            stdout=PIPE,
            stderr=PIPE,
        )
        try:
            async with asyncio.timeout(WAIT_S):
                await other.play_on()
                asked = await other.decision()  # of the second match
                process.terminate()
                while not is_leaving("from-the-page", arena):
                    await asyncio.sleep(0)
                await other.answer(asked)
                assert not (await other.play_on()).voided
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()
        matches = arena.opened.store.run(queries.matches, ladder="duel")
    assert (process.returncode, err.decode()) == (0, "")
    seats = {entry.match: seat for entry in matches for seat in entry.seats if seat.bot == "from-the-page"}
    told = {f"{match} greed place {seat.place}" for match, seat in seats.items()}
    assert (len(told), set(out.decode().splitlines())) == (2, told)
    assert {(entry.is_rated, seat.faults) for entry in matches for seat in entry.seats} == {(True, 0)}


async def test_a_token_goes_to_no_other_machine_without_tls(command: list[str]) -> None:
    there = environment(CUTPURSE_SERVER="league.example:7777", CUTPURSE_TOKEN="cutp_secret")
    process = await asyncio.create_subprocess_exec(*command, env=there, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(WAIT_S):
        _, err = await process.communicate()
    assert process.returncode == 6
    assert "https://league.example:7777" in err.decode()
    assert "secret" not in err.decode()
