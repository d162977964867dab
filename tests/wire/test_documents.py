"""TOML and JSON from anybody: each is read, or refused in one line that names the file and the place, and quickly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cutpurse.engine.documents import check_document, parse_json
from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound
from cutpurse.wire.toml_file import MAX_BYTES, parse_toml, read_toml

MANY = "a = 1\n\n"  # so that the place is line 3


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("a = " + "[" * 20_000, "x.toml: nested too deeply (at line 3)"),
        ("b = " + "{c=" * 20_000, "x.toml: nested too deeply (at line 3)"),
        ("b = " + "[" * 90 + "]" * 90, "x.toml: nested too deeply (at line 3)"),
        ("b" + ".c" * 90 + " = 1", "x.toml: nested too deeply (at line 3)"),
        ("[b" + ".c" * 90 + "]", "x.toml: nested too deeply (at line 3)"),
        ("b" + ".c" * 30_000 + " = 1", "x.toml: more than 200 dots in one line (at line 3); use several lines"),
        ("b = " + "9" * 5_000, "x.toml: a number is too long (at line 3)"),
        ("b = 18446744073709551616", "x.toml: a number is too long (at line 3)"),
        ("b = 0x" + "f" * 5_000, "x.toml: a number is too long (at line 3)"),
        ("b = ?", "x.toml is no TOML: Invalid value (at line 3, column 5)"),
        ("a = 2\n", "x.toml is no TOML: Cannot overwrite a value (at line 3, column 6)"),
        ("b = 2020-13-45", "x.toml is no TOML: "),
        ('b = "\udcff"', "x.toml is no TOML: not UTF-8 (at line 3)"),
        ("#" * MAX_BYTES, "x.toml is too large; the maximum is 1,048,576 bytes"),
    ],
)
def test_toml_that_is_refused(tmp_path: Path, text: str, refusal: str) -> None:
    content = (MANY + text).encode("utf-8", "surrogateescape")
    with pytest.raises(UsageError) as raised:
        parse_toml(content, "x.toml")
    assert str(raised.value).startswith(refusal)
    assert len(str(raised.value).splitlines()) == 1
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.toml"):
        read_toml(file, "no file")


def test_toml_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    with pytest.raises(NotFound, match=r"^no cup: it does not exist"):
        read_toml(file, "no cup")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_toml(tmp_path, "no cup")
    with pytest.raises(UsageError, match=r"'a\\x00b' is no name of a file"):
        read_toml(Path("a\0b"), "no cup")
    file.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 9223372036854775807\r\n")
    assert read_toml(file, "no cup") == {"a": 1, "b": 2**63 - 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a device without an end")
def test_toml_without_an_end() -> None:
    with pytest.raises(UsageError, match="/dev/zero is too large"):
        read_toml(Path("/dev/zero"), "no cup")


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 65 + "]" * 65, "nested too deeply"),
        ("9" * 5_000, "a number is too long"),
        ('{"a":[18446744073709551616]}', "a number is too long"),
        ("", "no JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[1", "no JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"),
        ('["\\ud800"]', "surrogates not allowed"),
        ('["\\uDC00"]', "surrogates not allowed"),
        (b'["\xed\xa0\x80"]', "invalid continuation byte"),
        ("[1]".encode("utf-16"), "invalid start byte"),
    ],
)
def test_json_that_is_refused(text: str | bytes, refusal: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
        parse_json(text)
    assert refusal in str(raised.value)


def test_json_that_is_read() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a":[1,-2.5,"\\ud83d\\ude00\\\\ud"]}') == {"a": [1, -2.5, "\N{GRINNING FACE}\\ud"]}
    assert parse_json("[" * 64 + "]" * 64) is not None
    check_document({"deepest": [{}], "largest": 2**64 - 1, "smallest": -(2**63), "is": True})


@contextmanager
def deep_stack(frames: int) -> Iterator[None]:
    """Leave the code within this many frames fewer than Python allows."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit - frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def test_what_is_read_can_be_shown_in_an_error() -> None:
    document = parse_toml(b"run = " + b"[" * 60 + b"]" * 60, "x.toml")
    with deep_stack(500):
        assert repr(document["run"]).startswith("[[[")
