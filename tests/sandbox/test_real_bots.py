"""Real bots in a real sandbox: they play as they do outside, and know no more than the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import sandbox
from cutpurse.server.runners.bubblewrap import BubblewrapRunner
from cutpurse.server.runners.cgroups import Cgroups
from cutpurse.server.runners.port import ResourceLimits
from tests.sandbox.trying import MIB, Bench, is_peak, runner_or_skip


@pytest.mark.parametrize("name", ["Python", "Node"])
@pytest.mark.parametrize("runner", ["process", "bubblewrap"])
def test_a_bot_plays_matches_in_there(name: str, runner: str, tmp_path: Path) -> None:
    runner_or_skip(runner)
    tmp_path.chmod(0o755)
    found = {bot.name: bot for bot in sandbox.bots(tmp_path)}
    if name not in found:
        pytest.skip("Node or its packages are not here: npm ci --prefix sample_bots/javascript --ignore-scripts")
    played = sandbox.measured(found[name], runner, matches=1, limits=ResourceLimits())
    assert played.decisions > 10
    assert is_peak(played.peak_bytes, MIB, 256 * MIB)
    assert 0 < played.start_s < played.first_s


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
                time.sleep(1.2)  # it is looked at twice a second
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
        greedy_ended, bomb_ended = greedy.wait(60), bomb.wait(60)
    finally:
        bench.close()
    assert greedy_ended is not None
    assert bomb_ended is not None
    assert 20 < int(greedy.talk()) < 64
    assert 20 * MIB < greedy_ended.use.peak_bytes < 200 * MIB
    assert 10 < int(bomb.talk()) < 20
    assert bomb_ended.cause == "exited"
