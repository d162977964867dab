"""The part `hosts` as the server finds it: its setting, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from cutpurse.engine.errors import UsageError
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.settings import Setting, grouped

if TYPE_CHECKING:
    from cutpurse.server.hosting.part import Core, Figure, Part

__all__ = ["HOSTS"]

SETTINGS: Final = grouped(
    "Submitted bots",
    Setting(
        "places", "switch", False, help="Run submitted bots on other machines, by `cutpurse place`, instead of here."
    ),
)


def _read(values: Mapping[str, Value]) -> Literal[True] | None:
    """Return whether submitted bots run on other machines; None if they do not.

    Raises:
        UsageError: If no bots are submitted.
    """
    places = values["places"]
    if not places.value:
        return None
    if values["submissions"].value == "off":
        raise UsageError(f"{places.where}: places run submitted bots, so add --submissions RUNNER")
    return True


def _open(settings: Literal[True], core: Core) -> Part:
    from cutpurse.server.parts.hosts.part import HostsPart

    return HostsPart(core)


def _figures_when_off() -> Iterable[Figure]:
    from cutpurse.server.parts.hosts.part import figures

    return figures(())


HOSTS: Final = PartKind(
    name="hosts",
    settings=SETTINGS,
    needs=("submissions",),
    read=_read,
    open=_open,
    figures_when_off=_figures_when_off,
)
