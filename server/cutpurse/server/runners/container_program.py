"""A running program in a container, supervised by its own thread.

The first process in the container is a shell (`GUARD`), which starts the program and reads its standard input. That
input is a stream from the server, which asks the program to end. When the server ends in any way, the stream ends, so
the shell ends, and all other processes with it. The program can't stop the shell, because the kernel blocks signals to
a container's first process.

The program's output arrives on standard output. The shell reports on standard error when the program began and how it
ended, so usage can be read once more before the container ends. A program could write a false report there; then it is
believed, and the program is ended.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from cutpurse.process.own_time import NO_PROCESS, OwnTime
from cutpurse.server.runners.causes import cause_of, text_of, too_much
from cutpurse.server.runners.cgroups import Group, group_of
from cutpurse.server.runners.container_engine import Engine, EngineError
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.output_log import OutputLog
from cutpurse.server.runners.port import Cause, ExitStatus, ProgramSpec, ResourceUse, RunnerError
from cutpurse.server.runners.process_usage import use_of
from cutpurse.server.runners.watched_program import WatchedProgram

__all__ = ["GUARD", "OWN_PROCESSES", "ContainerProgram", "UsageSample", "contained", "counted_of"]

OWN_PROCESSES: Final = 2  # processes of the container itself
LOOK_S: Final = 0.5  # between two checks of the usage
BUILD_LOOK_S: Final = 0.25  # between two checks if the program may write into its folder
READY_S: Final = 20.0  # of own time for the program to start
GONE_S: Final = 5.0  # for the rest of the output after the end
READ_BYTES: Final = 1 << 18
FLOOD_PAUSE_S: Final = 0.005  # between two reads while the program prints too much
WORDS_MOST: Final = 1_000  # bytes of an incomplete report of the shell
SAYS, TELLS = 1, 2  # stream numbers of standard output and standard error
BURY: Final = b"\n"  # makes the shell reap its orphans
HEAD: Final = 8  # bytes of a frame's header: stream number, three unused bytes, length in four bytes

# `jobs` reaps orphans that have ended; otherwise they would count as processes. (If CHLD were ignored, the kernel would
# reap them, but `read` would end in some shells.) If the program kills its waiter, all end.
GUARD: Final = """
{
  "$@" < /dev/null 2>&1 3>&- &
  echo "began $!" >&3
  wait $!
  echo "ended $?" >&3
} 3>&2 2> /dev/null < /dev/null &
waiter=$!
exec > /dev/null 2>&1
while read -r signal number; do
  if [ -n "$signal" ]; then kill -s "$signal" "$number"; continue; fi
  jobs
  kill -0 "$waiter" || exit
