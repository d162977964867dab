"""TOML files that people write: how to read them, and one-line errors that name the position."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound

__all__ = ["FileKey", "check_keys", "read_toml", "setting_text"]


@dataclass(frozen=True, slots=True)
class FileKey:
    """A key of a file, for errors and for the page that lists the keys.

    Attributes:
        name: Name, after that of its table: "clock.base_ms".
        text: Meaning and possible values, in Markdown.
        default: Value if the key is missing, in Markdown; empty if the key is required.
    """

    name: str
    text: str
    default: str = ""


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
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise NotFound(f"{missing}: it does not exist") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{file} is no TOML: {problem}") from None


def check_keys(table: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    """Check that the table has no other keys than these.  Raises UsageError."""
    for key in table:
        if key not in keys:
            raise UsageError(f"{where}: there is no key {key!r:.80}; there are: {', '.join(keys)}")


def setting_text(value: object, where: str) -> str:
    """Return a game setting as typed on the command line.  Raises UsageError."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    raise UsageError(f"{where} is {value!r:.80}; it is a text, a number, or true or false")
