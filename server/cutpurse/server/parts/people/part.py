"""The part `people` of a server: the token of the page, the guard that knows people, and house bots for them."""

from __future__ import annotations

from functools import partial

from cutpurse.leaderboard.tokens import HOUSE, PEOPLE, new_token
from cutpurse.server.access.owners import HouseGuard
from cutpurse.server.hosting.part import Core, PageExtras, Part
from cutpurse.server.hosting.supervisor import ServiceSpawner
from cutpurse.server.parts.people.people_house import PeopleHouse
from cutpurse.server.parts.people.people_ladders import people_ladders
from cutpurse.server.parts.people.people_settings import PeopleSettings
from cutpurse.server.parts.people.person_guard import PersonGuard

__all__ = ["PeoplePart"]


class PeoplePart(Part):
    """Lets people play on the page.

    Attributes:
        token: The token of the page, of this run.
    """

    def __init__(self, settings: PeopleSettings, core: Core, processes: ServiceSpawner | None = None) -> None:
        """Let the page's people in from now on.

        Args:
            settings: The settings of the part.
            core: The server.
            processes: Runs the house bots; real processes by default.
        """
        self.token = new_token()
        self._settings = settings
        self._core = core
        ladders = [ladder.name for ladder in people_ladders(settings.house, settings.games)]
        self._house = PeopleHouse(settings.house, ladders, settings.people, core.log, processes)
        for token, owner in ((self._house.token, HOUSE), (self.token, PEOPLE)):
            core.entrance.put_before(partial(HouseGuard, token=token, owner=owner))
        core.entrance.put_before(partial(PersonGuard, token=self.token))

    async def run(self) -> None:
        """Keep the house bots running."""
        await self._house.keep(self._core.is_open, self._core.house_address)

    def close(self) -> None:
        """End the house bots."""
        self._house.stop()

    def page(self) -> PageExtras:
        """Return the seats of the page, and the token of the people there."""
        settings = self._settings
        share = ("--people-per-address", str(settings.of_one_address)) if settings.of_one_address else ()
        return PageExtras((*share, "--people", str(settings.people), "--house", ",".join(settings.house)), self.token)
