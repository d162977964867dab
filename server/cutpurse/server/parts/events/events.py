"""The calls about events: who may plan, start, see and stop which.

Written once for all kinds: the check of a plan's hash, of the bots that cannot play now, of scopes and of visibility.
An event exists for those who may see its ladders, and a version test for its owner and hosts only. Every method waits
for the database, so call it only where no other work waits. This module plays nothing.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from cutpurse.leaderboard import errors, events
from cutpurse.leaderboard.events import EventEntry, TooManyEvents
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.store import Store
from cutpurse.server.access.owners import check_scope
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.presence import Presence
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.parts.events.event_form import EventForm, EventPlan, common_facts, digest_of
from cutpurse.server.parts.events.seasons import SeasonForm
from cutpurse.server.parts.events.tournaments import TournamentForm
from cutpurse.server.parts.events.version_testing import VersionTestForm
from cutpurse.v1 import event_pb2

__all__ = ["EventAnswers", "Events", "event_forms"]

MOST_LISTED: Final = 30


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a caller sees of the ladders of a kind of events.

    Attributes:
        form: The kind.
        visible: Ladders that they can see.
        shown: Those of them whose results they can see.
    """

    form: EventForm
    visible: dict[str, LadderEntry]
    shown: dict[str, LadderEntry]

    def exists(self, ladders: Sequence[str]) -> bool:
        """Return whether an event on these ladders exists for the caller."""
        return not self.form.is_public or self.visible.keys() >= set(ladders)

    def hidden(self, ladders: Sequence[str]) -> list[str]:
        """Return the ladders whose results are hidden from the caller."""
        return [ladder for ladder in ladders if ladder in self.visible and ladder not in self.shown]


def event_forms(
    readings: Readings,
    answers: Answers,
    lobby: Lobby | None = None,
    *,
    waits_for: Callable[[str], str] = lambda tournament: "",
    is_alone: bool = True,
) -> Sequence[EventForm]:
    """Return all kinds of events, as they are planned and seen.

    Args:
        readings: Where events are stored.
        answers: Knows which ladders a caller can see.
        lobby: Where matches are played; None without a server.
        waits_for: Returns why a board of a tournament cannot begin now; empty if nothing is known.
        is_alone: Whether the server plays all ladders of its database.
    """
    plays_here = lobby.plays if lobby is not None else lambda ladder: True
    tournaments = TournamentForm(readings, answers, plays_here=plays_here, waits_for=waits_for)
    seasons = SeasonForm(readings, answers, tournaments, is_alone=is_alone)
    return tournaments, seasons, VersionTestForm(readings, answers, lobby)


class EventAnswers:
    """The answers about events, which also a database without a server gives. All methods raise CallRefused."""

    def __init__(self, readings: Readings, answers: Answers, forms: Sequence[EventForm]) -> None:
        """Answer from a database.

        Args:
            readings: Where events are stored.
            answers: Knows which ladders a caller can see.
            forms: The kinds of events.
        """
        self._readings = readings
        self._answers = answers
        self._forms = {form.form: form for form in forms}

    def list(
        self, request: event_pb2.ListEventsRequest, caller: Caller, presence: Presence
    ) -> event_pb2.ListEventsResponse:
        """Answer ListEvents."""
        if request.ladder:
            self._answers.check_results(request.ladder, caller)
        for form in self._forms.values():
            if form.kind == request.kind:
                form.check_list(request, caller)
        forms = [form for form in self._forms.values() if request.kind in (event_pb2.EVENT_KIND_UNSPECIFIED, form.kind)]
        sights = {form.form: self._sight(form, caller) for form in forms}
        listed: list[event_pb2.EventShown] = []
        for entry in self._readings.run(events.entries, sights, started_by=request.owner or None):
            sight = sights[entry.form]
            if len(listed) == MOST_LISTED:
                break
            if not sight.form.exists_for(entry, caller):
                continue
            state = sight.form.load(entry, 0)
            ladders = sight.form.ladders(state)
            if entry.ended is None and not sight.exists(ladders):  # its next season may have begun just now
                sight = sights[entry.form] = self._sight(sight.form, caller)
            game = sight.visible[ladders[0]].game if ladders[0] in sight.visible else ""
            is_meant = (not request.ladder or request.ladder in ladders) and request.game in ("", game)
            if is_meant and sight.exists(ladders) and not sight.hidden(ladders):
                listed.append(self._encoded(sight.form, entry, state, is_whole=False))
        return event_pb2.ListEventsResponse(events=listed)

    def get(self, request: event_pb2.GetEventRequest, caller: Caller, presence: Presence) -> event_pb2.GetEventResponse:
        """Answer GetEvent."""
        entry, sight, state = self._seen(request.event, caller, request.season)
        for ladder in sight.hidden(sight.form.ladders(state)):
            self._answers.check_results(ladder, sight.form.viewer(caller))
        return event_pb2.GetEventResponse(event=self._encoded(sight.form, entry, state, is_whole=True))

    def ladder_of(self, event: str, caller: Caller) -> str:
        """Return the ladder of an event that exists for this caller; empty for a series."""
        return self._seen(event, caller)[0].ladder

    def _encoded(self, form: EventForm, entry: EventEntry, state: Any, *, is_whole: bool) -> event_pb2.EventShown:
        event = common_facts(entry)
        if entry.ended is None:
            event.waits_for = form.waits_for(entry.id)
        form.describe(event, state, is_whole=is_whole)
        return event

    def _sight(self, form: EventForm, caller: Caller) -> _Sight:
        viewer = form.viewer(caller)
        return _Sight(form, self._answers.visible(viewer), self._answers.with_results(viewer))

    def _seen(self, event: str, caller: Caller, number: int = 0) -> tuple[EventEntry, _Sight, Any]:
        """Return an event that exists for this caller, though its results may be hidden, and what is stored of it."""
        which = f", season {number}," if number else ""
        hint = "" if re.fullmatch("[0-9a-f]{12}", event) else "; an ID has 12 characters of 0-9 and a-f"
        nothing = CallRefused("NOT_FOUND", f"there is no event '{legible(event, 40)}'{which} here{hint}")
        try:
            entry = self._readings.run(events.entry, event)
            form = self._forms[entry.form]
            state = form.load(entry, number)
        except (errors.NoSuchEntry, KeyError):  # none, or a season of a series
            raise nothing from None
        sight = self._sight(form, caller)  # after the state, whose ladders may have come just now
        if not sight.form.exists_for(entry, caller) or not sight.exists(sight.form.ladders(state)):
            raise nothing
        return entry, sight, state


