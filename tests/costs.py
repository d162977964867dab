"""A pytest plugin that adds up what each file of tests costs, and prints the costliest at the end of a long run.

Processor time counts the process of the tests and every process that it started and waited for.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any, Final

import pytest

__all__ = ["Costs"]

_SENT: Final = "costs"  # key of what a worker sends
_LONG_RUN_S: Final = 60.0  # processor time from which a run names its costliest files
_NAMED: Final = 25


class Costs:
    """Processor time and duration of each file, of all processes of a run."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.by_file: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure one test with its fixtures."""
        began = _now()
        try:
            return (yield)
        finally:
            self._add(item.nodeid.partition("::")[0], [end - start for end, start in zip(_now(), began, strict=True)])

    def _add(self, file: str, costs: list[float]) -> None:
        self.by_file[file] = [sum(pair) for pair in zip(self.by_file[file], costs, strict=True)]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the costs of a worker to the process that prints the summary."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_SENT] = dict(self.by_file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Receive the costs of a worker; a worker that has died sends none."""
        for file, costs in getattr(node, "workeroutput", {}).get(_SENT, {}).items():
            self._add(file, costs)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the costliest files, if the run was long."""
        total_s = sum(processor_s for processor_s, _ in self.by_file.values())
        if total_s < _LONG_RUN_S:
            return
        terminalreporter.write_line(
            f"processor time of the tests: {total_s:,.0f} s; of the costliest files, and durations:"
        )
        costliest = sorted(self.by_file.items(), key=lambda entry: max(entry[1]), reverse=True)
        for file, (processor_s, duration_s) in costliest[:_NAMED]:
            terminalreporter.write_line(f"{processor_s:7.1f} s {duration_s:7.1f} s  {file}")


def _now() -> tuple[float, float]:
    """Return the processor time so far, of ended child processes too, and the time."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system, time.monotonic()
