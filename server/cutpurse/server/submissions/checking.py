"""The check of a submitted bot: the scenarios of `cutpurse bot check`, and a match in which it has every seat.

The check runs in its own process, `python -m cutpurse.server.submissions.checking`, so that its load and its bugs do
not affect the server. The process reads its task as a line of JSON from standard input. It writes each finding as a
line to standard output, and ends when its parent ends. A runner runs the bot itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.check.check_run import check_program
from cutpurse.check.findings import CheckStatus, Failed, Finding
from cutpurse.check.scenarios import Scenario, Visit
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.process.interpreter import module_command
from cutpurse.process.last_words import last_words
from cutpurse.server.runners.port import ExitStatus, Runner, RunnerError, Running, runner_named
from cutpurse.server.submissions.tasks import play_task, without_paths
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder
from cutpurse.wire.guest import Guest, HostTable
from cutpurse.wire.local_arena import Host
from cutpurse.wire.local_match import match_ended, match_started
from cutpurse.wire.manifest import Manifest

__all__ = ["CHECK_S", "SubmissionCheck", "check_apart"]

CHECK_S: Final = 420.0  # for the whole check; a correct bot takes about ten seconds
DIAL_IN_S: Final = 30.0  # for the bot to connect; a busy machine starts programs slowly
NICE: Final = 10
LOOK_S: Final = 0.05
KEY: Final = "cutpurse/submissions/itself"


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """The result of a check; `why` is empty if it passed, else the reason in one line."""

    findings: tuple[Finding, ...]
    why: str = ""


def check_apart(
    runner: str,
    image: str,
    manifest: Manifest,
    games: Sequence[str],
    folder: Path,
    arena: Path,
    talk: Path,
    is_over: Callable[[], bool] = lambda: False,
) -> SubmissionCheck:
    """Check a bot in another process, and wait for the result.

    Args:
        runner: Name of the runner, see `runner_named`.
        image: Container image, see `runner_named`.
        manifest: Content of the bot's bot.toml.
        games: Games to check; empty for all games of the bot.
        folder: Folder with the unpacked and built bot.
        arena: Empty folder for the socket.
        talk: File for the bot's output.
        is_over: Called regularly; True stops the check.
    """
    command = {
        "runner": runner,
        "image": image,
        "manifest": asdict(manifest),
        "games": [*games],
        **{name: str(path) for name, path in (("folder", folder), ("arena", arena), ("talk", talk))},
    }
    findings: list[Finding] = []
    with subprocess.Popen(
        module_command("cutpurse.server.submissions.checking"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as child:
        assert child.stdin is not None
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        ears = threading.Thread(target=_hear, args=(child.stdout, findings), daemon=True)
        ears.start()
        with suppress(BrokenPipeError):
            child.stdin.write(json.dumps(command) + "\n")
            child.stdin.flush()
        waited_s = 0.0
        while child.poll() is None and waited_s < CHECK_S and not is_over():
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_S)
            waited_s += LOOK_S
        is_late = child.poll() is None
        with suppress(BrokenPipeError):
            child.stdin.close()  # ends the process and its bot
        with suppress(subprocess.TimeoutExpired):
            child.wait(10.0)
        child.kill()
        child.wait()
        ears.join(1.0)
    return SubmissionCheck(tuple(findings), _verdict(findings, child.returncode, is_late))


def _verdict(findings: Sequence[Finding], code: int, is_late: bool) -> str:
    failed = next((finding for finding in findings if finding.verdict is CheckStatus.FAILED), None)
    if failed is not None:
        return f"its check failed at {failed.scenario}: {failed.seen}"
    if is_late:
        return f"its check was not over in {CHECK_S:g} s"
    if code:
        return "its check broke down; it is not the bot's fault: submit it again"
    return ""


def _hear(pipe: Any, findings: list[Finding]) -> None:
    for line in pipe:
        told = json.loads(line)
        findings.append(Finding(told["scenario"], CheckStatus(told["verdict"]), told["seen"]))


# -- inside the check's process
class _Checked:
    """The bot's program, for the scenarios."""

    left_behind = 0  # the runner ends all processes of the bot together

    def __init__(self, running: Running, shown: Callable[[str], str], hear: Callable[[str], None]) -> None:
        self._running = running
        self._shown = shown
        self._hear = hear  # called with each line of its output, after its end

    @property
    def code(self) -> int | None:
        """Exit code; None while it runs."""
        ended = self._running.ended()
        return None if ended is None else ended.code or 0

    def how_it_ended(self) -> str:
        """Describe how it ended, or that it still runs."""
        ended = self._running.ended()
        return "still runs" if ended is None else _words(ended)

    def last_words(self) -> str:
        """Return the last lines of its output."""
        return last_words(self._shown(self._running.talk()).splitlines())

    def stop(self, grace_s: float = 2.0) -> bool:
        """Stop the program. Return whether it ended by itself within `grace_s` seconds."""
        began = time.monotonic()
        self._running.stop(grace_s)
        by_itself = time.monotonic() - began < grace_s  # otherwise the runner killed it
        for line in self._shown(self._running.talk()).splitlines():
            self._hear(line)
        return by_itself


