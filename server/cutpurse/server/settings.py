"""The settings of `cutpurse serve`, each written once.

Flags, environment variables, the file and the reference page are made from this table and from those of the parts.
This module knows what a setting is called and of what kind it is; `hosting.configuration` finds its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from cutpurse.wire.server_address import DEFAULT_SERVER

__all__ = ["FILE", "LOG_LEVELS", "PREFIX", "SETTINGS", "Kind", "Setting", "grouped"]

FILE: Final = "cutpurse.toml"  # in the working folder
PREFIX: Final = "CUTPURSE_"  # of every variable
OTHERS: Final = "Parts"  # title of settings without a group
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

Kind = Literal["text", "path", "database", "count", "seconds", "share", "number", "list", "commas", "switch"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its name in the file, its kind, and its default.

    Attributes:
        name: Its key in the file; the variable is CUTPURSE_NAME.
        kind: What its value is. The flag of a "list" is repeatable, and that of "commas" has commas between names.
        default: The value where none is given.
        metavar: Its value in the help, such as FILE.
        help: What it does.
        default_text: Its default in the help, where that is not the value of `default`.
        choices: The only values that it can have; empty if there are others.
        group: The title under which it is listed.
    """

    name: str
    kind: Kind
    default: object
    metavar: str = ""
    help: str = ""
    default_text: str = ""
    choices: Sequence[str] = ()
    group: str = OTHERS

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.name.upper()

    @property
    def option(self) -> str:
        """Its flag: --NAME with dashes, in the singular if it is repeatable."""
        name = self.name.removesuffix("s") if self.kind == "list" else self.name
        return f"--{name.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """Its default as people read it; empty if there is none to name."""
        if self.default_text or not isinstance(self.default, str | Path | float) or isinstance(self.default, bool):
            return self.default_text
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)


def grouped(group: str, *settings: Setting) -> Sequence[Setting]:
    """Return the settings, to be listed under the title `group`."""
    return [replace(setting, group=group) for setting in settings]


SETTINGS: Final = (
    *grouped(
        "Ladders and bots",
        Setting(
            "db",
            "database",
            Path("cutpurse.db"),
            "FILE",
            "The database: a file, created if missing, or postgresql://...",
        ),
        Setting("games", "list", (), "GAME", "A game to play (repeatable).", "all games"),
        Setting("ladders", "path", None, "FILE", "Ladders in TOML, created if missing."),
        Setting(
            "house",
            "commas",
            (),
            "BOTS",
            "Built-in bots to run, such as random,greedy,search; they fill empty seats on ladders that name them: "
            "see `cutpurse ladder create --house`.",
            "none",
        ),
        Setting(
            "test_share", "share", 0.1, "SHARE", "Share of the tables in use for version tests, 0 to 1; 0 plays none."
        ),
    ),
    *grouped(
        "Connections of bots",
        Setting("address", "text", DEFAULT_SERVER, "ADDRESS", "host:port or unix:/path."),
        Setting("tls_cert", "path", None, "FILE", "Certificate chain, PEM; read again when it changes."),
        Setting("tls_key", "path", None, "FILE", "Its private key, PEM."),
        Setting("insecure", "switch", False, help="Allow other machines without TLS, for example behind a TLS proxy."),
    ),
    *grouped(
        "Page and spectators",
        Setting("web", "text", "", "HOST:PORT", "Serve the page for spectators over HTTP.", "off"),
        Setting("watch_delay", "seconds", 10.0, "S", "Seconds that spectators are behind the bots."),
    ),
    *grouped(
        "Operation",
        Setting("metrics", "text", "", "HOST:PORT", "Serve /metrics, /healthz and /readyz over HTTP.", "off"),
        Setting("drain", "seconds", 60.0, "S", "Seconds for open matches after the first signal."),
        Setting("log_level", "text", "info", "LEVEL", "debug, info, warning or error.", choices=LOG_LEVELS),
    ),
)
