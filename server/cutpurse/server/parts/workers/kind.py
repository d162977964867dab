"""The part `workers` as the server finds it: it is on where bots are submitted to a league in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from cutpurse.leaderboard.address import is_postgresql
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind

if TYPE_CHECKING:
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.hosting.part import Core, Figure, Part

__all__ = ["WORKERS"]


def _read(values: Mapping[str, Value]) -> Literal[True] | None:
    """Return whether workers play the matches of hosted ladders; None if there are none to play."""
    from cutpurse.server.league.hosted_ladders import missing_queue

    has_bots = values["submissions"].value != "off"
    return True if has_bots and is_postgresql(values["db"].value) and not missing_queue() else None


def _open(settings: Literal[True], core: Core) -> Part:
    from cutpurse.server.parts.workers.part import WorkersPart

    return WorkersPart(core)


def _listen(hooks: WriteHooks) -> None:
    from cutpurse.leaderboard.write_hooks import LookingForOpen, MatchesVoided
    from cutpurse.server.parts.submissions.stored_archives import ArchivesNeeded
    from cutpurse.server.parts.workers import work
    from cutpurse.server.parts.workers.needed_files import add_needed_files

    hooks.on(ArchivesNeeded, add_needed_files)
    hooks.on(LookingForOpen, work.add_matches_of_workers)
    hooks.on(MatchesVoided, work.remove_void)


def _figures_when_off() -> Iterable[Figure]:
    from cutpurse.server.parts.workers.part import figures

    return figures()


WORKERS: Final = PartKind(
    name="workers",
    needs=("submissions",),
    read=_read,
    open=_open,
    listen=_listen,
    figures_when_off=_figures_when_off,
    plays_hosted=True,
)
