"""A check of the sandbox on a host with control groups version 2; scripts/cgroup2.sh runs it in a virtual machine.

It is alone in its group, as a service is. The exit code is 0 if each program ended with the expected cause, and nothing
is left behind.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from cutpurse.server.runners.cgroups import MEMBERSHIP, ROOT, cgroups
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.port import Cause, ProgramSpec, ResourceLimits

__all__ = ["PROGRAMS"]

MIB = 1 << 20
FORKS = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

# A program, its limits, and the cause by which it must end.
PROGRAMS: tuple[tuple[str, ResourceLimits, Cause], ...] = (
    ("print('well')", ResourceLimits(), "exited"),
    (
        "held = []\nwhile True: held.append(bytearray(b'x' * (1 << 20)))",
        ResourceLimits(memory_bytes=64 * MIB),
        "memory",
    ),
    (FORKS, ResourceLimits(processes=20, wall_s=120), "processes"),
    ("while True: pass", ResourceLimits(cpu_s=1.0, cpu_cores=0.25), "processor"),
)


def main() -> int:
    own = ROOT / MEMBERSHIP.read_text(encoding="ascii").strip().removeprefix("0::/")
    found, runner = cgroups(), runner_named("bubblewrap")
    wrong = [f"{what}" for what in (runner.missing(), *runner.weaker()) if what]
    if found.version != 2:
        wrong.append(f"version {found.version} of control groups")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bot").mkdir()
        for source, limits, cause in PROGRAMS if not wrong else ():
            (folder / "bot" / "main.py").write_text(source, encoding="utf-8")
            task = ProgramSpec("guest", folder / "bot", ("python3", "-S", "main.py"), folder / "talk", limits=limits)
            ended = runner.start(task).wait(300)
            print(ended, flush=True)  # noqa: T201
            if ended is None or ended.cause != cause:
                wrong.append(f"{ended} instead of {cause}")
    wrong += [f"{left} is left" for left in own.glob("cutpurse-*-*")]
    print(f"{'WRONG ' + str(wrong) if wrong else 'ALL WELL'}", flush=True)  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
