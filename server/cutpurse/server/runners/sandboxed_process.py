"""A running program as a child process, supervised by its own thread until all its processes have ended.

The thread starts the program, because a parent-death signal is sent when the starting *thread* ends. It reads the
output, measures the usage twice a second, and kills the program if it exceeds a limit. Callers pass the command: this
module knows no sandbox.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from cutpurse.process.own_time import OwnTime
from cutpurse.server.runners.causes import cause_of, text_of, too_much
from cutpurse.server.runners.cgroups import Group
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.launching import READY
from cutpurse.server.runners.output_log import OutputLog
from cutpurse.server.runners.port import ExitStatus, ProgramSpec, ResourceUse, RunnerError
from cutpurse.server.runners.process_usage import children, use_of
from cutpurse.server.runners.user_namespace import ASKS, give_users
from cutpurse.server.runners.watched_program import WatchedProgram

__all__ = ["Making", "SandboxedProcess", "started"]

LOOK_S: Final = 0.5  # between two checks of the usage
BUILD_LOOK_S: Final = 0.25  # between two checks if the program may write into its folder
BLIND_LOOK_S: Final = 0.05  # between two checks for its end, on systems without pidfd
READY_S: Final = 20.0  # of own time for the start; it takes hundredths of a second
GONE_S: Final = 5.0  # for the last processes to end
PIPE_BYTES: Final = 1 << 20  # capacity of the output pipe
FLOOD_PAUSE_S: Final = 0.005  # between two reads of excess output; the program waits at most as long


@dataclass(slots=True)
class Making:
    """The instructions for starting a program.

    `started` closes all descriptors in it, even if the start fails.

    Attributes:
        command: Command of the process that stands for the program.
        environment: Environment of that process.
        folder: Working folder of that process.
        errors: Descriptor for its standard error until the program itself runs.
        complaints: Reading end of `errors`; READY arrives there just before the program itself runs.
        passed: Descriptors that the process inherits with the same numbers.
        to_ask: Returns the process to send SIGTERM to, from the ID of the process that stands for the program.
        watched: Quota of the program's folder, if it may write there.
        is_shell_code: Whether exit codes above 128 stand for signals.
        is_group: Whether the program has its own process group, which gets all signals.
        clear: Called when all is over.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    errors: int
    complaints: int
    passed: Sequence[int] = ()
    to_ask: Callable[[int], int | None] = lambda pid: pid
    watched: DiskQuota | None = None
    is_shell_code: bool = False
    is_group: bool = False
    clear: Callable[[], None] = lambda: None


class _Exit(NamedTuple):
    """The end of the process that stood for the program."""

    code: int  # exit code; negative for a signal
    cpu_s: float
    peak_bytes: int


def started(task: ProgramSpec, making: Making, group: Group | None) -> SandboxedProcess:
    """Start a program, and wait until it runs.

    Args:
        task: Program to run.
        making: Instructions for starting it.
        group: Its control group, if any.

    Raises:
        RunnerError: If the program does not come to run.
        OSError: If the system refuses.
    """
    begun: Future[None] = Future()
    try:
        program = SandboxedProcess(task, making, group, begun)
    except RuntimeError as problem:
        for descriptor in (making.complaints, making.errors, *making.passed):
            os.close(descriptor)
        making.clear()
        raise RunnerError(f"{task.name} cannot be run here: no thread can look after it ({problem})") from None
    begun.result()
    return program


