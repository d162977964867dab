"""Both ends of the protocol between the arena's bench and its processes: JSON lines over a child's stdin and stdout.

A child sends `{}` once it is up. Then it answers each line `{"do": name, ...}` with one line when that is done. Its
event loop also runs between two requests. No child outlives the bench: it ends when its stdin closes, and the bench
kills it when it is no longer needed. This module does not know what is measured.
"""

import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NoReturn, Self

from benchmarks.protocol import ROOT, WorkerFailed

__all__ = ["Child", "LOOK_S", "Does", "ask_all", "serve", "so_long"]

PATIENCE_S = 120.0  # maximum wait for one answer
LOOK_S = 0.02  # polling interval
SOMETHING_S = 30.0  # maximum wait for a first result on a busy machine
LAST_WORDS = 2_000  # characters of a failed child's stderr to show
MOST_BYTES = 1 << 26  # maximum size of a request; asyncio needs a limit

Does = Mapping[str, Callable[..., Awaitable[Mapping[str, object]]]]  # the commands of a child, by name


class Child:
    """The bench's end: a running process, used as a context manager."""

    def __init__(self, module: str) -> None:
        """Start `python -m module` in the root of the repository; the first `answer` waits until it is up."""
        self.module = module
        self._files = ExitStack()
        self._errors = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the others
        self._said = b""
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            env={**os.environ, "GRPC_VERBOSITY": "NONE"},  # else it would print each broken connection
            start_new_session=True,  # so that only the bench gets Ctrl-C
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions = self._files.enter_context(self._process.stdin)
        self._answers = self._files.enter_context(self._process.stdout)
        self._is_up = False

    def tell(self, do: str, **given: object) -> None:
        """Send a request without waiting for the answer."""
        with suppress(BrokenPipeError):  # it has ended, and `answer` raises the error
            self._questions.write(json.dumps({"do": do, **given}).encode() + b"\n")

    def answer(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """Return the next answer.  Raises WorkerFailed, with the last output, if the child ends or does not answer."""
        if not self._is_up:
            self._is_up = True
            self._line(patience_s)
        answer: dict[str, Any] = json.loads(self._line(patience_s))
        return answer

    def ask(self, do: str, **given: object) -> dict[str, Any]:
        """Send a request, and wait for the answer."""
        self.tell(do, **given)
        return self.answer()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()

    def _line(self, patience_s: float) -> bytes:
        until = time.monotonic() + patience_s
        while b"\n" not in self._said:
            if not select.select([self._answers], [], [], max(0.0, until - time.monotonic()))[0]:
                raise WorkerFailed(f"{self.module} did not answer for {patience_s:g} s{self._last_words()}")
            more = os.read(self._answers.fileno(), 1 << 20)
            if not more:
                raise WorkerFailed(f"{self.module} ended{self._last_words()}")
            self._said += more
        line, _, self._said = self._said.partition(b"\n")
        return line

    def _last_words(self) -> str:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()[-LAST_WORDS:]
        return f":\n{said}" if said else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        self._files.close()


def ask_all(children: Sequence[Child], do: str, **given: object) -> list[dict[str, Any]]:
    """Send a request to several children at once, and wait for all answers."""
    for child in children:
        child.tell(do, **given)
    return [child.answer() for child in children]


async def so_long(seconds: float, has_something: Callable[[], object]) -> None:
    """Wait for `seconds`, and longer until there is something, at most `SOMETHING_S`."""
    await asyncio.sleep(seconds)
    until = time.monotonic() + SOMETHING_S
    while not has_something() and time.monotonic() < until:
        await asyncio.sleep(LOOK_S)


def serve(prepare: Callable[[], Does]) -> NoReturn:
    """Run the child's end: answer requests until stdin closes.

    `prepare` is called in the event loop. Output of libraries goes to stderr, because stdout is for answers only.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    _allow_many_files()

    async def run() -> None:
        does = prepare()
        questions = asyncio.StreamReader(limit=MOST_BYTES)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin)
        _write(answers, {})
        while line := await questions.readline():
            request = json.loads(line)
            _write(answers, await does[request.pop("do")](**request))

    try:
        asyncio.run(run())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)  # without waiting for threads and open calls


def _write(file: int, answer: Mapping[str, object]) -> None:
    rest = json.dumps(answer).encode() + b"\n"
    while rest:
        rest = rest[os.write(file, rest) :]


def _allow_many_files() -> None:
    """Raise the limit of open files to the maximum, because each connection is one."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