done
"""


def contained(task: ProgramSpec, engine: Engine, container: str) -> ContainerProgram:
    """Start a container that was created for a program. After an error, the container is removed.

    Raises:
        RunnerError: If the program does not start.
        EngineError: If the engine fails.
        OSError: If the system refuses.
    """
    begun: Future[None] = Future()
    try:
        program = ContainerProgram(task, engine, container, begun)
    except RuntimeError as problem:
        engine.remove(container)
        raise RunnerError(f"{task.name} cannot be run here: no thread can look after it ({problem})") from None
    begun.result()
    return program


class ContainerProgram(WatchedProgram):
    """A `Running` program in a container."""

    def __init__(self, task: ProgramSpec, engine: Engine, container: str, begun: Future[None]) -> None:
        super().__init__(task)
        self._engine = engine
        self._container = container
        self._begun = begun
        self._growth: DiskQuota | None = None
        self._counted: UsageSample | Group | None = None
        self._pid = 0
        self._inner = 0  # process ID of the program inside the container
        self._killed_at: float | None = None
        self._lock = threading.Lock()
        self._stream: socket.socket | None = None
        self._thread = threading.Thread(target=self._live, name=f"program {task.name}", daemon=True)
        self._thread.start()

    # -- on any thread
    @property
    def pid(self) -> int:
        """ID of the container's first process, outside the container."""
        return self._pid

    def use(self) -> ResourceUse:
        """Return the usage so far; up to LOOK_S old if only the engine knows it."""
        if self._ended is None and isinstance(self._counted, Group):
            self._measure()
        return self._used

    def _ask_to_end(self) -> None:
        self._tell(f"TERM {self._inner}\n".encode())

    def _tell(self, words: bytes) -> None:
        with self._lock, suppress(OSError):
            if self._stream is not None:
                self._stream.send(words)

    def _kill(self) -> None:
        """End the shell, and all processes with it; if that fails, `_away` kills the container later."""
        with self._lock, suppress(OSError):
            if self._stream is not None and self._killed_at is None:
                self._killed_at = time.monotonic()
                self._stream.shutdown(socket.SHUT_WR)

    # -- on its thread
    def _live(self) -> None:
        try:
            ears = self._start()
        except BaseException as problem:
            self._away()
            self._over.set()
            self._begun.set_exception(problem)
            return
        self._begun.set_result(None)
        try:
            self._follow(ears)
        finally:
            ears.close()
            self._away()
            self._end(ears.code)
            self._over.set()

    def _start(self) -> _ContainerOutput:
        task = self._task
        if task.is_writable:
            self._growth = DiskQuota(task.folder, task.limits.file_bytes)
        talk = OutputLog(task.talk, task.limits.talk_bytes_per_s, task.limits.talk_bytes, time.monotonic())
        ears = _ContainerOutput(talk)
        try:
            self._stream = self._engine.attach(self._container)
            self._engine.start(self._container)
            own_time = OwnTime(NO_PROCESS)
            began = own_time.mark()
            for pause_s in own_time.pauses(READY_S):
                if ears.inner is not None or not ears.listen(self._stream, pause_s):
                    break
            if ears.inner is None:
                why = own_time.why_busy(began) or "its container does nothing"
                raise RunnerError(f"{task.name} cannot be run here: {why}")
            self._inner = ears.inner
            self._pid = int(self._engine.inspect(self._container)["State"]["Pid"])
            self._counted = counted_of(self._engine, self._container, self._pid)
        except BaseException:
            ears.close()
            raise
        return ears

    def _follow(self, ears: _ContainerOutput) -> None:
        """Supervise the program until it or its container has ended."""
        assert self._stream is not None
        every_s = LOOK_S if self._growth is None else BUILD_LOOK_S
        own_time = OwnTime(self._pid)
        began, look_at = own_time(), time.monotonic() + every_s
        while ears.code is None and ears.listen(self._stream, max(0.0, look_at - time.monotonic())):
            if (now := time.monotonic()) < look_at:
                continue
            look_at = now + every_s
            self._tell(BURY)
            self._measure()
            why = too_much(
                self._task.limits, lambda: own_time() - began, lambda: self._used.cpu_s, self._counted, self._growth
            )
            if why is not None:
                self._why = self._why or why
                self._kill()
            if self._killed_at is not None and now > self._killed_at + GONE_S:
                break
        self._measure()
        self._why = self._why or self._cause(ears.code)
        self._kill()
        until = time.monotonic() + GONE_S
        while (left_s := until - time.monotonic()) > 0 and ears.listen(self._stream, left_s, is_last=True):
            pass

    def _cause(self, code: int | None) -> Cause:
        """Return why the program ended; code None means that the whole container was killed, such as for memory."""
        if code is None:
            code = 128 + 9
        return cause_of(code, code - 128 if code > 128 else 0, self._counted)

    def _measure(self) -> None:
        counted = self._counted
        if counted is None:
            return
        if isinstance(counted, UsageSample):
            counted.look()
        cpu_s, peak = counted.cpu_s() or 0.0, counted.peak_bytes() or 0
        with self._lock:
            self._used = ResourceUse(max(self._used.cpu_s, cpu_s), max(self._used.peak_bytes, peak))

    def _end(self, code: int | None) -> None:
        cause = self._why or "exited"
        code = 128 + 9 if code is None else code
        number = code - 128 if code > 128 else 0
        self._ended = ExitStatus(cause, number or code, self._used, text_of(cause, self._task.limits, code, number))

    def _away(self) -> None:
        with self._lock:
            if self._stream is not None:
                self._stream.close()
                self._stream = None
        with suppress(EngineError):
            self._engine.remove(self._container)


def counted_of(engine: Engine, container: str, pid: int) -> UsageSample | Group:
    """Choose how to measure the usage of a container whose first process is `pid`.

    An engine without control groups, such as a rootless one with version 1, is not asked: it reports the usage of the
    whole machine.

    Raises:
        EngineError: If the engine fails.
    """
    if (group := group_of(pid, container)) is not None:
        return group
    return _Seen(pid) if engine.info().get("CgroupDriver") == "none" else _Figures(engine, container)


