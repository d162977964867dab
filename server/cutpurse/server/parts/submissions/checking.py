"""The check of a submitted bot: the scenarios of `cutpurse bot check`, and a match in which it has every seat.

The check runs in its own process, `python -m cutpurse.server.parts.submissions.checking`, so that its load and its bugs
do not affect the server. The process reads its task as a line of JSON from standard input. It writes each finding as a
line to standard output, and ends when its parent ends. A runner runs the bot itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.check.check_run import check_program
from cutpurse.check.findings import CheckStatus, Failed, Finding, Late, MachineBusy
from cutpurse.check.guest import Guest, HostTable
from cutpurse.check.local_arena import Host
from cutpurse.check.local_match import match_ended, match_started
from cutpurse.check.scenarios import Scenario, Visit
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.process.interpreter import module_command
from cutpurse.process.last_words import last_words
from cutpurse.process.own_time import OwnTime
from cutpurse.server.parts.submissions.tasks import play_task, without_paths
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.port import ExitStatus, Runner, RunnerError, Running
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder
from cutpurse.wire.manifest import Manifest
from cutpurse.wire.text import format_count

__all__ = ["CHECK_S", "SubmissionCheck", "check_apart"]

CHECK_S: Final = 420.0  # of own time for the whole check; a correct bot takes about ten seconds
DIAL_IN_S: Final = 30.0  # of own time for the bot to connect
NICE: Final = 10
LOOK_S: Final = 0.05
KEY: Final = "cutpurse/submissions/itself"


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """The result of a check.

    Attributes:
        findings: The findings.
        why: Why it was not passed, in one line; empty if it was.
        is_busy: Whether the reason is the machine, which was too busy to check any bot.
    """

    findings: tuple[Finding, ...]
    why: str = ""
    is_busy: bool = False


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
    busy_lines: list[str] = []  # why the check's process gave up
    with subprocess.Popen(
        module_command("cutpurse.server.parts.submissions.checking"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as child:
        assert child.stdin is not None
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        ears = threading.Thread(target=_hear, args=(child.stdout, findings, busy_lines), daemon=True)
        ears.start()
        with suppress(BrokenPipeError):
            child.stdin.write(json.dumps(command) + "\n")
            child.stdin.flush()
        own_time = OwnTime(child.pid)
        began = own_time.mark()
        for pause_s in own_time.pauses(CHECK_S):
            if child.poll() is not None or is_over():
                break
            with suppress(subprocess.TimeoutExpired):
                child.wait(pause_s)
        busy = own_time.why_busy(began)
        is_late = child.poll() is None
        with suppress(BrokenPipeError):
            child.stdin.close()  # ends the process and its bot
        with suppress(subprocess.TimeoutExpired):
            child.wait(10.0)
        child.kill()
        child.wait()
        ears.join(1.0)
    return _result(tuple(findings), child.returncode, busy if is_late else "".join(busy_lines), is_late)


def _result(findings: tuple[Finding, ...], code: int, busy: str, is_late: bool) -> SubmissionCheck:
    failed = next((finding for finding in findings if finding.verdict is CheckStatus.FAILED), None)
    if failed is not None:
        return SubmissionCheck(findings, f"its check failed at {failed.scenario}: {failed.seen}")
    if busy:
        return SubmissionCheck(findings, f"{busy}; it is not the bot's fault: submit it again", is_busy=True)
    if is_late:
        return SubmissionCheck(findings, f"its check was not over in {CHECK_S:g} s")
    return SubmissionCheck(findings, "its check broke down; it is not the bot's fault: submit it again" if code else "")


def _hear(pipe: Any, findings: list[Finding], busy_lines: list[str]) -> None:
    for line in pipe:
        message = json.loads(line)
        if "busy" in message:
            busy_lines.append(message["busy"])
        else:
            findings.append(Finding(message["scenario"], CheckStatus(message["verdict"]), message["seen"]))


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
        by_itself = self._running.stop(grace_s).code != signal.SIGKILL  # with which the runner ends it
        for line in self._shown(self._running.talk()).splitlines():
            self._hear(line)
        return by_itself


def _words(ended: ExitStatus) -> str:
    return f"ended: {ended.text}"


async def _check(task: dict[str, Any], runner: Runner, say: Callable[[Finding], None]) -> None:
    said: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in task["manifest"].items()}
    manifest = Manifest(**said)
    folder, arena, talk = (Path(task[name]) for name in ("folder", "arena", "talk"))
    games = tuple(task["games"]) or manifest.games or tuple(GAMES)
    socket = arena / "bot.sock"
    own_time = OwnTime()
    async with Host(clock=own_time, socket=socket) as host:
        socket.chmod(0o666)
        loop = asyncio.get_running_loop()

        def start() -> _Checked:
            try:
                running = runner.start(play_task(manifest, folder, arena, talk))
            except (RunnerError, OSError) as problem:
                raise Late(f"it cannot be run: {without_paths(str(problem), folder, arena)}") from None
            _watch(running, lambda: loop.call_soon_threadsafe(host.changed))
            return _Checked(running, lambda text: without_paths(text, folder, arena), visit.hear)

        visit = Visit(host, games, start, own_time, dial_in_s=DIAL_IN_S)
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
        return f"it sits at {format_count(guest.max_tables, 'table')}, and a match has {seats} seats"
    match = Match(rules, [guest.hello.bot] * seats, _key(game), log=True)
    tables = [
        guest.start(match_started(game, match.game.settings, match.seats, seat, f"{game}-itself"))
        for seat in range(seats)
    ]
    encoders = [MatchEncoder(rules, match.game.settings, seats) for _ in range(seats)]
    event_counts = [0] * seats
    answered = 0
    while not match.over:
        for decision in match.decisions():
            _put(guest, tables[decision.seat], encoders[decision.seat], match, decision.seat, event_counts)
            await visit.reply(
                _At(guest, tables[decision.seat]), f"decision {decision.number + 1} of a match with itself"
            )
            reply = tables[decision.seat].reply
            if not isinstance(reply, arena_pb2.Answer) or not 0 <= reply.option < len(decision.options):
                raise Failed(f"it gave no legal answer to {decision.ask} in a match with itself")
            match.answer(decision.seat, decision.number, reply.option)
            guest.accept(tables[decision.seat])
            answered += 1
    for seat, table in enumerate(tables):
        log = (match.game.log or [])[event_counts[seat] :] if guest.hello.events else []
        body = encoders[seat].events(ENDED_EVENTS, log, seat)
        guest.end(table, match_ended(table.number, match.result(), event_counts[seat], body))
    return f"{seats} seats, {format_count(answered, 'decision')}"


@dataclass(frozen=True, slots=True)
class _At:
    """The address of a seat's table, for `Visit.reply`."""

    guest: Guest
    table: HostTable


