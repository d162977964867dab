"""Programs as plain processes, for one's own machine and one's own bots.

THERE IS NO ISOLATION. A program that is run so can do whatever the server's user can: read the database, the tokens of
others and every file of that user, use the network, end the server. Its memory, processes and share of the processor
are limited where the system lets us, so that a fault of one's own does no harm; that stops no malice.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from cutpurse.sdk.online.server_address import SERVER_VARIABLE, UNIX
from cutpurse.server.runners.cgroups import cgroups
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.launching import begin, environment_of, launcher, limited
from cutpurse.server.runners.port import SOCKET, ProgramSpec, RunnerError
from cutpurse.server.runners.runtimes import search_path
from cutpurse.server.runners.sandboxed_process import Making, SandboxedProcess, started

__all__ = ["ProcessRunner"]


class ProcessRunner:
    """See `Runner`; and the module: this isolates nothing."""

    name: Final = "process"
    image: Final = ""

    def missing(self) -> str | None:
        """See `Runner`."""
        return None if os.name == "posix" else "programs are run on POSIX systems only; use Linux, or WSL"

    def weaker(self) -> tuple[str, ...]:
        """See `Runner`."""
        return (
            "nothing is isolated: a program can do all that the server's user can; for one's own bots only",
            *(f"{what} not limited by a control group" for what in cgroups().lacks()),
        )

    def start(self, task: ProgramSpec) -> SandboxedProcess:
        """See `Runner`."""
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
    """Return what ends a program with the server, however the server ends."""
    found = shutil.which("setpriv")
    return () if found is None else (found, "--pdeathsig", "KILL", "--")
