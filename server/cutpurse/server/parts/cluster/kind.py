"""The part `cluster` as the server finds it: its settings, its store, and how it is opened."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.settings import Setting, grouped
from cutpurse.wire.server_address import SECURE, server_address

if TYPE_CHECKING:
    from cutpurse.leaderboard.store import Store
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.hosting.part import Core, Figure, Part

__all__ = ["CLUSTER", "OneOfSeveral"]

SETTINGS: Final = grouped(
    "Several servers",
    Setting(
        "arena_address",
        "text",
        "",
        "ADDRESS",
        "Share the league in --db postgresql://... with other servers; bots dial this one here.",
    ),
    Setting(
        "arena_ladders",
        "list",
        (),
        "LADDER",
        "A ladder to take first (repeatable); others later.",
        "every free one",
    ),
)


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """A server that shares the ladders of its database with others.

    Attributes:
        address: Where bots dial it.
        preferred: Ladders that it takes first, as in `leases.Holder`.
    """

    address: str
    preferred: Sequence[str] = ()


def _read(values: Mapping[str, Value]) -> OneOfSeveral | None:
    """Return how this server shares its ladders with others; None if it plays all of them, alone.

    Raises:
        UsageError: If the settings do not fit together.
    """
    address, ladders = values["arena_address"], values["arena_ladders"]
    if not address.value:
        if ladders.value:
            raise UsageError(f"{ladders.where}: it is for one of several servers; add --arena-address ADDRESS")
        return None
    if not is_postgresql(values["db"].value):
        raise UsageError(f"{address.where}: several servers share a database postgresql://..., not a file; see --db")
    is_secure = str(address.value).startswith(SECURE)
    if is_secure != (values["tls_cert"].value is not None) and not values["insecure"].value:
        what = f"with a certificate it begins with {SECURE}" if not is_secure else "that needs --tls-cert and --tls-key"
        raise UsageError(f"{address.where} {address.value}: {what}")
    return OneOfSeveral(server_address(address.value), ladders.value)


def _store(
    settings: OneOfSeveral,
    database: str | os.PathLike[str],
    hooks: WriteHooks,
    unleased: Collection[str],
    plays_hosted: bool,
) -> Store:
    from cutpurse.games import GAMES
    from cutpurse.leaderboard.arena_store import ArenaStore

    return ArenaStore(
        database,
        settings.address,
        games=tuple(GAMES),
        preferred=settings.preferred,
        people_ladders=unleased,
        plays_hosted=plays_hosted,
        hooks=hooks,
    )


def _open(settings: OneOfSeveral, core: Core) -> Part:
    from cutpurse.server.parts.cluster.part import ClusterPart

    return ClusterPart(core)


def _figures_when_off() -> Iterable[Figure]:
    from cutpurse.server.parts.cluster.part import figures

    return figures()


CLUSTER: Final = PartKind(
    name="cluster",
    settings=SETTINGS,
    read=_read,
    open=_open,
    open_store=_store,
    figures_when_off=_figures_when_off,
)
