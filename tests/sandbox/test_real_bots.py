"""Real bots in a real sandbox: they play as they do outside, and know no more than the page says."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from cutpurse.sdk import program
from cutpurse.sdk.local import play
from cutpurse.server.runners.bubblewrap import BubblewrapRunner
from cutpurse.server.runners.cgroups import Cgroups
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits, Runner
from cutpurse.server.runners.runtimes import python_runtime
from cutpurse.wire.server_address import PROTO_VARIABLE, SERVER_VARIABLE, UNIX
from tests.sandbox.trying import MIB, Bench, is_peak, runner_or_skip

JAVASCRIPT = Path(__file__).resolve().parents[2] / "sample_bots" / "javascript"
PYTHON_BOT = """
from cutpurse.sdk.run import run
class Bot:
    reads_events = False
    def choose(self, view, decision):
        return 0
raise SystemExit(run(Bot, name="python", quiet=True))
"""


class SandboxedChild:
    """A substitute for the `Child` of local play that a runner starts."""

    def __init__(
        self,
        runner: Runner,
        root: Path,
        folder: Path,
        command: Sequence[str],
        name: str,
        _plain_command: Sequence[str],
        environment: Mapping[str, str],
        _on_end: Callable[[], None],
    ) -> None:
        root = Path(tempfile.mkdtemp(dir=root))
        arena = root / "arena"
        arena.mkdir()
        os.link(environment[SERVER_VARIABLE].removeprefix(UNIX), arena / "bot.sock")
        (arena / "bot.sock").chmod(0o666)
        protos = Path(environment[PROTO_VARIABLE])
        is_shown = any(protos.is_relative_to(runtime) for runtime in python_runtime())
        spec = ProgramSpec(
            name=name,
            folder=folder,
            command=tuple(command),
            talk=root / "talk",
            arena=arena,
            environment={key: value for key, value in environment.items() if key != SERVER_VARIABLE},
            limits=ResourceLimits(),
            runtimes=(*python_runtime(), *([] if is_shown else [protos])),
        )
        self.running = runner.start(spec)

    @property
    def code(self) -> int | None:
        """Exit code, None while the program runs."""
        ended = self.running.ended()
        return None if ended is None else ended.code or 0

    def how_it_ended(self) -> str:
        """Describe how the program ended."""
        ended = self.running.ended()
        return "still runs" if ended is None else ended.text

    def last_words(self) -> str:
        """Return the last lines of the program's output."""
        return " | ".join(self.running.talk().splitlines()[-3:])

    def stop(self, grace_s: float = 2.0) -> bool:
        """Stop the program."""
        self.running.stop(grace_s)
        return True


@pytest.mark.parametrize("name", ["Python", "Node"])
@pytest.mark.parametrize("runner", ["process", "bubblewrap"])
def test_a_bot_plays_matches_in_there(name: str, runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = runner_or_skip(runner)
    tmp_path.chmod(0o755)
    if name == "Python":
        folder, command = tmp_path / "python-bot", ("python", "bot.py")
        folder.mkdir()
        (folder / "bot.py").write_text(PYTHON_BOT, encoding="utf-8")
    elif shutil.which("node") and (JAVASCRIPT / "node_modules").is_dir():
        folder, command = JAVASCRIPT, ("node", "bot.mjs")
    else:
        pytest.skip("Node or its packages are not here: npm ci --prefix sample_bots/javascript --ignore-scripts")
    children: list[SandboxedChild] = []

    def start(*given: object) -> SandboxedChild:
        children.append(partial(SandboxedChild, chosen, tmp_path, folder, command)(*given))  # type: ignore[arg-type]
        return children[-1]

    monkeypatch.setattr(program, "Child", start)
    monkeypatch.setattr(program, "DIAL_IN_S", 120.0)
    spec = f"exec:{sys.executable} {folder / command[1]}"
    try:
        played = play("greed", [spec, spec, "first_option"], matches=1)
        peaks = [child.running.use().peak_bytes for child in children]
    finally:
        program.end_programs()
    assert not played.failures
    assert played.decisions > 10
    assert peaks
    assert all(is_peak(peak, MIB, 256 * MIB) for peak in peaks)


def test_a_host_without_control_groups_still_holds_memory_and_processes_down(tmp_path: Path) -> None:
    runner_or_skip("bubblewrap")
    runner = BubblewrapRunner(Cgroups({}, 0))
    assert len(runner.weaker()) == 3
    bench = Bench(runner, tmp_path)
    try:
        greedy = bench.start(
            "greedy",
            """
            import time

            held = []
            try:
                while True:
                    held.append(bytearray(b"x" * (1 << 20)))
            except MemoryError:
                count = len(held)
                time.sleep(10)  # it is looked at twice a second, and less often by a busy machine
                held.clear()
                print(count)
            """,
            ResourceLimits(memory_bytes=64 * MIB),
        )
        bomb = bench.start(
            "bomb",
            """
            import os, signal
            for started in range(100):
                try:
                    if os.fork() == 0:
                        signal.pause()
                except OSError:
                    break
            print(started)
            """,
            ResourceLimits(processes=20),
        )
        greedy_ended, bomb_ended = greedy.wait(240), bomb.wait(240)
    finally:
        bench.close()
    assert greedy_ended is not None
    assert bomb_ended is not None
    assert 20 < int(greedy.talk()) < 64
    assert 20 * MIB < greedy_ended.use.peak_bytes < 200 * MIB
    assert 10 < int(bomb.talk()) < 20
    assert bomb_ended.cause == "exited"
