"""Both ends of the protocol between the bench and its workers: JSON lines over a worker's stdin and stdout.

A worker first sends the rows it can measure and the versions of its libraries. For each line
`{"row": name, "seconds": s}` it measures that row for about `s` CPU seconds, and answers with one `Sample`. This module
does not know what a row is.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["ROOT", "Measure", "Rows", "Sample", "Stopwatch", "Worker", "WorkerFailed", "serve"]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample of one row in one round.

    `done` counts decisions including forced ones, or calls if the row measures a call. `free` counts the decisions with
    two or more options; None if not counted. Times are in seconds.
    """

    done: int
    free: int | None
    cpu_s: float
    wall_s: float


Measure = Callable[[float], Sample]
Rows = Mapping[str, Measure]


class Stopwatch:
    """CPU and wall time since creation.

    Rates use CPU time: other programs on the machine change it by a few per cent, and wall time by much more.
    """

    __slots__ = ("_cpu_end", "_cpu_start", "_wall_start")

    def __init__(self, seconds: float) -> None:
        self._wall_start = time.perf_counter()
        self._cpu_start = time.process_time()
        self._cpu_end = self._cpu_start + seconds

    def is_over(self) -> bool:
        return time.process_time() >= self._cpu_end

    def sample(self, done: int, free: int | None = None) -> Sample:
        """Return the sample of `done` things since the start; call it directly after the measured loop."""
        return Sample(done, free, time.process_time() - self._cpu_start, time.perf_counter() - self._wall_start)


def serve(prepare: Callable[[], tuple[Rows, Mapping[str, str]]]) -> None:
    """Run the worker's end: call `prepare` for the rows and the versions, then measure requests until stdin closes.

    Output of libraries goes to stderr, because stdout is for answers only.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        rows, versions = prepare()
        print(json.dumps({"rows": list(rows), "versions": dict(versions)}), file=answers, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            sample = rows[request["row"]](request["seconds"])
            print(json.dumps(asdict(sample)), file=answers, flush=True)
    except KeyboardInterrupt:
        pass  # the terminal interrupts the whole group, and the bench prints the message


class WorkerFailed(Exception):
    """The error if a worker ends before its answer; its own message is on stderr."""


class Worker:
    """The bench's end: a running worker, with the rows it can measure and the versions of its libraries."""

    def __init__(self, python: Path, module: str) -> None:
        """Start `python -m module` in the root of the repository.  Raises WorkerFailed if it does not start."""
        self._module = module
        self._process = subprocess.Popen(
            [python, "-m", module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        try:
            hello = self._answer("start")
        except BaseException:
            self.close()
            raise
        self.rows: Sequence[str] = hello["rows"]
        self.versions: Mapping[str, str] = hello["versions"]

    def measure(self, row: str, seconds: float) -> Sample:
        """Return one sample of `row`.  Raises WorkerFailed if the worker ends instead of answering."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"row": row, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and reading its answer raises the error
        return Sample(**self._answer(row))

    def close(self) -> None:
        """Close the worker's stdin, and kill it if it does not end."""
        try:
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    # Any: the values of a JSON object have any type; both callers convert them at once.
    def _answer(self, what: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerFailed(f"{self._module} ended at {what}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
