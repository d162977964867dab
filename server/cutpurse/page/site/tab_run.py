"""In place of `cutpurse.sdk.run` in the archive of a tab: bots import it for lines that no tab runs."""

from __future__ import annotations

from cutpurse.engine.errors import UsageError

__all__ = ["connect", "run"]


def run(*_: object, **__: object) -> int:
    """Refuse to connect.  Raises UsageError."""
    raise UsageError("a tab connects to no server: download the bot, and run it there")


connect = run
