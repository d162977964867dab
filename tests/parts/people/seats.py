"""People's seats on servers of tests, where the house bots that play with people are the test's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.parts.people.kind import PEOPLE_PART
from cutpurse.server.parts.people.part import PeoplePart
from cutpurse.server.parts.people.people_settings import PeopleSettings

__all__ = ["seats_for_people"]


class NoProcesses:
    """Runs no program."""

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], nice: int, files: Sequence[int]
    ) -> int:
        return 1

    def ended(self) -> dict[str, int]:
        return {}

    def forget(self, name: str) -> None:
        pass


def seats_for_people(
    house: Sequence[str], people: int = 16, games: Sequence[str] = (), of_one_address: int = 0
) -> PartWithSettings:
    """Return the part for people who play with these house bots."""
    kind = replace(PEOPLE_PART, open=lambda settings, core: PeoplePart(settings, core, NoProcesses()))
    return PartWithSettings(kind, PeopleSettings(people, house, games, of_one_address))
