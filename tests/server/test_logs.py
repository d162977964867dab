"""What the log looks like, and what it must never hold."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import io
import json
import logging
import traceback
from collections.abc import Iterator

import pytest
from grpc._cython import cygrpc  # type: ignore[attr-defined] # no types of it

from cutpurse.server.logs import _Others, capture_library_logs, logger, traceback_locations


@pytest.fixture
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_off_a_terminal_a_line_is_a_json_document_whatever_a_stranger_wrote() -> None:
    stream = io.StringIO()
    logger(stream).bind(session="s1", bot="ann").info("stream opened", sdk='x\n{"event": "forged"}\x1b[2J\u2028é')
    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert line.isprintable()
    facts = json.loads(line)
    assert facts.pop("timestamp").endswith("Z")
    assert facts == {
        "session": "s1",
        "bot": "ann",
        "event": "stream opened",
        "level": "info",
        "sdk": 'x\n{"event": "forged"}\x1b[2J\u2028é',
    }


@pytest.mark.parametrize("no_color", [False, True])
def test_on_a_terminal_nobody_forges_a_line_or_a_colour(monkeypatch: pytest.MonkeyPatch, no_color: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    logger(stream).info("stream opened", sdk="x\nforged\x1b[2Jé", peers=["a\nb"])
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert "\x1b[2J" not in text
    assert r"x\nforged\x1b[2Jé" in text.replace("\\\\", "\\")
    assert ("\x1b[" in text) != no_color


class FullDisk(io.StringIO):
    """Takes nothing while `is_full`."""

    is_full = True

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "no space left on device")
        return super().write(text)


def test_a_line_that_cannot_be_written_is_lost_and_nothing_else(restored: None) -> None:
    stream = FullDisk()
    log = logger(stream)
    capture_library_logs(log)
    for tell in (log.debug, log.info, log.warning, log.error):
        tell("lost")
    logging.getLogger("asyncio").error("lost")
    stream.is_full = False
    log.info("there is room again")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["event"] == "there is room again"


def test_a_log_whose_file_was_closed_disturbs_nobody(restored: None) -> None:
    stream = io.StringIO()
    log = logger(stream)
    capture_library_logs(log)
    log.info("before")
    stream.close()
    log.error("lost")
    logging.getLogger("asyncio").error("lost")


def test_less_than_the_level_is_not_told() -> None:
    stream = io.StringIO()
    log = logger(stream, "warning")
    log.info("quiet")
    log.warning("loud")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]


def test_a_level_that_is_none_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no log level is called 'loud'; there are: debug, info, warning, error"):
        logger(io.StringIO(), "loud")


def test_of_an_exception_the_place_is_told_and_not_the_text() -> None:
    try:
        raise RuntimeError("the deck is copper_wire")
    except RuntimeError as problem:
        told = traceback_locations(problem)
    assert len(told) == 1
    assert told[0].startswith("server/test_logs.py:")
    assert told[0].endswith("test_of_an_exception_the_place_is_told_and_not_the_text")


@pytest.mark.usefixtures("restored")
def test_what_libraries_log_is_told_without_what_exceptions_say() -> None:
    stream = io.StringIO()
    capture_library_logs(logger(stream))
    try:
        raise RuntimeError("the deck is copper_wire")
    except RuntimeError:
        logging.getLogger("grpc.somewhere").exception("Unexpected error\ncopper_wire")
    logging.getLogger("grpc.somewhere").info("talk")
    (line,) = stream.getvalue().splitlines()
    facts = json.loads(line)
    assert (facts["event"], facts["library"], facts["error"]) == ("Unexpected error", "grpc.somewhere", "RuntimeError")
    assert facts["level"] == "error"
    assert "copper_wire" not in line


@pytest.mark.usefixtures("restored")
def test_grpc_prints_no_traceback_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cygrpc, "traceback", traceback)
    capture_library_logs(logger(io.StringIO()))
    try:
        raise RuntimeError("the caller is gone")
    except RuntimeError:
        cygrpc.traceback.print_exc()  # as it does when a status cannot be sent
        assert capsys.readouterr().err == ""
        traceback.print_exc()
        assert "the caller is gone" in capsys.readouterr().err


@pytest.mark.usefixtures("restored")
def test_a_task_that_failed_unseen_is_told_without_what_it_said() -> None:
    stream = io.StringIO()
    capture_library_logs(logger(stream))

    async def fails() -> None:
        raise RuntimeError("the deck is copper_wire")

    async def run() -> None:
        task = asyncio.ensure_future(fails())
        await asyncio.wait((task,))
        del task
        gc.collect()

    asyncio.run(run())
    assert "Task exception was never retrieved" in stream.getvalue()
    assert "copper_wire" not in stream.getvalue()


@pytest.mark.usefixtures("restored")
def test_callers_cannot_fill_the_log_through_a_library() -> None:
    stream = io.StringIO()
    now = [0.0]
    others = _Others(logger(stream), lambda: now[0])
    library = logging.getLogger("grpc._cython.cygrpc")
    library.addHandler(others)
    library.propagate = False
    try:
        for _ in range(1_000):
            try:
                b"\xff".decode()
            except UnicodeDecodeError:
                library.exception("Invalid encoding on %s", "what a caller sent")
        now[0] = 60.0
        library.error("something else")
        with contextlib.suppress(UnicodeDecodeError):
            try:
                b"\xff".decode()
            except UnicodeDecodeError:
                library.exception("Invalid encoding on %s", "what a caller sent")
                raise
    finally:
        library.removeHandler(others)
        library.propagate = True
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["level"] for line in lines] == ["warning"] * 10 + ["error", "warning"]
    assert [line.get("left_out") for line in lines] == [None] * 11 + [990]