class UsageSample(ABC):
    """The usage of a container at its last measurement."""

    def __init__(self) -> None:
        self._cpu_s = 0.0
        self._peak = 0
        self._is_out = False

    @abstractmethod
    def look(self) -> None:
        """Measure the usage."""

    def cpu_s(self) -> float:
        """Return the CPU time, in seconds."""
        return self._cpu_s

    def peak_bytes(self) -> int:
        """Return the peak memory."""
        return self._peak

    def out_of_memory(self) -> int:
        """Return 1 if a process was killed for lack of memory, else 0."""
        return int(self._is_out)

    def refused(self) -> int:
        """Return 0, since no engine counts refused processes."""
        return 0


class _Figures(UsageSample):
    """The usage of a container that its engine reports, if its control group is not visible from here."""

    def __init__(self, engine: Engine, container: str) -> None:
        super().__init__()
        self._engine = engine
        self._container = container

    def look(self) -> None:
        """Ask the engine. If the container is gone, keep the last values."""
        with suppress(EngineError, KeyError, TypeError, ValueError):
            told = self._engine.figures(self._container)
            memory: Mapping[str, Any] = told["memory_stats"]
            self._cpu_s = max(self._cpu_s, told["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9)
            self._peak = max(self._peak, memory.get("max_usage", 0), memory.get("usage", 0))
            self._is_out = bool(self._engine.inspect(self._container)["State"]["OOMKilled"])


class _Seen(UsageSample):
    """The usage of a container without a control group, added up from its processes."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid

    def look(self) -> None:
        """Add up the first process and all its descendants; ended ones count if their parent waited for them."""
        used = use_of(self._pid)
        self._cpu_s, self._peak = max(self._cpu_s, used.cpu_s), max(self._peak, used.peak_bytes)


class _ContainerOutput:
    """The output of a container: the program's goes to its log, and the shell's reports are parsed."""

    def __init__(self, talk: OutputLog) -> None:
        self._talk = talk
        self._head = b""
        self._kind = 0
        self._left = 0  # bytes still to come of the current frame
        self._words = b""
        self._again_at = 0.0  # earliest time of the next read, after too much output
        self.inner: int | None = None
        self.code: int | None = None

    def listen(self, stream: socket.socket, wait_s: float, is_last: bool = False) -> bool:
        """Wait for output and process it. Return whether more may come.

        Args:
            stream: Socket of the container.
            wait_s: Maximum seconds to wait.
            is_last: Do not pause after too much output, because the program has ended.
        """
        now = time.monotonic()
        if now < self._again_at and not is_last:
            time.sleep(min(self._again_at - now, wait_s))
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        if not poll.poll(wait_s * 1_000):
            return True
        try:
            said = stream.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:  # the engine has ended, and the container with it
            return False
        self._take(said, time.monotonic())
        return bool(said)

    def _take(self, said: bytes, now: float) -> None:
        at = 0
        while at < len(said):
            if not self._left:
                wanted = HEAD - len(self._head)
                self._head += said[at : at + wanted]
                at += wanted
                if len(self._head) == HEAD:
                    self._kind, self._left = self._head[0], int.from_bytes(self._head[4:], "big")
                    self._head = b""
                continue
            part = said[at : at + self._left]
            at += len(part)
            self._left -= len(part)
            if self._kind == TELLS:
                self._hear(part)
            elif self._kind == SAYS:
                self._keep(part, now)

    def _keep(self, part: bytes, now: float) -> None:
        room = self._talk.room(now)
        if room > 0:
            with suppress(OSError):  # a full disk must not stop the program
                self._talk.take(part[:room])
        if len(part) > room:
            self._talk.leave_out(len(part) - max(0, room))
            self._again_at = now + FLOOD_PAUSE_S

    def _hear(self, part: bytes) -> None:
        self._words = (self._words + part)[-WORDS_MOST:]
        *lines, self._words = self._words.split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if not number.isdigit() or len(number) > 9:
                continue
            if word == b"began" and self.inner is None:
                self.inner = int(number)
            elif word == b"ended" and self.code is None:
                self.code = int(number) & 0xFF

    def close(self) -> None:
        """Close the log."""
        with suppress(OSError):
            self._talk.close()
