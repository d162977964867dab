"""The command line that launches a program: it enters its control group, lowers its priority and sets its limits.

It is a chain of small system programs; each replaces itself by the next one. So no code runs between fork and exec,
which is unsafe in a server with threads. This module starts nothing.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.runners.cgroups import Group
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits

__all__ = ["READY", "begin", "environment_of", "launcher", "limited"]

READY: Final = b"\6"  # written just before the program itself runs
NICE: Final = 10  # the niceness of house bots and of checks too

# Arguments: the `cgroup.procs` files of the groups to enter, `--`, and the command to become. The out-of-memory killer
# takes these processes first.
_ENTER: Final = """
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
if [ -w /proc/self/oom_score_adj ]; then echo 1000 > /proc/self/oom_score_adj; fi
exec "$@"
"""


def launcher(group: Group | None) -> tuple[str, ...]:
    """Return the first part of a command line: it enters the group and lowers the CPU priority to NICE.

    The process of a check has this priority already: its bot must not come behind all hosted bots.
    """
    doors = () if group is None else tuple(str(door) for door in group.doors)
    nicer_by = max(0, NICE - os.getpriority(os.PRIO_PROCESS, 0))
    return ("/bin/sh", "-c", _ENTER, "sh", *doors, "--", "nice", "-n", str(nicer_by))


def begin(command: Sequence[str], before: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the last part of a command line: it writes READY, connects the output and becomes the program.

    From here on, the program ends with the server. If the server has ended before, writing READY fails, and the command
    exits.

    Args:
        command: Command of the program.
        before: Command that runs first and becomes the program.
    """
    return (
        "/bin/sh",
        "-c",
        f'printf "\\{READY[0]:o}" >&2 || exit 125; exec 2>&1 < /dev/null; exec "$@"',
        "sh",
        *before,
        *command,
    )


def limited(limits: ResourceLimits, group: Group | None) -> tuple[str, ...]:
    """Return the second part of a command line: it sets limits per process, besides the group's or instead of them."""
    found = shutil.which("prlimit")
    if found is None:
        return ()
    # core is 1, not 0: with 0 the kernel still starts a core-dump handler, as root, for each process that crashes.
    wanted = {"core": 1, "nofile": limits.open_files, "fsize": limits.file_bytes}
    if limits.cpu_s is not None:
        wanted["cpu"] = math.ceil(limits.cpu_s) + 1
    if group is None or not group.has("memory"):
        wanted["data"] = limits.memory_bytes
    return (found, *(f"--{name}={_at_most(name, value)}" for name, value in wanted.items()), "--")


def _at_most(name: str, value: int) -> int:
    """Return a limit that does not exceed the server's own."""
    import resource

    _, most = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    return value if most == resource.RLIM_INFINITY else min(value, most)


def environment_of(task: ProgramSpec, path: str | None, scratch: str) -> dict[str, str]:
    """Return the environment of a program, without the server's address and without the server's own variables.

    Args:
        task: Program to run.
        path: Value of PATH; None if the program's own system sets PATH and has the runtimes.
        scratch: Path of its scratch folder.

    Raises:
        UsageError: If the name or value of a variable is invalid.
    """
    runtimes = {} if path is None else {"PATH": path, **task.for_runtimes}
    for name, value in task.environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise UsageError(f"{name!r:.80} cannot be set in an environment")
    return {
        "HOME": scratch,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": scratch,
        **runtimes,
        **task.environment,
    }
