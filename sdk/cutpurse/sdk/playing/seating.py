"""The bots of one match: created, asked and, if they fail, given up.

The match takes over the seat of a bot that cannot be created or started, or whose program is gone.

This module knows no run of matches, no clock and no file.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from cutpurse.engine import match as engine
from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import IllegalAnswer, WrongDecision
from cutpurse.engine.match import CORRECTIONS, EndCause, Match, MatchResult
from cutpurse.engine.view import View
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import BotMaker, MatchInfo, bot_chance, where_it_failed
from cutpurse.sdk.bot_file import activate
from cutpurse.sdk.decision import Decision, illegal_text, option_of
from cutpurse.sdk.flows import without_a_loop
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView
from cutpurse.wire.errors import ProgramGone, ProgramNotStarted

__all__ = ["FailureParts", "MatchBots", "play_match", "view_for"]

FailureParts = tuple[int, "int | None", str, EndCause, str, str]  # the last six fields of a Failure


def play_match(
    match: Match,
    makers: Sequence[BotMaker],
    watch: Callable[[Match], None] | None = None,
    before: Sequence[View] = (),
) -> tuple[MatchResult, list[tuple[int, FailureParts]], int]:
    """Let bots play a match to its end.

    Args:
        match: The match.
        makers: Its bots, by seat.
        watch: Called when it begins and after every answer.
        before: For a match from a position, the view of each seat there.

    Returns:
        The result, the failures by seat, and the number of decisions.

    Raises:
        ProgramNotStarted: If a program has never connected.
    """
    table = MatchBots(match, makers, before)
    if watch is not None:
        watch(match)
    decisions = 0
    while (open_decision := match.decision()) is not None:
        table.ask(open_decision)
        decisions += 1
        if watch is not None:
            watch(match)
    result = match.result()
    table.end(result)
    return result, table.failed, decisions


class MatchBots:
    """The bots of one match."""

    def __init__(self, match: Match, makers: Sequence[BotMaker], before: Sequence[View] = ()) -> None:
        """Start the bots; `before` has the view of each seat at the position from which the match begins."""
        self.match = match
        self.makers = makers
        self.failed: list[tuple[int, FailureParts]] = []
        self.events_sent = [0] * len(makers)  # number of events sent, by seat
        self.seen: list[View | None] = [*before] or [None] * len(makers)  # view at the last decision, by seat
        self.bots: list[Any] = []
        self.view_type: type[GameView[Any]] = VIEWS[match.game.words.game]
        settings = match.game.settings.changed()
        for seat, maker in enumerate(makers):
            try:
                info = MatchInfo(match.rules.words.game, seat, match.seats, settings, bot_chance(match.key, seat))
                bot = without_a_loop(bot_calls.start_bot(maker, info))
            except ProgramNotStarted:
                raise
            except (Exception, SystemExit) as problem:
                bot = bot_calls.Unable(problem)
                self._take_over(seat, None, "when it was started", problem)
            self.bots.append(bot)

    def ask(self, open_decision: engine.OpenDecision) -> None:
        """Ask a bot until the match accepts its answer or takes the safe option."""
        match, seat, number = self.match, open_decision.seat, open_decision.number
        place = len(match.choices)  # index of the choice in the match and its record
        view, decision = self.put(open_decision)
        answer: object = None
        for time in range(CORRECTIONS + 1):
            try:
                answer = self.choose(seat, view, decision, again=time > 0)
            except ProgramGone as problem:
                self._take_over(seat, place, open_decision.ask, problem)
                return
            except (Exception, SystemExit) as problem:
                match.give_up(seat, number, self.crashed(seat, place, open_decision.ask, problem))
                return
            try:
                match.answer(seat, number, option_of(answer))  # type: ignore[arg-type]  # bots may answer anything
                return
            except IllegalAnswer:
                pass
        self.illegal(open_decision, place, decision, answer)

    def put(self, open_decision: engine.OpenDecision) -> tuple[GameView[Any], Decision]:
        """Return the view and decision of an open question for its bot."""
        match, seat = self.match, open_decision.seat
        game, log = match.game, match.game.log
        assert log is not None
        since = self.events_sent[seat]
        self.events_sent[seat] = len(log)
        raw = game.view(seat)
        events = log[since:] if bot_calls.wants_events(self.bots[seat]) else None
        view = self.view_type(raw, events, since, self.seen[seat])
        self.seen[seat] = raw
        return view, Decision(
            open_decision.number, open_decision.ask, open_decision.options, _Safe(match, open_decision), view
        )

    def choose(self, seat: int, view: GameView[Any], decision: Decision, again: bool) -> Any:
        """Return a bot's answer; `again` is for a correction.  Raises what the bot raises."""
        activate(self.makers[seat].modules)
        return bot_calls.ask_bot_sync(self.bots[seat], view, decision, again)

    def end(self, result: MatchResult) -> None:
        """Deliver the result to the bots."""
        for seat, bot in enumerate(self.bots):
            activate(self.makers[seat].modules)
            try:
                without_a_loop(bot_calls.end_match(bot, self._last_events(seat), result))
            except (Exception, SystemExit) as problem:
                self.crashed(seat, None, "in end", problem)

    def illegal(self, open_decision: engine.OpenDecision, place: int, decision: Decision, answer: object) -> None:
        """Add a failure for an answer that was not offered."""
        where = f"decision {open_decision.number} of seat {open_decision.seat} ({open_decision.ask})"
        reason = f"{where} {illegal_text(decision, answer)}"
        self.failed.append(
            (open_decision.seat, (open_decision.seat, place, open_decision.ask, EndCause.ILLEGAL, reason, ""))
        )

    def crashed(self, seat: int, place: int | None, ask: str, problem: BaseException) -> str:
        """Add a failure for what a bot raised, and return it in one line."""
        reason = where_it_failed(problem, self.makers[seat].file)
        trace = "".join(traceback.format_exception(problem))
        self.failed.append((seat, (seat, place, ask, EndCause.CRASHED, reason, trace)))
        return reason

    def _take_over(self, seat: int, place: int | None, ask: str, problem: BaseException) -> None:
        """Let the match take over the seat of a bot that cannot continue."""
        self.match.take_over(seat, EndCause.CRASHED, self.crashed(seat, place, ask, problem))

    def _last_events(self, seat: int) -> GameView[Any]:
        """Return a view with the last events; its piles are those of the last decision, as on a server."""
        match, log = self.match, self.match.game.log
        assert log is not None
        seen = self.seen[seat]
        if seen is None:
            seen = bot_calls.empty_view(match.rules, match.game.settings, len(match.seats), seat).raw
        return self.view_type(seen, log[self.events_sent[seat] :], self.events_sent[seat], seen)


class _Safe:
    """The safe option of an open question, computed on demand."""

    __slots__ = ("match", "open_decision")

    def __init__(self, match: Match, open_decision: engine.OpenDecision) -> None:
        self.match = match
        self.open_decision = open_decision

    def __call__(self) -> Option:
        seat = self.open_decision.seat
        if self.match.decision(seat) is not self.open_decision:
            raise WrongDecision(
                f"decision {self.open_decision.number} is answered: its safe option can no longer be asked for"
            )
        return self.match.game.safe_option(seat, self.open_decision.options)


def view_for(match: Match, seat: int | None, since: int = 0, before: View | None = None) -> GameView[Any]:
    """Return the view of a seat, or of the spectator for None.

    Args:
        match: The match.
        seat: The viewer.
        since: Number of the first event in the view.
        before: The view before that event, for event texts (see `GameView`).
    """
    game = match.game
    log = game.log
    return VIEWS[game.words.game](game.view(seat), log[since:] if log else (), since, before)
