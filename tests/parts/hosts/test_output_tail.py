"""The output of a bot as it is read while the bot writes it."""

from __future__ import annotations

from pathlib import Path

from cutpurse.server.parts.hosts.output_tail import MISSED, OutputTail
from cutpurse.server.runners.output_log import OutputLog


def log_in(folder: Path, most: int = 1_000) -> OutputLog:
    return OutputLog(folder / "talk", 1 << 20, most, 0.0)


def test_each_line_is_read_once(tmp_path: Path) -> None:
    tail = OutputTail(tmp_path / "talk")
    assert tail.read(100) == ""  # not there yet
    log = log_in(tmp_path)
    log.take(b"one\n")
    assert tail.read(100) == "one\n"
    assert tail.read(100) == ""
    log.take("zwö".encode())  # escaped only if it is not printable
    assert tail.read(3) == "zw"  # half a letter waits for its other half
    assert tail.read(3) == "ö"
    log.close()
    tail.close()


def test_a_log_that_was_renewed_is_read_to_its_end_and_then_the_new_one(tmp_path: Path) -> None:
    tail, log = OutputTail(tmp_path / "talk"), log_in(tmp_path, most=20)
    log.take(b"first ")
    assert tail.read(3) == "fir"
    log.take(b"second")  # the first file is full
    assert tail.read(100) == "st second"
    log.close()
    tail.close()


def test_a_reader_that_is_too_slow_says_so(tmp_path: Path) -> None:
    tail, log = OutputTail(tmp_path / "talk"), log_in(tmp_path, most=20)
    log.take(b"first ")
    assert tail.read(3) == "fir"
    for part in (b"second ", b"third ", b"fourth "):
        log.take(part)
    assert tail.read(100) == f"st {MISSED}fourth "
    log.close()
    tail.close()
