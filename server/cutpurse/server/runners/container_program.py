"""A program that was started in a container: looked after by a thread of its own until nothing of it is left.

In the container the first process is a shell (`GUARD`), which starts the program and then does nothing but read its
standard input: a stream from us, by which the program is asked to end, and whose end, in whichever way we ended, is the
end of that first process and so of all others. No program can hurt, stop or outwit it: the kernel lets nobody in a
container signal its first process. What the program says comes by the standard output; by the error output the shell
tells when it began and how it ended. So figures are read once more before all is gone. (A program could write there as
well: then it is taken at its word, and ended.)
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

from cutpurse.server.runners.causes import cause_of, text_of, too_much
from cutpurse.server.runners.cgroups import Group, group_of
from cutpurse.server.runners.container_engine import Engine, EngineError
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.output_log import OutputLog, read_talk
from cutpurse.server.runners.port import Cause, ExitStatus, ProgramSpec, ResourceUse, RunnerError
from cutpurse.server.runners.process_usage import use_of

__all__ = ["GUARD", "OWN_PROCESSES", "ContainerProgram", "UsageSample", "contained", "counted_of"]

OWN_PROCESSES: Final = 2  # of the container itself
LOOK_S: Final = 0.5  # between looks at what it uses
BUILD_LOOK_S: Final = 0.25  # and at what it writes into its folder
READY_S: Final = 20.0
GONE_S: Final = 5.0  # for which it is waited until all has been said
READ_BYTES: Final = 1 << 18
FLOOD_PAUSE_S: Final = 0.005
WORDS_MOST: Final = 1_000  # bytes of the shell's own
SAYS, TELLS = 1, 2  # the streams in a stream
BURY: Final = b"\n"
HEAD: Final = 8  # bytes before each part: which stream, three for nothing, and its length in four

# `jobs` buries whoever came to it as an orphan and has ended: else they would count as processes for ever. (With CHLD
# ignored the kernel would do that, and `read` would end in some shells.) Who kills the one that waits for it, ends too.
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
    """Start a container that was made for this program.  Raises RunnerError, EngineError, OSError; then it is gone."""
    begun: Future[None] = Future()
    try:
        program = ContainerProgram(task, engine, container, begun)
    except RuntimeError as problem:
        engine.remove(container)
        raise RunnerError(f"{task.name} cannot be run here: no thread can look after it ({problem})") from None
    begun.result()
    return program


class ContainerProgram:
    """See `Running`."""

    def __init__(self, task: ProgramSpec, engine: Engine, container: str, begun: Future[None]) -> None:
        self._task = task
        self._engine = engine
        self._container = container
        self._begun = begun
        self._growth: DiskQuota | None = None
        self._counted: UsageSample | Group | None = None
        self._pid = 0
        self._inner = 0  # its number in the container
        self._why: Cause | None = None  # it is ended from outside, for this
        self._killed_at: float | None = None
        self._used = ResourceUse(0.0, 0)
        self._ended: ExitStatus | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._stream: socket.socket | None = None
        self._thread = threading.Thread(target=self._live, name=f"program {task.name}", daemon=True)
        self._thread.start()

    # -- what whoever started it sees
    @property
    def pid(self) -> int:
        """See `Running`: of the first process of its container."""
        return self._pid

    def ended(self) -> ExitStatus | None:
        """See `Running`."""
        return self._ended

    def wait(self, seconds: float | None = None) -> ExitStatus | None:
        """See `Running`."""
        self._over.wait(seconds)
        return self._ended

    def use(self) -> ResourceUse:
        """See `Running`; as of the last look, half a second ago at most, where only the engine can tell."""
        if self._ended is None and isinstance(self._counted, Group):
            self._measure()
        return self._used

    def talk(self) -> str:
        """See `Running`."""
        return read_talk(self._task.talk, self._task.limits.talk_bytes)

    def stop(self, grace_s: float = 2.0) -> ExitStatus:
        """See `Running`."""
        if self._ended is None:
            self._why = self._why or "stopped"
            if grace_s > 0:
                self._tell(f"TERM {self._inner}\n".encode())
                self._over.wait(grace_s)
            if not self._over.is_set():
                self._kill()
                self._over.wait()
        assert self._ended is not None
        return self._ended

    def _tell(self, words: bytes) -> None:
        with self._lock, suppress(OSError):
            if self._stream is not None:
                self._stream.send(words)

    def _kill(self) -> None:
        """End the shell and all below it; the engine ends a container that cannot even do that."""
        with self._lock, suppress(OSError):
            if self._stream is not None and self._killed_at is None:
                self._killed_at = time.monotonic()
                self._stream.shutdown(socket.SHUT_WR)

    # -- its thread
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
            until = time.monotonic() + READY_S
            while ears.inner is None:
                left_s = until - time.monotonic()
                if left_s <= 0 or not ears.listen(self._stream, left_s):
                    raise RunnerError(f"{task.name} cannot be run here: its container does nothing")
            self._inner = ears.inner
            self._pid = int(self._engine.inspect(self._container)["State"]["Pid"])
            self._counted = counted_of(self._engine, self._container, self._pid)
        except BaseException:
            ears.close()
            raise
        return ears

    def _follow(self, ears: _ContainerOutput) -> None:
        """Until it has ended, or its container has."""
        assert self._stream is not None
        every_s = LOOK_S if self._growth is None else BUILD_LOOK_S
        began = time.monotonic()
        look_at = began + every_s
        while ears.code is None and ears.listen(self._stream, max(0.0, look_at - time.monotonic())):
            if (now := time.monotonic()) < look_at:
                continue
            look_at = now + every_s
            self._tell(BURY)
            self._measure()
            why = too_much(self._task.limits, now - began, lambda: self._used.cpu_s, self._counted, self._growth)
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
        """None: of a container that fell with all that was in it, as where the kernel has run out of memory."""
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
    """Choose what counts the use of a container whose first process is `pid`.  Raises EngineError.

    An engine that makes no control groups, as one without root where they are of version 1, is not asked: it tells
    what the whole machine has used.
    """
    if (group := group_of(pid, container)) is not None:
        return group
    return _Seen(pid) if engine.info().get("CgroupDriver") == "none" else _Figures(engine, container)


class UsageSample(ABC):
    """The use of a container, as of the last look."""

    def __init__(self) -> None:
        self._cpu_s = 0.0
        self._peak = 0
        self._is_out = False

    @abstractmethod
    def look(self) -> None:
        """Look at it once more."""

    def cpu_s(self) -> float:
        """Seconds of the processor."""
        return self._cpu_s

    def peak_bytes(self) -> int:
        """Return the peak memory."""
        return self._peak

    def out_of_memory(self) -> int:
        """Whether some of it was killed because there was no memory."""
        return int(self._is_out)

    def refused(self) -> int:
        """No engine tells how often a process was not started."""
        return 0


class _Figures(UsageSample):
    """What an engine tells of a container whose control group cannot be seen from here."""

    def __init__(self, engine: Engine, container: str) -> None:
        super().__init__()
        self._engine = engine
        self._container = container

    def look(self) -> None:
        """Ask it. One that has gone in the meantime tells no more."""
        with suppress(EngineError, KeyError, TypeError, ValueError):
            told = self._engine.figures(self._container)
            memory: Mapping[str, Any] = told["memory_stats"]
            self._cpu_s = max(self._cpu_s, told["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9)
            self._peak = max(self._peak, memory.get("max_usage", 0), memory.get("usage", 0))
            self._is_out = bool(self._engine.inspect(self._container)["State"]["OOMKilled"])


class _Seen(UsageSample):
    """What is seen of the processes of a container without a control group."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid

    def look(self) -> None:
        """Add up its first process and all below. What has ended counts where it was waited for."""
        used = use_of(self._pid)
        self._cpu_s, self._peak = max(self._cpu_s, used.cpu_s), max(self._peak, used.peak_bytes)


class _ContainerOutput:
    """What is heard from a container: of the program, kept; of the shell, when it began and how it ended."""

    def __init__(self, talk: OutputLog) -> None:
        self._talk = talk
        self._head = b""
        self._kind = 0
        self._left = 0  # bytes of the part that is being heard
        self._words = b""
        self._again_at = 0.0  # it says too much: not before then
        self.inner: int | None = None
        self.code: int | None = None

    def listen(self, stream: socket.socket, wait_s: float, is_last: bool = False) -> bool:
        """Wait for something to be said, and hear it; whether there may be more.  is_last: it cannot hold us up."""
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
        except OSError:  # the engine is gone, and the container with it
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
            with suppress(OSError):  # where there is no room for its talk it plays all the same
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
        """There will be no more."""
        with suppress(OSError):
            self._talk.close()
