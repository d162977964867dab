"""The server's configuration: each setting from a flag, an environment variable, `cutpurse.toml` or its default.

The first of these that has a value counts. Every value knows where it was set, so that an error can name that place.
This module knows the settings and their kinds; their meaning is known where they are used. It reads one file, and only
the environment passed to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.wire.server_address import DEFAULT_SERVER

__all__ = ["FILE", "SETTINGS", "Setting", "Value", "configured", "mistyped"]

FILE: Final = "cutpurse.toml"  # in the working folder
CONFIG_VARIABLE: Final = "CUTPURSE_CONFIG"  # path of another file
_PREFIX: Final = "CUTPURSE_"
_TRUE: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

Kind = Literal["text", "path", "database", "number", "list", "switch"]
_KINDS: Final[dict[Kind, str]] = {
    "text": "a text",
    "path": "the name of a file",
    "database": "the name of a file, or an address postgresql://...",
    "number": "a number",
    "list": "a list of names",
    "switch": "true or false",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its name in the file, its default, and its flag. The variable is CUTPURSE_NAME."""

    name: str
    kind: Kind
    usual: object
    flag: str = ""  # "" means --NAME, with dashes

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return _PREFIX + self.name.upper()

    @property
    def option(self) -> str:
        """Its flag."""
        return self.flag or f"--{self.name.replace('_', '-')}"


class Value(NamedTuple):
    """The value of a setting and where it was set, for example "--drain" or "drain in /etc/cutpurse.toml"."""

    value: Any
    where: str


SETTINGS: Final = (
    Setting("address", "text", DEFAULT_SERVER),
    Setting("db", "database", Path("cutpurse.db")),
    Setting("games", "list", (), "--game"),
    Setting("ladders", "path", None),
    Setting("house", "list", ()),
    Setting("submissions", "text", "off"),
    Setting("runner_image", "text", ""),
    Setting("places", "switch", False),
    Setting("arena_address", "text", ""),
    Setting("arena_ladders", "list", (), "--arena-ladder"),
    Setting("drain", "number", 60.0),
    Setting("metrics", "text", ""),
    Setting("web", "text", ""),
    Setting("people", "number", 0.0),
    Setting("people_per_address", "number", 0.0),
    Setting("sign_in", "path", None),
    Setting("watch_delay", "number", 10.0),
    Setting("notify", "list", ()),
    Setting("notify_networks", "list", (), "--notify-network"),
    Setting("page_url", "text", ""),
    Setting("test_share", "number", 0.1),
    Setting("tls_cert", "path", None),
    Setting("tls_key", "path", None),
    Setting("insecure", "switch", False),
    Setting("log_level", "text", "info"),
)
_USUAL: Final = "default"


def configured(
    flags: Mapping[str, object], environment: Mapping[str, str], config: Path | None = None
) -> dict[str, Value]:
    """Return the value of every setting by its name.

    Args:
        flags: Values by setting; None where the flag is missing.
        environment: The environment variables.
        config: The file; default: $CUTPURSE_CONFIG, else `cutpurse.toml` if it exists. Its paths are relative to its
            folder.

    Raises:
        UsageError: If the file cannot be read, or a name or value is invalid.
    """
    file = config or (Path(named) if (named := environment.get(CONFIG_VARIABLE)) else None)
    written = _read(file, is_asked_for=file is not None)
    path = file or Path(FILE)
    values = {}
    for setting in SETTINGS:
        if (given := flags.get(setting.name)) is not None:
            values[setting.name] = Value(given, setting.option)
        elif text := environment.get(setting.variable):
            values[setting.name] = Value(_of_text(setting, text), setting.variable)
        elif setting.name in written:
            where = f"{setting.name} in {path}"
            values[setting.name] = Value(_of_toml(setting, written[setting.name], where, path.parent), where)
        else:
            values[setting.name] = Value(setting.usual, _USUAL)
    return values


def mistyped(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return variables that look like misspelled settings, each with the likely intended name."""
    ours = [setting.name.upper() for setting in SETTINGS]
    found = []
    for name in sorted(environment):
        called = name.removeprefix(_PREFIX)
        if called != name and called not in ours and (near := get_close_matches(called, ours, 1, 0.75)):
            found.append((name, _PREFIX + near[0]))
    return found


def _read(file: Path | None, is_asked_for: bool) -> dict[str, Any]:
    path = file or Path(FILE)
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if not is_asked_for:
            return {}
        raise UsageError(f"there is no file {path} to be configured by") from None
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} is no TOML: {problem}") from None
    names = [setting.name for setting in SETTINGS]
    for name in written:
        if name not in names:
            raise UsageError(f"{path}: there is no setting {name!r:.80}; there are: {', '.join(names)}")
    return written


def _of_text(setting: Setting, text: str) -> object:
    """Parse a value from the environment."""
    match setting.kind:
        case "text":
            return text
        case "database" if is_postgresql(text):
            return text
        case "path" | "database":
            return Path(text)
        case "list":
            return tuple(part.strip() for part in text.split(",") if part.strip())
        case "switch" if text.lower() in _TRUE:
            return _TRUE[text.lower()]
        case "number":
            try:
                return float(text)
            except ValueError:
                pass
    raise UsageError(f"{setting.variable} is {text!r:.80}; it is {_KINDS[setting.kind]}")


def _of_toml(setting: Setting, given: object, where: str, folder: Path) -> object:
    """Check a value from the file."""
    match setting.kind, given:
        case "text", str():
            return given
        case "database", str() if is_postgresql(given):
            return given
        case "path" | "database", str():
            return folder / given
        case "number", int() | float() if not isinstance(given, bool):
            return float(given)
        case "switch", bool():
            return given
        case "list", list() if all(isinstance(one, str) for one in given):
            return tuple(given)
    raise UsageError(f"{where} is {given!r:.80}; it is {_KINDS[setting.kind]}")