def _words(ended: ExitStatus) -> str:
    return f"ended: {ended.text}"


async def _check(told: dict[str, Any], runner: Runner, say: Callable[[Finding], None]) -> None:
    said: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in told["manifest"].items()}
    manifest = Manifest(**said)
    folder, arena, talk = (Path(told[name]) for name in ("folder", "arena", "talk"))
    games = tuple(told["games"]) or manifest.games or tuple(GAMES)
    socket = arena / "bot.sock"
    async with Host(socket=socket) as host:
        socket.chmod(0o666)
        loop = asyncio.get_running_loop()

        def start() -> _Checked:
            try:
                running = runner.start(play_task(manifest, folder, arena, talk))
            except (RunnerError, OSError) as problem:
                raise Failed(f"it cannot be run: {without_paths(str(problem), folder, arena)}") from None
            _watch(running, lambda: loop.call_soon_threadsafe(host.changed))
            return _Checked(running, lambda text: without_paths(text, folder, arena), visit.hear)

        visit = Visit(host, games, start, dial_in_s=DIAL_IN_S)
        itself: list[tuple[str, Scenario]] = [
            (f"{game}, against itself", partial(_against_itself, game)) for game in games
        ]
        await check_program(visit, on_finding=say, more=itself)


def _watch(running: Running, tell: Callable[[], object]) -> None:
    """Call `tell` on another thread when the program has ended."""

    def wait() -> None:
        over = threading.Event()
        while running.ended() is None:
            over.wait(LOOK_S)
        with suppress(RuntimeError):  # the loop is closed
            tell()

    threading.Thread(target=wait, daemon=True).start()


async def _against_itself(game: str, visit: Visit) -> str:
    """Play a match in which the bot has every seat, each as its own table.

    Raises:
        Failed: If the bot gives no legal answer.
    """
    guest = await visit.guest()
    if game not in visit.plays(guest):
        return "it does not play this game"
    rules = GAMES[game]
    seats = rules.usual_seats
    if guest.max_tables < seats:
        return f"it sits at {guest.max_tables} tables, and a match has {seats} seats"
    match = Match(rules, [guest.hello.bot] * seats, _key(game), log=True)
    tables = [
        guest.start(match_started(game, match.game.settings, match.seats, seat, f"{game}-itself"))
        for seat in range(seats)
    ]
    encoders = [MatchEncoder(rules, match.game.settings, seats) for _ in range(seats)]
    told = [0] * seats
    answered = 0
    while not match.over:
        for asked in match.decisions():
            _put(guest, tables[asked.seat], encoders[asked.seat], match, asked.seat, told)
            await visit.reply(_At(guest, tables[asked.seat]), f"decision {asked.number + 1} of a match with itself")
            reply = tables[asked.seat].reply
            if not isinstance(reply, arena_pb2.Answer) or not 0 <= reply.option < len(asked.options):
                raise Failed(f"it gave no legal answer to {asked.ask} in a match with itself")
            match.answer(asked.seat, asked.number, reply.option)
            guest.accept(tables[asked.seat])
            answered += 1
    for seat, table in enumerate(tables):
        log = (match.game.log or [])[told[seat] :] if guest.hello.events else []
        body = encoders[seat].events(ENDED_EVENTS, log, seat)
        guest.end(table, match_ended(table.number, match.result(), told[seat], body))
    return f"{seats} seats, {answered} decisions"


@dataclass(frozen=True, slots=True)
class _At:
    """The address of a seat's table, for `Visit.reply`."""

    guest: Guest
    table: HostTable


def _put(guest: Guest, table: HostTable, encoder: MatchEncoder, match: Match, seat: int, told: list[int]) -> None:
    asked, log = match.decision(seat), match.game.log
    assert asked is not None
    assert log is not None
    events = log[told[seat] :] if guest.hello.events else []
    body = encoder.decision(
        table=table.number,
        number=asked.number,
        ask=asked.ask,
        options=asked.options,
        observation=encoder.observation_of(match.game, seat, "agenda" in guest.hello.features),
        events=encoder.events(DECISION_EVENTS, events, seat),
        first_event=told[seat],
        base_left_ms=1_000,
        bank_left_ms=10_000,
        safe_option=match.safe_option(seat),
    )
    told[seat] = len(log)
    guest.ask(table, asked.number + 1, body)


def _key(game: str) -> bytes:
    return sha256(f"{KEY}/{game}".encode()).digest()


def _end_with_our_parent() -> None:
    """Exit when standard input ends, because the parent has closed it or has ended."""
    sys.stdin.read()
    os._exit(3)  # ends the bot too: its sandbox ends with this process


def _main() -> None:
    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_our_parent, daemon=True).start()

    def say(finding: Finding) -> None:
        line = {"scenario": finding.scenario, "verdict": finding.verdict.value, "seen": finding.seen}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    asyncio.run(_check(told, runner_named(told["runner"], told["image"]), say))
    sys.stdout.flush()
    os._exit(0)  # a normal exit would wait for the thread that reads standard input


if __name__ == "__main__":
    _main()
