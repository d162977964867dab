"""The server's configuration: each setting from a flag, an environment variable, `cutpurse.toml` or its default.

The first of these that has a value counts. Every value knows where it was set, so that an error can name that place.
This module knows the kinds of settings; their meaning is known where they are used. It reads one file, and only the
environment passed to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.server.settings import FILE, PREFIX, SETTINGS, Kind, Setting
from cutpurse.wire.errors import NotFound
from cutpurse.wire.installation import how_to_install
from cutpurse.wire.toml_file import TomlTable, read_toml

__all__ = ["CONFIG_VARIABLE", "Value", "check_values", "configured", "mistyped"]

CONFIG_VARIABLE: Final = "CUTPURSE_CONFIG"  # path of another file
_TRUE: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

_KINDS: Final[dict[Kind, str]] = {
    "text": "a text",
    "path": "the name of a file",
    "database": "the name of a file, or an address postgresql://...",
    "list": "a list of names",
    "commas": "a list of names",
    "switch": "true or false",
}  # every other kind is a number


class Value(NamedTuple):
    """The value of a setting and where it was set, for example "--drain" or "drain in /etc/cutpurse.toml"."""

    value: Any
    where: str


_DEFAULT: Final = "default"
# The parts of this distribution by their settings, for a server without them.
_PART_OF: Final = {
    "arena_address": "cluster",
    "arena_ladders": "cluster",
    "notify": "notices",
    "notify_networks": "notices",
    "page_url": "notices",
    "people": "people",
    "people_per_address": "people",
    "places": "hosts",
    "runner_image": "submissions",
    "sign_in": "sign_in",
    "submissions": "submissions",
}


def configured(
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    config: Path | None = None,
    more: Sequence[Setting] = (),
) -> dict[str, Value]:
    """Return the value of every setting by its name.

    Args:
        flags: Values by setting; None where the flag is missing.
        environment: The environment variables.
        config: The file; default: $CUTPURSE_CONFIG, else `cutpurse.toml` if it exists. Its paths are relative to its
            folder.
        more: Settings of parts.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If the file cannot be read, or a name or value is invalid.
    """
    file = config or (Path(named) if (named := environment.get(CONFIG_VARIABLE)) else None)
    settings = (*SETTINGS, *more)
    path = file or Path(FILE)
    written = _read(path, is_asked_for=file is not None)
    names = [setting.name for setting in settings]
    for name in _PART_OF.keys() - names:
        if name in written or PREFIX + name.upper() in environment:
            where = f"{name} in {path}" if name in written else PREFIX + name.upper()
            raise UsageError(f"{where}: part {_PART_OF[name]} is not installed; {how_to_install('server')}")
    TomlTable(written, str(path)).check_keys(names)
    values = {}
    for setting in settings:
        if (given := flags.get(setting.name)) is not None:
            values[setting.name] = Value(given, setting.option)
        elif text := environment.get(setting.variable):
            values[setting.name] = Value(_of_text(setting, text), setting.variable)
        elif setting.name in written:
            where = f"{setting.name} in {path}"
            values[setting.name] = Value(_of_toml(setting, written[setting.name], where, path.parent), where)
        else:
            values[setting.name] = Value(setting.default, _DEFAULT)
    return values


def check_values(settings: Iterable[Setting], values: Mapping[str, Value]) -> None:
    """Check each value by its setting alone.

    Raises:
        UsageError: If a value is none of the choices, or a number is out of its range.
    """
    for setting in settings:
        given, where = values[setting.name]
        if setting.choices and given not in setting.choices:
            raise UsageError(f"{where} {given!r:.80}: there are: {', '.join(setting.choices)}")
        if setting.kind == "seconds" and not 0 <= given < float("inf"):
            raise UsageError(f"{where} {given:g}: a number of seconds is 0 or more")
        if setting.kind == "share" and not 0 <= given <= 1:
            raise UsageError(f"{where} {given:g}: it is a share from 0 to 1")


def mistyped(environment: Mapping[str, str], more: Sequence[Setting] = ()) -> list[tuple[str, str]]:
    """Return variables that look like misspelled settings, each with the likely intended name."""
    ours = [setting.name.upper() for setting in (*SETTINGS, *more)]
    wrong = []
    for name in sorted(environment):
        called = name.removeprefix(PREFIX)
        if called != name and called not in ours and (near := get_close_matches(called, ours, 1, 0.75)):
            wrong.append((name, PREFIX + near[0]))
    return wrong


def _read(path: Path, *, is_asked_for: bool) -> dict[str, Any]:
    try:
        return read_toml(path, f"no file {path} with settings")
    except NotFound:
        if is_asked_for:
            raise
        return {}


def _of_text(setting: Setting, text: str) -> object:
    """Parse a value from the environment."""
    match setting.kind:
        case "text":
            return text
        case "database" if is_postgresql(text):
            return text
        case "path" | "database":
            return Path(text)
        case "list" | "commas":
            return tuple(part.strip() for part in text.split(",") if part.strip())
        case "switch" if text.lower() in _TRUE:
            return _TRUE[text.lower()]
        case "count" | "seconds" | "share" | "number":
            try:
                return float(text)
            except ValueError:
                pass
    raise UsageError(f"{setting.variable} is {text!r:.80}; it is {_KINDS.get(setting.kind, 'a number')}")


def _of_toml(setting: Setting, given: object, where: str, folder: Path) -> object:
    """Check a value from the file."""
    match setting.kind, given:
        case "text", str():
            return given
        case "database", str() if is_postgresql(given):
            return given
        case "path" | "database", str():
            return folder / given
        case "count" | "seconds" | "share" | "number", int() | float() if not isinstance(given, bool):
            return float(given)
        case "switch", bool():
            return given
        case "list" | "commas", list() if all(isinstance(name, str) for name in given):
            return tuple(given)
    raise UsageError(f"{where} is {given!r:.80}; it is {_KINDS.get(setting.kind, 'a number')}")
