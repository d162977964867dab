"""Output of the command line: data on stdout, messages and progress on stderr, nothing animated without a terminal.

This module knows no game.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, Final, TextIO

__all__ = [
    "LossyStream",
    "json_text",
    "paint",
    "print_json",
    "print_lines",
    "reserve_stdout",
    "results",
    "print_message",
    "escape_unencodable",
    "table",
    "ignore_closed_stderr",
]

STYLES: Final = {"good": 32, "bad": 31, "open": 33, "leader": 1}  # green, red, yellow, bold; see ECMA-48, 8.3.117


def print_message(text: str) -> None:
    """Print a line on stderr; it is lost if nobody can read it, as when the terminal is closed."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")  # not typer.echo: a bot starts faster without importing typer
        sys.stderr.flush()


_reserved: list[TextIO] = []  # streams to the original stdout; the last one is in use


def results() -> TextIO:
    """Return the stream for a command's results: the original stdout, even while stdout is reserved."""
    return _reserved[-1] if _reserved else sys.stdout


@contextmanager
def reserve_stdout() -> Iterator[None]:
    """Send everything printed within this block to stderr, except what is written to `results()`.

    That includes programs and worker processes, since the file descriptor itself is redirected. In a process that owns
    its stdout the descriptor stays redirected to the end. So text that a bot prints at exit never follows a result.
    """
    _reserved.append(_moved_away(sys.stdout))
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        with suppress(OSError):
            _reserved.pop().flush()


def _moved_away(stdout: TextIO) -> TextIO:
    """Redirect the process's file descriptor 1 to stderr, and return a stream to its original target.

    A stream that is not the process's own stdout, as in a test, is returned as it is.
    """
    if stdout is not sys.__stdout__ or not isinstance(stdout, io.TextIOWrapper):
        return stdout
    stdout.flush()
    try:
        moved = os.dup(stdout.fileno())
        os.dup2(sys.__stderr__.fileno() if sys.__stderr__ is not None else stdout.fileno(), stdout.fileno())
    except OSError:  # one of them is closed, so nothing can be mixed
        return stdout
    return os.fdopen(moved, "w", encoding=stdout.encoding, errors=stdout.errors)


class LossyStream:
    """A text stream that discards text nobody can read, as when the terminal is closed."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with suppress(OSError):
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def ignore_closed_stderr() -> Iterator[None]:
    """Discard prints within this block that nobody can read any more, as when the terminal is closed.

    Otherwise a print would make a bot fail in the middle of a match.
    """
    ours = {name: LossyStream(getattr(sys, name)) for name in ("stdout", "stderr") if getattr(sys, name) is not None}
    for name, talk in ours.items():
        setattr(sys, name, talk)
    try:
        yield
    finally:
        for name, talk in ours.items():
            if getattr(sys, name) is talk:  # else other code has replaced the stream since
                setattr(sys, name, talk.stream)


def paint(text: str, style: str, out: TextIO | None = None) -> str:
    """Colour text for a terminal, unless NO_COLOR is set; else return it unchanged.

    Args:
        text: The text.
        style: A name of `STYLES`.
        out: The stream it is written to. Default: `results()`.
    """
    stream = out or results()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def print_lines(lines: Sequence[str], out: TextIO | None = None) -> None:
    """Print lines to `out`, by default to `results()`."""
    import typer

    typer.echo("\n".join(lines), file=out or results())


def print_json(document: object) -> None:
    """Print the JSON document of a command with --json, on stdout."""
    import typer

    typer.echo(json_text(document, indent=2), file=results())


def json_text(document: object, indent: int | None = None) -> str:
    """Format JSON for stdout: readable if stdout is UTF-8, else in ASCII, which is UTF-8 too (RFC 8259)."""
    return json.dumps(document, indent=indent, ensure_ascii=not _is_utf_8(results()))


def escape_unencodable() -> None:
    """Write characters that the encoding of stdout lacks as escapes, as stderr does."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not _is_utf_8(sys.stdout):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_utf_8(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Format rows in columns under headings: numbers to the right, texts to the left, floats with two decimals."""
    from rich.cells import cell_len  # wide characters and emoji take two columns

    texts = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[i]) for row in [list(head), *texts]) for i in range(len(head))]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]
    return [
        "  ".join(
            " " * (width - cell_len(cell)) + cell if to_right else cell + " " * (width - cell_len(cell))
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in [list(head), *texts]
    ]