class SandboxedProcess(WatchedProgram):
    """A `Running` program that is a child process of the server."""

    def __init__(self, task: ProgramSpec, making: Making, group: Group | None, begun: Future[None]) -> None:
        super().__init__(task)
        self._making = making
        self._group = group
        self._begun = begun
        self._lock = threading.Lock()  # guards against signals to a reused process ID
        self._process: subprocess.Popen[bytes] | None = None
        self._is_reaped = False
        self._thread = threading.Thread(target=self._live, name=f"program {task.name}", daemon=True)
        self._thread.start()

    # -- on any thread
    @property
    def pid(self) -> int:
        """ID of the process that stands for the program."""
        assert self._process is not None
        return self._process.pid

    def use(self) -> ResourceUse:
        """Measure the usage so far, and return it."""
        with self._lock:
            if not self._is_reaped:
                self._measure()
            return self._used

    def _ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        with self._lock, suppress(ProcessLookupError, PermissionError):
            if self._is_reaped:
                return
            if self._making.is_group:
                os.killpg(self.pid, number)
            elif number == signal.SIGKILL:
                os.kill(self.pid, number)
            elif (asked := self._making.to_ask(self.pid)) is not None:
                os.kill(asked, number)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        if self._group is not None:
            self._group.kill()

    # -- on its thread
    def _live(self) -> None:
        try:
            ears = self._start()
        except BaseException as problem:
            self._over.set()
            self._begun.set_exception(problem)
            return
        self._begun.set_result(None)
        try:
            self._end(self._follow(ears))
        except BaseException:  # after any error, no process may be left, and no caller may wait without end
            self._kill()
            while (exit := self._reap()) is None:
                time.sleep(BLIND_LOOK_S)
            self._end(exit)
            raise
        finally:
            ears.let_go()
            self._over.set()

    def _start(self) -> _ProcessOutput:
        """Start the program, and wait until the program itself runs. After an error, no process is left."""
        making, limits = self._making, self._task.limits
        with ExitStack() as ours, ExitStack() as undone:
            ours.callback(os.close, making.complaints)
            undone.callback(self._away)
            with ExitStack() as its:
                for descriptor in (making.errors, *making.passed):
                    its.callback(os.close, descriptor)
                hears_answers, answers = os.pipe()
                ours.callback(os.close, answers)
                its.callback(os.close, hears_answers)
                talk = OutputLog(self._task.talk, limits.talk_bytes_per_s, limits.talk_bytes, time.monotonic())
                undone.callback(_end, talk)
                hears, says = os.pipe()
                its.callback(os.close, says)
                ears = _ProcessOutput(hears, talk)
                undone.callback(ears.let_go)
                self._process = subprocess.Popen(
                    making.command,
                    stdin=hears_answers,
                    stdout=says,
                    stderr=making.errors,
                    env=making.environment,
                    cwd=making.folder,
                    pass_fds=making.passed,
                    start_new_session=making.is_group,
                )
                undone.callback(self._undo, self._process)
            self._await_ready(answers)
            undone.pop_all()
        return ears

    def _undo(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process that was started but did not come to run the program."""
        self._kill()
        process.wait()
        self._is_reaped = True

    def _await_ready(self, answers: int) -> None:
        complaints = self._making.complaints
        said, own_time = b"", OwnTime(self.pid)
        began = own_time.mark()
        while not said.endswith(READY) and len(said) < 4_000:
            if not any(_readable([complaints], pause_s) for pause_s in own_time.pauses(READY_S)):
                said += f" ({own_time.why_busy(began) or 'this took too long'})".encode()
                break
            if not (more := os.read(complaints, 1_000)):
                break
            said += more
            if said.endswith(ASKS):
                give_users(self.pid)
                os.write(answers, b"\n")
        if said.endswith(READY):
            return
        words = " ".join(said.translate(None, ASKS).decode("utf-8", "replace").split())
        raise RunnerError(f"{self._task.name} cannot be run here: {words or 'nothing was said of why'}")

    def _follow(self, ears: _ProcessOutput) -> _Exit:
        """Supervise the program until its process has ended. Return how that ended."""
        assert self._process is not None
        pidfd = _handle(self.pid)
        below = _held(children(self.pid)) if self._group is None and pidfd >= 0 and not self._making.is_group else []
        every_s = LOOK_S if self._making.watched is None else BUILD_LOOK_S
        own_time = OwnTime(self.pid)
        began, look_at = own_time(), time.monotonic() + every_s
        try:
            while True:
                now = time.monotonic()
                wait_s = min(look_at, ears.again_at or look_at) - now
                ears.listen(max(0.0, wait_s if pidfd >= 0 else min(wait_s, BLIND_LOOK_S)), pidfd)
                if (exit := self._reap()) is not None:
                    break
                if (now := time.monotonic()) >= look_at:
                    look_at = now + every_s
                    self._look(lambda: own_time() - began)
        finally:
            if pidfd >= 0:
                os.close(pidfd)
        self._kill_the_rest(below)
        ears.close()
        return exit

    def _reap(self) -> _Exit | None:
        assert self._process is not None
        with self._lock:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if not pid:
                return None
            self._measure()
            self._is_reaped = True
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code
        return _Exit(code, used.ru_utime + used.ru_stime, used.ru_maxrss << 10)

    def _look(self, lived_s: Callable[[], float]) -> None:
        """Kill the program if it exceeds a limit."""
        limits, group = self._task.limits, self._group
        why = too_much(limits, lived_s, lambda: self.use().cpu_s, group, self._making.watched)
        if why is None and group is None:
            self.use()  # without a group, peak memory is the peak of these measurements
        if why is not None:
            self._why = self._why or why
            self._kill()

    def _kill_the_rest(self, below: Sequence[int]) -> None:
        """Kill the processes that the program left behind; first wait for those in `below`, which end by themselves."""
        for held in below:
            _readable([held], GONE_S)
            os.close(held)
        if self._making.is_group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        if self._group is not None:
            until = time.monotonic() + GONE_S
            while self._group.processes() and time.monotonic() < until:
                self._group.kill()
                time.sleep(0.002)

    def _measure(self) -> None:
        counted_s, counted_bytes = (None, None)
        if self._group is not None:
            counted_s, counted_bytes = self._group.cpu_s(), self._group.peak_bytes()
        if counted_s is None or counted_bytes is None:
            seen = use_of(self.pid)
            counted_s = seen.cpu_s if counted_s is None else counted_s
            counted_bytes = seen.peak_bytes if counted_bytes is None else counted_bytes
        self._used = ResourceUse(max(self._used.cpu_s, counted_s), max(self._used.peak_bytes, counted_bytes))

    def _end(self, exit: _Exit) -> None:
        group = self._group
        used = self._used
        if group is None or group.cpu_s() is None:
            used = ResourceUse(max(used.cpu_s, exit.cpu_s), used.peak_bytes)
        # Linux also counts memory from before exec, when the child was a copy of the server. So a peak below the
        # server's tells nothing.
        is_its_own = exit.peak_bytes > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        if is_its_own and (group is None or group.peak_bytes() is None):
            used = ResourceUse(used.cpu_s, max(used.peak_bytes, exit.peak_bytes))
        self._used = used
        number = -exit.code if exit.code < 0 else 0
        if self._making.is_shell_code and exit.code > 128:
            number = exit.code - 128
        cause = self._why or cause_of(exit.code, number, group)
        text = text_of(cause, self._task.limits, exit.code, number)
        self._away()
        self._ended = ExitStatus(cause, number or exit.code, used, text)

    def _away(self) -> None:
        if self._group is not None:
            until = time.monotonic() + GONE_S
            while not self._group.remove() and time.monotonic() < until:
                time.sleep(0.002)
        self._making.clear()


class _ProcessOutput:
    """The output of a program: read at a limited cost, but fast enough that the program does not wait."""

    def __init__(self, pipe: int, talk: OutputLog) -> None:
        """Take over the reading end of the program's output pipe; close it if this fails.

        Raises:
            OSError: If the system refuses.
        """
        self._pipe: int | None = pipe
        self._talk = talk
        self.again_at = 0.0  # earliest time of the next read, after too much output
        os.set_blocking(pipe, False)
        self._most = _widened(pipe)
        self._files = [pipe]
        try:
            self._nowhere = os.open(os.devnull, os.O_WRONLY)
        except OSError:
            self.let_go()
            raise
        self._files.append(self._nowhere)

    def listen(self, wait_s: float, other: int) -> None:
        """Wait for output or for the descriptor `other` (-1: none), at most `wait_s` seconds, and log the output."""
        now = time.monotonic()
        is_listening = self._pipe is not None and now >= self.again_at
        watched = [pipe for pipe in (self._pipe if is_listening else None, other) if pipe is not None and pipe >= 0]
        if self._pipe in _readable(watched, wait_s):
            self._hear(time.monotonic())

    def _hear(self, now: float) -> bool:
        """Read and log output. Return whether there was any."""
        assert self._pipe is not None
        self.again_at = 0.0
        room = self._talk.room(now)
        try:
            if room > 0:
                said = os.read(self._pipe, min(room, PIPE_BYTES))
                with suppress(OSError):  # a full disk must not stop the program
                    self._talk.take(said)
                there = len(said)
            else:
                there = self._throw_away(self._pipe)
                self._talk.leave_out(there)
                self.again_at = now + FLOOD_PAUSE_S
        except BlockingIOError:
            return False
        if not there:  # all writers have closed the pipe
            self._pipe = None
        return there > 0

    def _throw_away(self, pipe: int) -> int:
        """Drop output, without copying it if the system can do that. Return the number of bytes."""
        if hasattr(os, "splice"):
            return os.splice(pipe, self._nowhere, self._most)
        return len(os.read(pipe, self._most))

    def close(self) -> None:
        """Read the rest of the output, and close the log."""
        for _ in range(64):
            if self._pipe is None or not self._hear(time.monotonic()):
                break
        _end(self._talk)

    def let_go(self) -> None:
        """Close all descriptors."""
        for file in self._files:
            os.close(file)


def _end(talk: OutputLog) -> None:
    with suppress(OSError):
        talk.close()


def _held(pids: Sequence[int]) -> list[int]:
    """Open a pidfd of each process, see `_handle`."""
    return [handle for pid in pids if (handle := _handle(pid)) >= 0]


def _handle(pid: int) -> int:
    """Open a pidfd, which becomes readable when the process ends; -1 if the process or the feature is missing."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def _readable(descriptors: Sequence[int], wait_s: float) -> list[int]:
    """Wait, and return the descriptors that are readable or closed; `select` fails for descriptors above 1023."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(wait_s * 1_000)]


def _widened(pipe: int) -> int:
    """Enlarge a pipe, so that a program that prints much need not wait. Return its capacity in bytes."""
    import fcntl

    if not hasattr(fcntl, "F_SETPIPE_SZ"):
        return 1 << 16
    with suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return int(fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ))
