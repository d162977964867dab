"""Installed parts with their settings, as `cutpurse serve` reads them, for servers of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from cutpurse.server.hosting.configuration import configured
from cutpurse.server.hosting.open_arena import OpenArena
from cutpurse.server.hosting.part import Part, PartWithSettings, parts_to_serve, read_settings
from cutpurse.server.settings import SETTINGS

__all__ = ["part_of", "parts_with"]

OnePart = TypeVar("OnePart", bound=Part)


def parts_with(**flags: Any) -> Sequence[PartWithSettings]:
    """Return all installed parts; `flags` are settings of them or of the server, by name."""
    kinds = parts_to_serve(SETTINGS).kinds
    more = [setting for kind in kinds for setting in kind.settings]
    return read_settings(kinds, configured(flags, {}, more=more))


def part_of(opened: OpenArena, of: type[OnePart]) -> OnePart:
    """Return the part of this class."""
    (part,) = [part for part in opened.parts.values() if isinstance(part, of)]
    return part