class Events(EventAnswers):
    """The events of a league. All methods raise CallRefused and StoreError."""

    def __init__(self, store: Store, answers: Answers, forms: Sequence[EventForm]) -> None:
        """Serve the events of a store; the rest is as in `EventAnswers`."""
        super().__init__(store, answers, forms)
        self._store = store

    def plan(
        self, request: event_pb2.PlanEventRequest, caller: Caller, presence: Presence
    ) -> event_pb2.PlanEventResponse:
        """Answer PlanEvent."""
        return event_pb2.PlanEventResponse(event=self._plan(request.event, caller, presence).event)

    def start(
        self, request: event_pb2.StartEventRequest, caller: Caller, presence: Presence
    ) -> tuple[EventEntry, Sequence[event_pb2.AbsentBot]]:
        """Store an event; return it and the bots that cannot play now. The caller must let it be played."""
        plan = self._plan(request.event, caller, presence)
        digest = digest_of(plan.entry.plan)
        if digest != request.plan:
            text = f"the plan is {digest} now, because bots, ratings or its file changed; look at it, and start that"
            raise CallRefused("BAD_MESSAGE", text if request.plan else "name the plan that is to be started")
        if plan.why_not and not request.force:
            raise CallRefused("SETTINGS", plan.why_not)
        new = replace(plan.entry, id=secrets.token_hex(6))
        try:
            self._store.write(plan.write, new)
        except TooManyEvents as problem:
            raise CallRefused("FULL", legible(str(problem), 300)) from None
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None
        return self._store.run(events.entry, new.id), plan.event.absent

    def stop(self, request: event_pb2.StopEventRequest, caller: Caller) -> EventEntry:
        """End an event that goes on, and return it. The caller must see that it is played no more."""
        check_scope(caller.grant, "play", "admin")
        entry, sight, _ = self._seen(request.event, caller)
        check_scope(caller.grant, sight.form.scope, "admin")
        if entry.ended is not None:
            raise CallRefused("SETTINGS", f"event {entry.id} has ended already: {entry.outcome}")
        self._store.write(sight.form.stop, entry.id, self._answers.utc())
        return self._store.run(events.entry, entry.id)

    def shown(self, event: str, caller: Caller) -> event_pb2.EventShown:
        """Encode an event that exists for this caller, without its detail if its results are hidden."""
        entry, sight, state = self._seen(event, caller)
        if sight.hidden(sight.form.ladders(state)):
            return common_facts(entry)
        return self._encoded(sight.form, entry, state, is_whole=True)

    def _plan(self, request: event_pb2.EventRequest, caller: Caller, presence: Presence) -> EventPlan:
        field = request.WhichOneof("kind")
        form = next((form for form in self._forms.values() if field == form.field), None)
        check_scope(caller.grant, "admin" if form is None else form.scope)
        if form is None:
            text = "no event is described" if field is None else f"this server plays no event of kind {field}"
            raise CallRefused("SETTINGS", text)
        return form.plan(request, caller, presence)
