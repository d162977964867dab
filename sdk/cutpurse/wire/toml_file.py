"""TOML files that people write: how to read and check them, with errors in one line that name file, table and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.documents import TOO_DEEP, TOO_LONG, check_document
from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound

__all__ = ["FileKey", "TomlTable", "parse_toml", "read_toml"]

MAX_BYTES: Final = 1 << 20
MAX_DOTS: Final = 200  # in a line
MAX_NUMBER: Final = 2**32 - 1
_NESTING: Final = re.compile(r"[\[{.][\[{.\w\s=\"']*")
_DIGITS: Final = re.compile(r"[0-9a-fA-F_]+")


@dataclass(frozen=True, slots=True)
class FileKey:
    """A key of a file, for errors and for the page that lists the keys.

    Attributes:
        name: Name, after that of its table: "clock.base_ms".
        text: Meaning and possible values, in Markdown.
        default: Value if the key is missing, in Markdown; empty if the key is required.
        command: The only command that reads the key; empty if all that read the file do.
    """

    name: str
    text: str
    default: str = ""
    command: str = ""


def read_toml(file: Path, missing: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Args:
        file: The file.
        missing: Begins the message if it does not exist.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it cannot be read or is not TOML.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"{missing}: it does not exist") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None
    except ValueError:
        raise UsageError(f"{str(file)!r:.80} is no name of a file") from None
    return parse_toml(content, str(file))


def parse_toml(content: bytes, where: str, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Parse TOML that anybody may have written; `where` names it in errors.  Raises UsageError, in one line."""
    if len(content) > max_bytes:
        raise UsageError(f"{where} is too large; the maximum is {max_bytes:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise UsageError(f"{where} is no TOML: not UTF-8 (at line {line})") from None
    lines = text.split("\n")
    dots = [line.count(".") for line in lines]
    if max(dots) > MAX_DOTS:  # a key of many parts takes the parser seconds
        line = dots.index(max(dots)) + 1
        raise UsageError(f"{where}: more than {MAX_DOTS} dots in one line (at line {line}); use several lines")
    try:
        document = tomllib.loads(text)
        check_document(document)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{where} is no TOML: {' '.join(str(problem).split())[:200]}") from None
    except (ValueError, RecursionError) as problem:  # Python converts no number of more than 4,300 digits
        reason = TOO_DEEP if isinstance(problem, RecursionError) or str(problem) == TOO_DEEP else TOO_LONG
        pattern = _NESTING if reason == TOO_DEEP else _DIGITS
        longest = [max(map(len, pattern.findall(line)), default=0) for line in lines]
        raise UsageError(f"{where}: {reason} (at line {longest.index(max(longest)) + 1})") from None
    return document


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a file, whose values are checked when they are read.

    Attributes:
        content: The values by key.
        where: File and number of the table, for errors: "cup.toml, division 2".
        prefix: Begin of its keys in errors: "format.".
    """

    content: Mapping[str, Any]
    where: str
    prefix: str = ""

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def wrong(self, key: str, expected: str) -> UsageError:
        """Return the error that the value of a key is not as expected."""
        return UsageError(f"{self.where}: {self.prefix}{key} is {self.content[key]!r:.80}; it is {expected}")

    def check_keys(self, names: Collection[str]) -> None:
        """Check that the table has no other keys than these; suggest one for a mistyped key.  Raises UsageError.

        A name with a dot is that of a key in a table within this one.
        """
        for key, value in self.content.items():
            within = [name.removeprefix(f"{key}.") for name in names if name.startswith(f"{key}.")]
            if within and isinstance(value, dict):
                self.table(key).check_keys(within)
            elif not within and (key not in names or "." in key):
                near = [f"{self.prefix}{name}" for name in get_close_matches(key, names, 1, 0.7)]
                known = ", ".join(f"{self.prefix}{name}" for name in names)
                hint = f"is {near[0]} meant?" if near else f"there are: {known}"
                raise UsageError(f"{self.where}: there is no key {self.prefix + key!r:.80}; {hint}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; without a default it is required, and not empty.  Raises UsageError."""
        if default is None and self.content.get(key, "") == "":
            raise UsageError(f"{self.where} has no {self.prefix}{key}")
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def choice(self, key: str, choices: Collection[str], default: str) -> str:
        """Return one of these texts.  Raises UsageError."""
        value = self.content.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(key, f"one of: {', '.join(choices)}")
        return value

    def number(self, key: str, default: int = 0, least: int = 0, most: int = MAX_NUMBER) -> int:
        """Return a number within bounds.  Raises UsageError."""
        value = self.content.get(key, default)
        if type(value) is not int or not least <= value <= most:
            bounds = f", {least} or more" if most == MAX_NUMBER else f" from {least} to {most:,}"
            raise self.wrong(key, f"a number{bounds}")
        return value

    def switch(self, key: str, default: bool = False) -> bool:
        """Return a truth value.  Raises UsageError."""
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return a list of texts that are not empty.  Raises UsageError."""
        value = self.content.get(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(text, str) and text for text in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def table(self, key: str) -> TomlTable:
        """Return a table within this one, empty if it is missing.  Raises UsageError."""
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"a table: [{key}], or {key} = {{ NAME = VALUE }}")
        return TomlTable(value, self.where, f"{self.prefix}{key}.")

    def tables(self, key: str) -> list[TomlTable]:
        """Return the tables `[[key]]`, at least one.  Raises UsageError."""
        value = self.content.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(table, dict) for table in value):
            raise UsageError(f"{self.where} has no {key}; each is a table [[{key}]]")
        return [TomlTable(table, f"{self.where}, {key} {number}") for number, table in enumerate(value, 1)]

    def settings(self) -> dict[str, str]:
        """Return the table `settings` of a game, as typed on the command line.  Raises UsageError."""
        table = self.table("settings")
        for name, value in table.content.items():
            if not isinstance(value, str | int):
                raise table.wrong(name, "a text, a number, or true or false")
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in table.content.items()
        }
