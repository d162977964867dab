"""The runners by name."""

from __future__ import annotations

from collections.abc import Callable

from cutpurse.engine.errors import UsageError
from cutpurse.server.runners.bubblewrap import BubblewrapRunner
from cutpurse.server.runners.container import ContainerRunner
from cutpurse.server.runners.port import Runner
from cutpurse.server.runners.process import ProcessRunner

__all__ = ["runner_named", "working_runner"]


def runner_named(name: str, image: str = "") -> Runner:
    """Create a runner, without checking whether it works here (see `Runner.missing`).

    Args:
        name: 'bubblewrap', 'container' or 'process'.
        image: Image for containers; empty for the default one.

    Raises:
        UsageError: If the name is unknown.
    """
    made: dict[str, Callable[[], Runner]] = {
        "bubblewrap": BubblewrapRunner,
        "container": lambda: ContainerRunner(image),
        "process": ProcessRunner,
    }
    if name not in made:
        raise UsageError(f"no runner is called {name!r:.80}; there are: {', '.join(made)}")
    return made[name]()


def working_runner(name: str, image: str, where: str) -> Runner:
    """Create a runner that works on this machine.

    Args:
        name: See `runner_named`.
        image: See `runner_named`.
        where: Where the name is given, for the error: an option or a key of a file.

    Raises:
        UsageError: If the name is unknown, or the runner does not work here.
    """
    runner = runner_named(name, image)
    if (why := runner.missing()) is not None:
        raise UsageError(f"{where} {name}: {why}")
    return runner
