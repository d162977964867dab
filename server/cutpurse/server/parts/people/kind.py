"""The part `people` as the server finds it: its settings, its ladders, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.parts.people.people_settings import PeopleSettings
from cutpurse.server.settings import Setting, grouped

if TYPE_CHECKING:
    from cutpurse.server.hosting.part import Core, Part
    from cutpurse.server.ladder_config import Ladder

__all__ = ["MAX_PEOPLE", "PEOPLE_PART"]

MAX_PEOPLE: Final = 128  # at once; measured by `python -m benchmarks.page_load` with 100
SETTINGS: Final = grouped(
    "Page and spectators",
    Setting("people", "count", 0.0, "N", "People who may play house bots on the page at once, unrated."),
    Setting(
        "people_per_address", "count", 0.0, "N", "People of --people from one address, such as a school's.", "half"
    ),
)


def _read(values: Mapping[str, Value]) -> PeopleSettings | None:
    """Return how people play; None if they do not.

    Raises:
        UsageError: If a number is out of range, or there is no page or no house bot.
    """
    people, of_one = values["people"], values["people_per_address"]
    if not 0 <= people.value <= MAX_PEOPLE or people.value != int(people.value):
        raise UsageError(f"{people.where} {people.value:g}: it can be 0 to {MAX_PEOPLE}")
    if people.value and not (values["web"].value and values["house"].value):
        raise UsageError(f"{people.where} {people.value:g}: people play house bots on the page; add --web and --house")
    if not 0 <= of_one.value <= people.value or of_one.value != int(of_one.value):
        raise UsageError(f"{of_one.where} {of_one.value:g}: it can be 1 to the number of --people; 0 means half of it")
    if not people.value:
        return None
    from cutpurse.games import game_named
    from cutpurse.server.house_bots import check_house

    house, games = values["house"], [game_named(name).words.game for name in values["games"].value]
    return PeopleSettings(int(people.value), check_house(house.value, house.where), games, int(of_one.value))


def _ladders(settings: PeopleSettings) -> Sequence[Ladder]:
    from cutpurse.server.parts.people.people_ladders import people_ladders

    return people_ladders(settings.house, settings.games)


def _open(settings: PeopleSettings, core: Core) -> Part:
    from cutpurse.server.parts.people.part import PeoplePart

    return PeoplePart(settings, core)


PEOPLE_PART: Final = PartKind(name="people", settings=SETTINGS, read=_read, open=_open, ladders=_ladders)
