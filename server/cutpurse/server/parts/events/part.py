"""The part `events` of a server: its calls, and the runner that plays events."""

from __future__ import annotations

from collections.abc import Sequence

from cutpurse.server.hosting.part import Core, Part, Service
from cutpurse.server.parts.events.event_runner import EventKind, EventRunner
from cutpurse.server.parts.events.event_service import SERVICE, EventService
from cutpurse.server.parts.events.events import Events, event_forms
from cutpurse.server.parts.events.season_play import SeasonPlay
from cutpurse.server.parts.events.tournament_play import TournamentPlay
from cutpurse.server.parts.events.version_testing import VersionTestPlay

__all__ = ["EventsPart"]


class EventsPart(Part):
    """Plays tournaments, seasons and version tests.

    Attributes:
        events: The events, as callers plan and see them.
    """

    def __init__(self, core: Core) -> None:
        """Let only their own bots onto the ladders of seasons from now on, if the server is alone; others play none."""
        store, lobby, log, utc = core.store, core.lobby, core.log, core.utc
        is_alone = core.servers.is_alone
        epoch_of = None if is_alone else core.servers.epoch_of
        tournaments = TournamentPlay(store, lobby, log, utc, epoch_of=epoch_of)
        kinds: list[EventKind] = [tournaments, VersionTestPlay(store, lobby, log, utc)]
        if is_alone:
            seasons = SeasonPlay(store, lobby, log, utc, tournaments)
            seasons.restore()
            kinds.append(seasons)
        forms = event_forms(store, core.answers, lobby, waits_for=tournaments.waits_for, is_alone=is_alone)
        self.events = Events(store, core.answers, forms)
        core.answers.get_event = self.events.get
        self._runner = EventRunner(store, kinds, log, epoch_of)
        self._service = EventService(
            self.events,
            self._runner,
            core.entrance,
            log,
            lobby,
            incident_number=core.incident_number,
            acts=core.acts,
            servers=core.servers,
        )

    def services(self) -> Sequence[Service]:
        """Return EventService."""
        return (Service(SERVICE, self._service.handler()),)

    async def run(self) -> None:
        """Play events."""
        await self._runner.run()

    def close(self) -> None:
        """Stop the threads of the calls."""
        self._service.close()
