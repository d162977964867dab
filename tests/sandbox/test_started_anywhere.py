"""A start that is cut short at each of its moments: where the system has no descriptor left, and no thread."""

from __future__ import annotations

import errno
import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutpurse.server.runners.port import ProgramSpec, RunnerError
from cutpurse.server.runners.process_usage import children
from tests.sandbox.trying import runner_or_skip

MAKES = ("pipe", "open", "memfd_create", "pidfd_open")  # what makes descriptors, also where Python's library does


def left() -> tuple[list[str], list[int]]:
    """What is open, and whom we started. A descriptor of an earlier test may be closed meanwhile, so they are named."""
    open_now = []
    for entry in Path("/proc/self/fd").iterdir():
        if (link := _link(entry)) and "/proc/" not in link:
            open_now.append(f"{entry.name} {link}")
    return sorted(open_now), children(os.getpid())


def _link(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:  # that of the folder that is being read
        return ""


def failing_at(moment: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """From now on the descriptor of this number is refused, counted from 0; how many were asked for."""
    asked = itertools.count()

    def patched(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*given: Any, **more: Any) -> Any:
            if next(asked) == moment:
                raise OSError(errno.EMFILE, "Too many open files")
            return make(*given, **more)

        return made

    for name in MAKES:
        if hasattr(os, name):
            monkeypatch.setattr(os, name, patched(getattr(os, name)))
    return lambda: next(asked)


@pytest.mark.parametrize("name", ["process", "bubblewrap"])
def test_a_start_without_a_descriptor_at_any_moment_leaves_nothing_and_nobody_waits(name: str, tmp_path: Path) -> None:
    runner = runner_or_skip(name)
    task = ProgramSpec(name="bot", folder=tmp_path, command=("true",), talk=tmp_path / "talk")
    refused = 0
    for moment in itertools.count():
        open_before, running_before = left()
        with pytest.MonkeyPatch.context() as monkeypatch:
            asked = failing_at(moment, monkeypatch)
            try:
                ended = runner.start(task).wait(240)
            except OSError:
                refused += 1
            else:
                assert ended is not None
                assert (ended.cause, ended.code) == ("exited", 0), moment
            is_over = asked() <= moment
        open_after, running_after = left()
        assert [one for one in open_after if one not in open_before] == [], moment
        assert [one for one in running_after if one not in running_before] == [], moment
        if is_over:
            break
    assert refused >= 6  # else nothing was tried


@pytest.mark.parametrize("name", ["process", "bubblewrap"])
def test_a_start_without_a_thread_is_refused_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = runner_or_skip(name)

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    open_before, _ = left()
    with pytest.raises(RunnerError, match="bot cannot be run here: no thread can look after it"):
        runner.start(ProgramSpec(name="bot", folder=tmp_path, command=("true",), talk=tmp_path / "talk"))
    assert [one for one in left()[0] if one not in open_before] == []
