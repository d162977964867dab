"""Every setting is that of its rule sheet: its name, its default and what it may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutpurse.engine.settings import SettingKind
from cutpurse.games import GAMES

SHEETS = Path(__file__).parents[2] / "docs" / "reference" / "rules"


def settings_of_the_sheet(game: str) -> dict[str, tuple[str, set[str]]]:
    """By name: the default, and what it may be, as the table of the sheet has them without their remarks."""
    section = re.search(r"^## \d+\. Settings\n(.*?)^## ", (SHEETS / f"{game}.md").read_text(), re.M | re.S)
    assert section is not None
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|", section[1], re.M)
    return {name: (default.split(":")[0], the_values(values)) for name, default, values in rows}


def the_values(cell: str) -> set[str]:
    bare = re.sub(r" \([^)]*\)|\bor (a seat )?", "", cell)
    return {part.strip() for part in bare.split(",")}


def values_of(kind: SettingKind, seats: int) -> set[str]:
    values = {*kind.values, *kind.names}
    if kind.keys:
        values.add("name:value pairs")
    if kind.least is not None:
        is_seat = (kind.least, kind.most) == (0, seats - 1)
        values.add("0 to n-1" if is_seat else f"{kind.least} to {kind.most}")
    if kind.step > 1:
        values.add(f"steps of {kind.step}")
    return values


@pytest.mark.parametrize("name", list(GAMES))
def test_the_settings_are_those_of_the_sheet(name: str) -> None:
    rules = GAMES[name]
    usual = rules.settings_type()
    seats = rules.words.seats[-1]
    declared = {
        setting: (usual.text(setting) or "empty", values_of(kind, seats)) for setting, kind in usual.kinds().items()
    }
    assert declared == settings_of_the_sheet(name)
