"""Bots in the seats that no learner has: the same names, files and classes as everywhere.

A bot that fails ends the run with an error: a learner must not learn from a bot that silently plays something else.
This module knows no array.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import BotFault, UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import BotMaker, MatchInfo, bot_chance, where_it_failed
from cutpurse.sdk.bot_file import activate
from cutpurse.sdk.decision import Decision, illegal_text, option_of
from cutpurse.sdk.flows import without_a_loop
from cutpurse.sdk.views import VIEWS

__all__ = ["OpponentFailed", "Opponents"]


class OpponentFailed(BotFault):
    """A bot in a seat beside the learners raised an error, or answered what was not offered."""


class Opponents:
    """The bots of one match, by seat."""

    def __init__(self, game: Game, key: bytes, names: tuple[str, ...], makers: Mapping[int, BotMaker]) -> None:
        """Make and start the bots.

        Args:
            game: The game, which logs events if a bot wants them.
            key: Key of the match.
            names: Names of all seats.
            makers: The bots by seat.

        Raises:
            OpponentFailed: If a bot cannot be made or started.
        """
        self.game = game
        self.makers = makers
        self._bots: dict[int, Any] = {}
        self._sent = dict.fromkeys(makers, 0)  # events so far
        self._seen: dict[int, View | None] = dict.fromkeys(makers)
        self._decisions = dict.fromkeys(makers, 0)
        settings = game.settings.changed()
        for seat, maker in makers.items():
            info = MatchInfo(game.words.game, seat, names, settings, bot_chance(key, seat))
            try:
                self._bots[seat] = without_a_loop(bot_calls.start_bot(maker, info))
            except (Exception, SystemExit) as problem:
                raise self._failed(seat, problem) from problem

    def __getstate__(self) -> dict[str, Any]:
        """Pickle each bot of a file by itself, while its modules can be imported.

        Raises:
            UsageError: If a bot holds something that cannot be pickled.
        """
        return {**vars(self), "_bots": {seat: self._packed(seat, bot) for seat, bot in self._bots.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for seat, bot in self._bots.items():
            if isinstance(bot, bytes):
                activate(self.makers[seat].modules)
                self._bots[seat] = pickle.loads(bot)

    def __deepcopy__(self, memo: dict[int, Any]) -> Opponents:
        copy = object.__new__(Opponents)
        memo[id(self)] = copy
        vars(copy).update(deepcopy(vars(self), memo))
        return copy

    def _packed(self, seat: int, bot: Any) -> Any:
        """Return a bot, or its bytes if its class is known only while its file is active."""
        maker = self.makers[seat]
        if maker.modules is None:
            return bot
        activate(maker.modules)
        try:
            return pickle.dumps(bot)
        except Exception as problem:
            raise UsageError(f"opponent {maker.name} cannot be pickled: {problem}") from problem

    def answer(self, seat: int, options: list[Option]) -> Option:
        """Ask the bot of a seat.  Raises OpponentFailed if it gives none of the options."""
        game, bot, log = self.game, self._bots[seat], self.game.log
        activate(self.makers[seat].modules)
        raw, since = game.view(seat), self._sent[seat]
        events = None
        if log is not None and bot_calls.wants_events(bot):
            events, self._sent[seat] = log[since:], len(log)
        view = VIEWS[game.words.game](raw, events, since, self._seen[seat])
        self._seen[seat] = raw
        safe = partial(game.safe_option, seat, options)
        decision = Decision(self._decisions[seat], game.question.name, options, safe, view)
        self._decisions[seat] += 1
        try:
            given = bot_calls.ask_bot_sync(bot, view, decision, again=False)
        except (Exception, SystemExit) as problem:
            raise self._failed(seat, problem) from problem
        answer = option_of(given)
        if isinstance(answer, int) and 0 <= answer < len(options):
            return options[answer]
        if isinstance(answer, Option) and answer in options:
            return answer
        where = f"opponent {self.makers[seat].name}, decision {decision.number} of seat {seat} ({decision.ask})"
        raise OpponentFailed(f"{where} {illegal_text(decision, given)}")

    def _failed(self, seat: int, problem: BaseException) -> OpponentFailed:
        maker = self.makers[seat]
        return OpponentFailed(f"opponent {maker.name} crashed: {where_it_failed(problem, maker.file)}")
