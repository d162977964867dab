"""The part `sign_in` as the server finds it: its settings, and how it is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.settings import Setting, grouped
from cutpurse.wire.errors import needs

if TYPE_CHECKING:
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.hosting.part import Core, Part
    from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings

__all__ = ["SIGN_IN"]

SETTINGS: Final = grouped(
    "Page and spectators",
    Setting("sign_in", "path", None, "FILE", "TOML file: people sign in on the page by OpenID Connect.", "off"),
)


def _read(values: Mapping[str, Value]) -> SignInSettings | None:
    """Return how people sign in at a provider; None if they cannot.

    Raises:
        UsageError: If the settings are invalid.
    """
    file: Path | None = values["sign_in"].value
    if file is None:
        return None
    with needs("openid"):
        import cutpurse.server.parts.sign_in.openid_provider  # noqa: F401  # only a check
    from cutpurse.server.parts.sign_in.sign_in_settings import read_sign_in

    return read_sign_in(file, os.environ)


def _open(settings: SignInSettings, core: Core) -> Part:
    with needs("openid"):
        from cutpurse.server.parts.sign_in.part import SignInPart
    if not core.asks_for_tokens:
        database = core.store.database
        raise UsageError(
            f"--sign-in needs tokens: {database} has none yet, so everybody may play without signing in. "
            f"Make one first: cutpurse token create OWNER --scope admin --db {database}"
        )
    return SignInPart(settings, core)


def _listen(hooks: WriteHooks) -> None:
    """Declare the table; nothing is written in the transactions of others."""
    import cutpurse.server.parts.sign_in.tables  # noqa: F401


def _writes() -> Mapping[str, Any]:
    from cutpurse.server.parts.sign_in.part import link_in_database

    return {"LinkAccount": link_in_database}


SIGN_IN: Final = PartKind(name="sign_in", settings=SETTINGS, read=_read, open=_open, listen=_listen, writes=_writes)
