"""The server's log: lines on stderr, JSON for programs and coloured text on a terminal.

What is logged are events with facts: session, bot, match. Never a card, a key, a seed or a secret, and never the text
of an exception, which may hold one: `places` tells where it came from. What strangers wrote cannot forge a line. A line
that cannot be written, as on a full disk, is lost, and nothing else for it.
"""

from __future__ import annotations

import logging
import os
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, Final, TextIO

import structlog
from grpc._cython import cygrpc  # type: ignore[attr-defined] # no types of it
from structlog.typing import EventDict, Processor, WrappedLogger

__all__ = ["LEVELS", "Logger", "logger", "traceback_locations", "capture_library_logs"]

Logger = structlog.typing.FilteringBoundLogger

LEVELS: Final = ("debug", "info", "warning", "error")


_MOST: Final = 10  # lines of one sort that a library may log in `_WITHIN_S`: callers could have it log without end
_WITHIN_S: Final = 60.0
# What libraries log as their own error though a caller sent bytes that are no text or no request, or was gone before he
# was answered.
_CALLERS: Final = frozenset(
    {
        ("grpc._cython.cygrpc", "UnicodeDecodeError"),
        ("grpc._cython.cygrpc", "ExecuteBatchError"),
        ("uvicorn.error", "LocalProtocolError"),
    }
)


def logger(stream: TextIO, level: str = "info") -> Logger:
    """Make a log that goes to this stream.  Raises ValueError if there is no such level."""
    if level not in LEVELS:
        raise ValueError(f"no log level is called {level!r}; there are: {', '.join(LEVELS)}")
    rendering: list[Processor]
    if stream.isatty():
        rendering = [_one_line, structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ)]
    else:
        rendering = [structlog.processors.JSONRenderer()]  # escapes whatever is not printable ASCII
    log: Logger = structlog.wrap_logger(
        _SafePrintLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *rendering,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    return log


def capture_library_logs(log: Logger) -> None:
    """Send what gRPC and asyncio log in this process, from warnings on, to this log, and nowhere else.

    Of one sort, ten lines a minute; the next one says how many were left out.
    """
    logging.basicConfig(handlers=[_Others(log)], level=logging.WARNING, force=True)
    # Of a status that cannot be sent, as the caller is gone, it prints a traceback besides the line that it logs.
    cygrpc.traceback = SimpleNamespace(**{**vars(traceback), "print_exc": lambda: None})


def traceback_locations(problem: BaseException) -> list[str]:
    """Where an exception came from, as FILE:LINE FUNCTION, the innermost last; not what it says."""
    frames = traceback.extract_tb(problem.__traceback__)
    return [f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}" for frame in frames]


class _SafePrintLogger(structlog.PrintLogger):
    """Where lines go. Who logs is not to break where the disk is full, or whoever read the lines has gone."""

    def msg(self, message: str) -> None:
        """Print a line, if that can be."""
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warning = error = critical = exception = msg


class _Others(logging.Handler):
    """What libraries log, as lines of ours: of each its first, as asyncio puts an exception's text into others."""

    def __init__(self, log: Logger, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._log = log
        self._clock = clock
        self._told: dict[tuple[str, str], tuple[float, int]] = {}  # by library and error: since when, how many

    def emit(self, record: logging.LogRecord) -> None:
        facts: dict[str, Any] = {"library": record.name}
        level, error = record.levelno, ""
        if record.exc_info is not None and record.exc_info[1] is not None:
            error = type(record.exc_info[1]).__name__
            facts |= {"error": error, "places": traceback_locations(record.exc_info[1])}
        if (record.name, error) in _CALLERS:
            level = logging.WARNING
        since, told = self._told.get((record.name, error), (self._clock(), 0))
        if self._clock() - since >= _WITHIN_S:
            if told > _MOST:
                facts["left_out"] = told - _MOST
            since, told = self._clock(), 0
        self._told[record.name, error] = (since, told + 1)
        if told < _MOST:
            said = record.getMessage().splitlines()
            self._log.log(level, said[0] if said else "", **facts)


def _one_line(_logger: WrappedLogger, _method: str, facts: EventDict) -> EventDict:
    """Control characters in what strangers wrote, escaped."""
    return {name: _escaped(value) for name, value in facts.items()}


def _escaped(value: object) -> object:
    if isinstance(value, str):
        return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in value)
    if isinstance(value, list | tuple):
        return [_escaped(one) for one in value]
    return value
