"""The pytest options of all tests: the quick run (`--quick`), the long run (`--soak`), and updates of stored texts.

Worker processes take one test file each (`--dist loadfile`), in the order of `FIRST`.
"""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.builds import is_compiled
from tests.kill_loops import IN_SOAK, IN_TESTS, PROPERTY, SEED, KillLoop, format_sums, leagues_of, part_of
from tests.postgresql_server import MISSING, PostgresqlServer, programs
from tests.tiers import is_full

__all__ = ["kill_loop", "postgresql", "soak"]

ROOT = Path(__file__).parent
LEFT_OUT = pytest.StashKey[int]()  # number of tests that the quick run leaves out

# Folders with slow files: they come first, so that none of them is left for the end.
FIRST = (
    "languages",
    "places",
    "simulation",
    "workers",
    "web",
    "submissions",
    "faults",
    "sandbox",
    "hostile",
    "server",
    "leaderboard",
    "sdk",
)

# Without a deadline, because the time of an example depends more on the load of the machine than on the code.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background makes them ignore Ctrl-C, and so would the tested programs.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the tests that are marked full")
    parser.addoption(
        "--soak", action="store_true", help="run the tests that take minutes, and more cases of the others"
    )
    parser.addoption("--seed", type=int, help="the simulated world to run, instead of all; or that of the kill loops")
    parser.addoption("--kills", type=int, help="kills of all kill loops together, see tests/kill_loops.py")
    parser.addoption("--update-playthroughs", action="store_true", help="write tests/playthroughs anew")
    parser.addoption("--update-schema", action="store_true", help="write the schema of a new leaderboard anew")
    parser.addoption("--update-numbering", action="store_true", help="write the numbering of learning agents anew")
    parser.addoption(
        "--update-pages",
        action="store_true",
        help="write the payloads of docs/reference/protocol.md and proto/golden anew",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let a kill loop be one test for each of its leagues."""
    if "kill_loop" not in metafunc.fixturenames:
        return
    options = metafunc.config.option
    part = part_of(metafunc.definition.nodeid)
    total = options.kills or (IN_SOAK if options.soak else IN_TESTS)
    seed = SEED if options.seed is None else options.seed
    loops = [KillLoop(part, league, kills, seed) for league, kills in enumerate(leagues_of(part, total))]
    metafunc.parametrize("kill_loop", loops, indirect=True, ids=range(len(loops)))


def pytest_collection(session: pytest.Session) -> None:
    gc.disable()  # thousands of tests are created and none is freed, so half of the time would be garbage collection


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude everything loaded so far from garbage collection, because it stays to the end."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    files = {path: path.relative_to(ROOT) for path in {item.path for item in items}}
    turns = {path: _turn(relative) for path, relative in files.items()}
    full = {path for path, relative in files.items() if is_full(relative)}
    items.sort(key=lambda item: turns[item.path])
    for item in items:
        if item.path in full:
            item.add_marker(pytest.mark.full)
        if is_compiled and item.get_closest_marker("needs_pure"):
            item.add_marker(pytest.mark.skip(reason="needs the pure build"))
    if config.getoption("--quick"):
        left_out = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = len(left_out)
    if config.getoption("--soak"):
        return
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="runs in make soak"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use at least five processes, because many tests wait."""
    return max(5, os.cpu_count() or 1)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the number of left-out tests to the process that prints the summary; each worker has counted all tests."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Receive the number of left-out tests from a worker; a worker that has died sends none."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", node.config.stash.get(LEFT_OUT, 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many tests the quick run has left out, and the sums of the kill loops."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    loops = [
        value
        for report in reports
        if report.when == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if sums := format_sums(loops):
        terminalreporter.write_line(sums)
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"left out: {left_out} tests that take many processes or repeat what a quicker one shows; "
            "`make test-all` runs them"
        )


def _turn(path: Path) -> int:
    """Return the sort key of a test file, relative to `tests`: the index of its folder in `FIRST`."""
    folder = path.parts[0]
    return FIRST.index(folder) if folder in FIRST else len(FIRST)


@pytest.fixture(scope="session")
def soak(pytestconfig: pytest.Config) -> bool:
    """Return whether this is the long run, in which tests may play more cases."""
    return bool(pytestconfig.getoption("--soak"))


@pytest.fixture
def kill_loop(request: pytest.FixtureRequest) -> KillLoop:
    """Return how often, and by which chance, a kill loop kills; its counts are summed in the terminal summary."""
    loop: KillLoop = request.param
    request.node.user_properties.append((PROPERTY, loop.counts))
    return loop


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """Run a PostgreSQL server for the tests of this process."""
    found = programs()
    if found is None:
        pytest.skip(MISSING)
    server = PostgresqlServer(found)
    yield server
    server.stop()
