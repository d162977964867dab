"""The server's log: lines on stderr, as JSON for programs and as coloured text on a terminal.

Lines are events with fields, such as session, bot and match. They never contain a card, key, seed or secret, nor the
text of an exception, which may contain one; `places` says where it was raised. Text from strangers cannot forge a line.
A line that cannot be written, for example on a full disk, is lost without further effect.
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

from cutpurse.server.settings import LOG_LEVELS

__all__ = ["Logger", "logger", "traceback_locations", "capture_library_logs"]

Logger = structlog.typing.FilteringBoundLogger

_MOST: Final = 10  # maximum lines of one kind from a library per `_WITHIN_S`, since callers could cause any number
_WITHIN_S: Final = 60.0
# Errors of libraries that callers cause: bytes that are no text or no request, or a caller that left before the answer.
_CALLERS: Final = frozenset(
    {
        ("grpc._cython.cygrpc", "UnicodeDecodeError"),
        ("grpc._cython.cygrpc", "ExecuteBatchError"),
        ("uvicorn.error", "LocalProtocolError"),
    }
)


def logger(stream: TextIO, level: str = "info") -> Logger:
    """Return a log that writes to this stream.

    Raises:
        ValueError: If there is no such level.
    """
    if level not in LOG_LEVELS:
        raise ValueError(f"no log level is called {level!r}; there are: {', '.join(LOG_LEVELS)}")
    rendering: list[Processor]
    if stream.isatty():
        rendering = [_one_line, structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ)]
    else:
        rendering = [structlog.processors.JSONRenderer()]  # escapes everything but printable ASCII
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
    """Redirect warnings and errors of gRPC, asyncio and other libraries to this log.

    At most ten lines of one kind are written a minute; the next line says how many were left out.
    """
    logging.basicConfig(handlers=[_Others(log)], level=logging.WARNING, force=True)
    # For a status that cannot be sent because the caller has left, it prints a traceback in addition to its log line.
    cygrpc.traceback = SimpleNamespace(**{**vars(traceback), "print_exc": lambda: None})


def traceback_locations(problem: BaseException) -> list[str]:
    """Return where an exception was raised, as FILE:LINE FUNCTION, innermost last; never its text."""
    frames = traceback.extract_tb(problem.__traceback__)
    return [f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}" for frame in frames]


class _SafePrintLogger(structlog.PrintLogger):
    """A print logger that ignores a full disk, and a pipe or file that was closed."""

    def msg(self, message: str) -> None:
        """Print a line if possible."""
        with suppress(OSError, ValueError):
            super().msg(message)

    log = debug = info = warning = error = critical = exception = msg


class _Others(logging.Handler):
    """A handler for log records of libraries.

    It keeps only the first line of each, as asyncio puts exception texts into the others.
    """

    def __init__(self, log: Logger, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._log = log
        self._clock = clock
        # start of the window and number of lines, by library and error
        self._told: dict[tuple[str, str], tuple[float, int]] = {}

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
    """Escape the control characters in strangers' text."""
    return {name: _escaped(value) for name, value in facts.items()}


def _escaped(value: object) -> object:
    if isinstance(value, str):
        return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in value)
    if isinstance(value, list | tuple):
        return [_escaped(one) for one in value]
    return value
