"""A set of a yardstick: its boards, and what the two bots that are its ends, `random` and `expert`, did on each.

A set is a file `sets/NAME.json` that never changes: another board, opponent or measurement is another set. This module
plays nothing but the few boards that show whether the opponents still play as they did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import UsageError
from cutpurse.games import game_named
from cutpurse.lab.journal_file import digest_of
from cutpurse.lab.yardstick.yardstick_board import BoardGroup, YardstickTable
from cutpurse.sdk.bot import load_bot

__all__ = ["NEWEST_SET", "ZERO", "YardstickSet", "check_opponents", "load_set", "set_names"]

NEWEST_SET: Final = "hearth-1"
ZERO: Final = "random"  # the bot whose score is 0; its first boards show how the opponents play


@dataclass(frozen=True)
class YardstickSet:
    """The boards of a version of the yardstick.

    Attributes:
        made_with: The version of Cutpurse whose bots it measures with.
        quick: Boards of each group in a quick run; a full run has `full`.
        zero: By group and board, the points of `random`.
        hundred: By group and board, the points of `expert`.
        probes: Digests of what was answered on the first boards of `random`.
        digest: SHA-256 of all of this.
    """

    name: str
    made_with: str
    groups: tuple[BoardGroup, ...]
    quick: int
    zero: tuple[tuple[float, ...], ...]
    hundred: tuple[tuple[float, ...], ...]
    probes: tuple[str, ...]
    digest: str

    @property
    def full(self) -> int:
        """Boards of each group in a full run."""
        return len(self.zero[0])

    @property
    def games(self) -> tuple[str, ...]:
        """The names of its games."""
        return tuple(dict.fromkeys(group.game for group in self.groups))

    def numbers(self, each: int, names: Sequence[str]) -> tuple[int, ...]:
        """Return the numbers of the first `each` boards of the groups with these names, in the order of play."""
        count = len(self.groups)
        return tuple(number for number in range(each * count) if self.groups[number % count].name in names)

    def ends(self, number: int) -> tuple[float, float]:
        """Return the points of `random` and of `expert` on a board."""
        index, group = divmod(number, len(self.groups))
        return self.zero[group][index], self.hundred[group][index]


def set_names() -> list[str]:
    """Return the names of the sets of this installation."""
    folder = files("cutpurse.lab.yardstick").joinpath("sets")
    return sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))


@cache
def load_set(name: str) -> YardstickSet:
    """Load a set.  Raises UsageError if this installation has none of this name."""
    if name not in (names := set_names()):
        raise UsageError(
            f"there is no set {name!r:.80} in this installation; it has: {', '.join(names)}. Newer versions of "
            "Cutpurse may have it"
        )
    document = parse_json(files("cutpurse.lab.yardstick").joinpath("sets", f"{name}.json").read_bytes())
    return _set_from_json(document)


def _set_from_json(document: dict[str, Any]) -> YardstickSet:
    return YardstickSet(
        document["name"],
        document["made_with"],
        tuple(BoardGroup.from_json(group) for group in document["groups"]),
        document["quick"],
        tuple(tuple(group) for group in document["zero"]["points"]),
        tuple(tuple(group) for group in document["hundred"]["points"]),
        tuple(document["probes"]),
        digest_of(document),
    )


def check_opponents(of: YardstickSet) -> None:
    """Check that rules and opponents are those of a set, by playing its first boards again.

    Raises:
        UsageError: If a score here would be one of another set.
    """
    instead = f"install Cutpurse {of.made_with} to measure with {of.name}"
    for group in of.groups:
        if (here := game_named(group.game).words.version) != group.rules:
            raise UsageError(f"{of.name} has {group.game} by the rules {group.rules}, here they are {here}; {instead}")
    table = YardstickTable(of.name, of.groups, load_bot(ZERO), ())
    for number, probe in enumerate(of.probes):
        if table.board(number).answers != probe:
            group = of.groups[number % len(of.groups)]
            raise UsageError(
                f"the opponents of {of.name} ({', '.join(dict.fromkeys(group.field))}) play {group.name} otherwise "
                f"here; {instead}"
            )
