"""Processes that keep the machine busy, as other programs do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["busy_processes"]

# It is no child of the tests, and has a session of its own, since Linux divides its time among sessions. It ends with
# its standard input, and so with the tests, whatever becomes of them.
_BUSY = """
import os, sys, threading
if os.fork():
    os._exit(0)
os.setsid()
os.nice(int(sys.argv[1]))
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(flush=True)
while True:
    pass
"""


@contextmanager
def busy_processes(count: int = 8, niceness: int = 0) -> Iterator[None]:
    """Run busy processes within the block."""
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", _BUSY, str(niceness)], stdin=pipe, stdout=pipe) for _ in range(count)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"\n"
        yield
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in processes:
            assert process.stdout is not None
            with process:
                process.stdout.read()  # until it has ended