def _put(
    guest: Guest, table: HostTable, encoder: MatchEncoder, match: Match, seat: int, event_counts: list[int]
) -> None:
    decision, log = match.decision(seat), match.game.log
    assert decision is not None
    assert log is not None
    events = log[event_counts[seat] :] if guest.hello.events else []
    body = encoder.decision(
        table=table.number,
        number=decision.number,
        ask=decision.ask,
        options=decision.options,
        observation=encoder.observation_of(match.game, seat, "agenda" in guest.hello.features),
        events=encoder.events(DECISION_EVENTS, events, seat),
        first_event=event_counts[seat],
        base_left_ms=1_000,
        bank_left_ms=10_000,
        safe_option=match.safe_option(seat),
    )
    event_counts[seat] = len(log)
    guest.ask(table, decision.number + 1, body)


def _key(game: str) -> bytes:
    return sha256(f"{KEY}/{game}".encode()).digest()


def _end_with_our_parent() -> None:
    """Exit when standard input ends, because the parent has closed it or has ended."""
    sys.stdin.read()
    os._exit(3)  # ends the bot too: its sandbox ends with this process


def _main() -> None:
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_our_parent, daemon=True).start()

    def say(**line: str) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def note(finding: Finding) -> None:
        say(scenario=finding.scenario, verdict=finding.verdict.value, seen=finding.seen)

    try:
        asyncio.run(_check(task, runner_named(task["runner"], task["image"]), note))
    except MachineBusy as problem:
        say(busy=str(problem))
    os._exit(0)  # a normal exit would wait for the thread that reads standard input


if __name__ == "__main__":
    _main()
