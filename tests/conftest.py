"""The pytest options of all tests: the quick run (`--quick`), the long run (`--soak`), and updates of stored texts.

Worker processes take one test file each (`--dist loadfile`): those of `LONGEST`, then the folders of `FIRST` in turn.
"""

import contextlib
import gc
import importlib
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.builds import is_compiled
from tests.costs import Costs
from tests.kill_loops import IN_SOAK, IN_TESTS, PROPERTY, SEED, KillLoop, format_sums, leagues_of, part_of
from tests.postgresql_server import MISSING, PostgresqlServer, programs
from tests.tiers import is_full

__all__ = ["kill_loop", "postgresql", "soak"]

pytest.register_assert_rewrite("tests.lockstep")  # the second implementations assert, too

ROOT = Path(__file__).parent
LEFT_OUT = pytest.StashKey[int]()  # number of tests that the quick run leaves out of the files that it has

# Files that take minutes each, and the folders with other slow ones: they come first, so that none of them is left for
# the end. Long runs print their costliest files.
LONGEST = (
    "page/test_seat_in_a_browser.py",
    "parts/submissions/test_hostile.py",
    "parts/submissions/test_desk.py",
    "parts/submissions/test_fresh.py",
    "parts/submissions/test_end_to_end.py",
)
FIRST = (
    "languages",
    "parts",
    "simulation",
    "page",
    "faults",
    "sandbox",
    "hostile",
    "server",
    "leaderboard",
    "sdk",
    "cli",
    "check",
    "process",
)

# Without a deadline, because the time of an example depends more on the load of the machine than on the code. The long
# run draws new examples; others have the same ones each time, so that a change is not blamed for what chance finds.
_EXAMPLES: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("same", derandomize=True, **_EXAMPLES)
hypothesis.settings.register_profile("drawn", **_EXAMPLES)

for _name in [name for name in os.environ if name.startswith("CUTPURSE_")]:  # settings of who runs the tests
    del os.environ[_name]
os.environ["CUTPURSE_PROGRESS"] = ""  # no line that a slower machine would print
os.environ["CUTPURSE_ANSWER_TIMES"] = ""  # what bots of tests learn is not stored

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
    parser.addoption("--update-numbering", action="store_true", help="write the numbering of learning agents anew")
    parser.addoption(
        "--update-pages",
        action="store_true",
        help="write the payloads of docs/reference/protocol.md and proto/golden anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs(), "costs")
    hypothesis.settings.load_profile("drawn" if config.getoption("--soak") else "same")


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
    if hasattr(session.config, "workerinput") and session.config.args == [str(ROOT.relative_to(Path.cwd()))]:
        _import_share(session.config.workerinput, is_quick=session.config.getoption("--quick"))


def _import_share(worker: dict[str, Any], is_quick: bool) -> None:
    """Import an equal share of all test files, other ones in each worker process.

    pytest rewrites the assertions of a file that it imports for the first time, and stores the result. Five processes
    that all began with the same file would each rewrite all of them, which takes 20 s of processor time.
    """
    files = [file.relative_to(ROOT) for file in sorted(ROOT.rglob("test_*.py"))]
    files = [file for file in files if not (is_quick and is_full(file))]
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection reports it
            importlib.import_module(".".join(("tests", *file.with_suffix("").parts)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude everything loaded so far from garbage collection, because it stays to the end."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out whole files without importing them: that takes a third of the time of the collection."""
    is_left_out = config.getoption("--quick") and is_full(collection_path.relative_to(ROOT))
    return True if is_left_out else None


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
    if not config.getoption("--soak"):
        items[:] = [item for item in items if not item.get_closest_marker("drawn") or _is_drawn(item)]
        products = defaultdict(list)
        for item in items:
            if item.get_closest_marker("sampled") and not item.get_closest_marker("soak"):
                products[item.nodeid.partition("[")[0]].append(item)
        outside = {item for product in products.values() for item in _outside_sample(product)}
        items[:] = [item for item in items if item not in outside]
    if config.getoption("--quick"):
        left_out = [item for item in items if item.get_closest_marker("full") and item.path not in full]
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


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, sched: Any) -> None:
    """Name at once the test in which a process of tests died, or was ended for its time."""
    sched.config.get_terminal_writer().line(f"\n{crashitem} ended its process, or took too long")


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
    if config.getoption("--quick"):
        files = sum(is_full(file.relative_to(ROOT)) for file in ROOT.rglob("test_*.py"))
        terminalreporter.write_line(
            f"left out: {files} files, and of others {config.stash.get(LEFT_OUT, 0)} tests, that take many processes "
            "or repeat what a quicker one shows; `make test-all` runs them"
        )


def _is_drawn(item: pytest.Item) -> bool:
    """Return whether this case, one of many that a test has, is among the half that all runs but the long one have."""
    return sha256(item.nodeid.encode()).digest()[0] % 2 == 0


def _outside_sample(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Draw cases of a test by their names until they hold every value of each parameter; return the others."""
    left = sorted(cases, key=lambda case: sha256(case.nodeid.encode()).digest())
    values = {case: {(name, id(value)) for name, value in case.callspec.params.items()} for case in cases}  # type: ignore[attr-defined]
    missing = set().union(*values.values())
    while missing:
        drawn = max(left, key=lambda case: len(values[case] & missing))
        left.remove(drawn)
        missing -= values[drawn]
    return left


def _turn(path: Path) -> int:
    """Return the sort key of a test file, relative to `tests`: the index of the file or its folder among the first."""
    if path.as_posix() in LONGEST:
        return LONGEST.index(path.as_posix())
    folder = path.parts[0]
    return len(LONGEST) + (FIRST.index(folder) if folder in FIRST else len(FIRST))


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
