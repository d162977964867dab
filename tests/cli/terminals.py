"""A command on a terminal, with its output including escape sequences."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

__all__ = ["on_terminal"]

ROWS, COLUMNS = 40, 120


def on_terminal(
    *words: object,
    folder: Path,
    stdout: int | None = None,
    environment: dict[str, str] | None = None,
    interrupt_at: bytes = b"",
) -> tuple[int, str]:
    """Run `cutpurse` with a terminal for stderr and, unless another is given, stdout.

    Args:
        words: Arguments of `cutpurse`.
        folder: Working folder.
        stdout: A file descriptor to use instead of the terminal.
        environment: Variables in addition to those of this process.
        interrupt_at: Press Ctrl-C when this output appears. Default: never.

    Returns:
        The exit code, and all output on the terminal.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", *map(str, words)],
        stdin=its,
        stdout=its if stdout is None else stdout,
        stderr=its,
        cwd=folder,
        env=inherited | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)} | (environment or {}),
    )
    os.close(its)
    received = b""
    try:
        while more := _read(ours):
            received += more
            if interrupt_at and interrupt_at in received:
                process.send_signal(signal.SIGINT)
                interrupt_at = b""
        return process.wait(240), received.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # all processes that had it open have ended
        return b""
