"""No test sleeps: what is waited for is an event, or is looked at by `tests/looking.py`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from tests.roots import CHECKOUT

# Programs that keep a pace, hold something up for a time, or play a bot that thinks: that time is what they are for.
PACED: Final = {
    "faults/chaos.py": "hurts now and then",
    "faults/chaos_bots.py": "bots that think",
    "faults/chaos_server.py": "tells how it does, again and again",
    "faults/proxy.py": "holds a line up for a time",
    "faults/test_broken_lines.py": "a bot that thinks, whose line is hurt now and then",
    "hostile/child.py": "looks at itself",
    "hostile/honest.py": "a bot that thinks",
    "hostile/siege.py": "stops a server for a time, and comes now and then",
    "hostile/witness.py": "bots that think",
    "looking.py": "the place for it",
    "sdk/raw_bot.py": "a bot that is slow",
    "process/test_processes.py": "a task that is slow",
    "server/test_metrics.py": "a server that is stopped for a time",
    "server/test_stalls.py": "a server that is stopped for a time",
    "timing/windows.py": "a bot that thinks, and is timed",
}


def sleeps(source: str) -> list[int]:
    """The lines that sleep; `asyncio.sleep(0)` only lets others have their turn."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sleep":
            seconds = node.args[0] if node.args else None
            if not (isinstance(seconds, ast.Constant) and seconds.value == 0):
                found.append(node.lineno)
    return found


def test_only_programs_that_keep_a_pace_sleep() -> None:
    tests = CHECKOUT / "tests"
    found = {str(path.relative_to(tests)): sleeps(path.read_text(encoding="utf-8")) for path in _files(tests)}
    assert {name: lines for name, lines in found.items() if lines and name not in PACED} == {}
    assert [name for name in PACED if not found[name]] == []


def test_a_sleep_is_found() -> None:
    assert sleeps("import time\ntime.sleep(1)\nasync def wait():\n    await asyncio.sleep(0)\n") == [2]
    assert sleeps("time.sleep(seconds)\nasyncio.sleep(delay=1)\n") == [1, 2]


def _files(tests: Path) -> list[Path]:
    return [path for path in sorted(tests.rglob("*.py")) if "__pycache__" not in path.parts]
