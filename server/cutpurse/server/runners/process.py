"""The runner for plain processes, for your own bots on your own machine.

THERE IS NO ISOLATION. A program can do all that the server's user can: read the database, tokens and all files of that
user, use the network, and end the server. Memory, processes and CPU are limited where the system allows it. That
protects against bugs, not against attacks.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from cutpurse.server.runners.cgroups import cgroups
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.launching import begin, environment_of, launcher, limited
from cutpurse.server.runners.port import SOCKET, ProgramSpec, RunnerError
from cutpurse.server.runners.runtimes import search_path
from cutpurse.server.runners.sandboxed_process import Making, SandboxedProcess, started
from cutpurse.wire.server_address import SERVER_VARIABLE, UNIX

__all__ = ["ProcessRunner"]


class ProcessRunner:
    """A `Runner` for plain processes, WITHOUT ISOLATION."""

    name: Final = "process"
    has_memory: Final = False  # a program could read the memories of others, too
    image: Final = ""

    def missing(self) -> str | None:
        """Return why this runner does not work here, or None."""
        return None if os.name == "posix" else "programs are run on POSIX systems only; use Linux, or WSL"

    def weaker(self) -> tuple[str, ...]:
        """List what is not isolated or limited here, one line each."""
        return (
            "nothing is isolated: a program can do all that the server's user can; for one's own bots only",
            *(f"{what} not limited by a control group" for what in cgroups().lacks()),
        )

    def start(self, task: ProgramSpec) -> SandboxedProcess:
        """Start a program as a plain process.

        Raises:
            RunnerError: If this runner does not work here, or the program does not start.
            OSError: If the system refuses.
        """
        if (why := self.missing()) is not None:
            raise RunnerError(why)
        scratch = Path(tempfile.mkdtemp(prefix="cutpurse-"))
        group = cgroups().make()
        try:
            if group is not None:
                group.limit(task.limits, 0)
            watched = DiskQuota(task.folder, task.limits.file_bytes) if task.is_writable else None
            environment = environment_of(task, search_path(task.runtimes), str(scratch))
            if task.arena is not None:
                environment[SERVER_VARIABLE] = f"{UNIX}{task.arena / SOCKET}"
            complaints, errors = os.pipe()
            making = Making(
                command=(*launcher(group), *limited(task.limits, group), *_with_us(), *begin(task.command)),
                environment=environment,
                folder=task.folder,
                errors=errors,
                complaints=complaints,
                watched=watched,
                is_group=True,
                clear=lambda: shutil.rmtree(scratch, ignore_errors=True),
            )
            return started(task, making, group)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            if group is not None:
                group.remove()
            raise


def _with_us() -> tuple[str, ...]:
    """Return the command that makes the kernel kill a program when the server ends."""
    found = shutil.which("setpriv")
    return () if found is None else (found, "--pdeathsig", "KILL", "--")
