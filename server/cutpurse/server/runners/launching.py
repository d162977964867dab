"""What comes before a program that is run for others: into its group, behind everybody else, under its limits.

A few small programs of the system, each of which becomes the next: nothing has to be run between fork and exec of a
server that has threads. This module starts nothing.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.runners.cgroups import Group
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits

__all__ = ["READY", "begin", "environment_of", "launcher", "limited"]

READY: Final = b"\6"  # said when all is prepared, as the last before the program itself
NICE: Final = 10  # as for house bots

# Its arguments: files of groups to enter, `--`, what to become. It is also the first to go where memory runs out.
_ENTER: Final = """
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
if [ -w /proc/self/oom_score_adj ]; then echo 1000 > /proc/self/oom_score_adj; fi
exec "$@"
"""


def launcher(group: Group | None) -> tuple[str, ...]:
    """Begins a command line: the program enters its group, and goes behind everybody else for the processor."""
    doors = () if group is None else tuple(str(door) for door in group.doors)
    return ("/bin/sh", "-c", _ENTER, "sh", *doors, "--", "nice", "-n", str(NICE))


def begin(command: Sequence[str], before: Sequence[str] = ()) -> tuple[str, ...]:
    """Build the last step of a launch: say that all is ready, connect the output, and become the program.

    By now all of it ends with us. Had we ended before that, nobody would hear that it is ready, and so it ends as well.
    before: what it becomes first; it becomes the program.
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
    """Goes on with it: limits of each process, beneath those of the group, or in their place."""
    found = shutil.which("prlimit")
    if found is None:
        return ()
    # Not 0: with that, where dumps go to a program, the kernel still starts it, as root, for each that falls.
    wanted = {"core": 1, "nofile": limits.open_files, "fsize": limits.file_bytes}
    if limits.cpu_s is not None:
        wanted["cpu"] = math.ceil(limits.cpu_s) + 1
    if group is None or not group.has("memory"):
        wanted["data"] = limits.memory_bytes
    return (found, *(f"--{name}={_at_most(name, value)}" for name, value in wanted.items()), "--")


def _at_most(name: str, value: int) -> int:
    """Not more than we may ourselves."""
    import resource

    _, most = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    return value if most == resource.RLIM_INFINITY else min(value, most)


def environment_of(task: ProgramSpec, path: str | None, scratch: str) -> dict[str, str]:
    """All that a program finds in its environment but where the server is: nothing of ours.

    path: PATH; None: its system has one of its own, and runtimes. Raises UsageError.
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
