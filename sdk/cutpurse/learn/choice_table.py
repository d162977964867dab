"""A table that plays on by itself to the next choice of a learner.

Questions with one option are answered here, and other bots are asked. Where several seats are asked at once they
answer one after the other; that tells nothing, as an answer is in no view until all are in. This module knows no array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import NONE, PROOF, level_named, viewers_at
from cutpurse.engine.seating import arrangement
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.learn.opponents import Opponents
from cutpurse.learn.rewards import reward_named
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.bot_calls import reads_knowledge, wants_events

__all__ = ["BotSpec", "ChoiceTable", "TableRules"]

BotSpec = str | Callable[[], Any] | BotMaker
LEARNER: Final = "learner"


class TableRules:
    """The common parameters of tables: game, seats, settings, reward and the bots beside the learners."""

    def __init__(
        self,
        game: str,
        seats: int | None,
        settings: Mapping[str, object] | None,
        reward: str,
        opponents: Sequence[BotSpec] | None,
        has_events: bool = False,
        knowledge: str = PROOF,
        is_watched: bool = False,
    ) -> None:
        """Check and load everything.

        Args:
            game: Name of the game.
            seats: Number of seats, or the game's own.
            settings: Settings that differ from their defaults.
            reward: Name of the reward.
            opponents: Bots in the last seats.
            has_events: Keep the events of a match; they are kept anyway if an opponent wants them.
            knowledge: What learners know of hidden cards; opponents know what can be proven, unless they don't read it.
            is_watched: Let a spectator, too, know what can be proven.

        Raises:
            UsageError: For unknown names and impossible values.
        """
        self.rules = game_named(game)
        self.seats = self.rules.usual_seats if seats is None else seats
        self.settings = self.rules.set_up(self.seats, settings or {})
        self.reward = reward_named(reward)
        self.makers = bot_makers(opponents or [])
        if len(self.makers) >= self.seats:
            raise UsageError(
                f"{len(self.makers)} opponents leave no seat for a learner at a table with {self.seats}: "
                f"give at most {self.seats - 1}"
            )
        self.learners = self.seats - len(self.makers)
        level_named(knowledge)
        opponents_know = [PROOF if reads_knowledge(maker.make) else NONE for maker in self.makers]
        spectator_knows = PROOF if is_watched else NONE
        self.levels = [*[knowledge] * self.learners, *opponents_know, spectator_knows]
        self.has_events = has_events or any(wants_events(maker.make) for maker in self.makers)


class ChoiceTable:
    """One table; `deal` begins a match on it.

    Match i of a run has the key and the arrangement of `cutpurse play --seed`: the learners are its first bots, the
    opponents the others. So a match of training can be played again, recorded and verified.
    """

    game: Game
    view: View  # of the seat that is asked; at the end, of the seat asked last

    def __init__(self, parameters: TableRules) -> None:
        self.parameters = parameters
        self.seat: int | None = None  # the seat of the learner that is asked; None when the match is over
        self.options: list[Option] = []
        self.bot_at: tuple[int, ...] = ()  # by seat: learners come first, then opponents
        self._opponents: Opponents | None = None

    def deal(self, seed: int | str, number: int) -> bool:
        """Begin match `number` of a run, and go on to the first choice of a learner.

        Returns:
            Whether a learner has a choice; False if the match ended without one.
        """
        given = self.parameters
        key = match_key(seed, number)
        self.bot_at = tuple(arrangement(given.seats, seed, number))
        self.game = given.rules(given.seats, given.settings, Chance(key))
        levels = [given.levels[bot] for bot in (*self.bot_at, given.seats)]
        self.game.remember(*viewers_at(levels, given.seats + 1))
        self.game.start(log=given.has_events)
        self._opponents = None
        if given.makers:
            makers = {
                seat: given.makers[bot - given.learners]
                for seat, bot in enumerate(self.bot_at)
                if bot >= given.learners
            }
            self._opponents = Opponents(self.game, key, self.names, makers)
        return self._go_on()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the seats in this match: `learner_0`, or the name of a bot."""
        given = self.parameters
        names = [
            *[f"{LEARNER}_{learner}" for learner in range(given.learners)],
            *[maker.name for maker in given.makers],
        ]
        return tuple([names[bot] for bot in self.bot_at])

    def seat_of(self, learner: int) -> int:
        """Return the seat of a learner in this match."""
        return self.bot_at.index(learner)

    def answer(self, option: Option) -> bool:
        """Answer with one of the options, and go on to the next choice.

        Returns:
            Whether there is one; False if the match is over.
        """
        assert self.seat is not None
        self.game.choose(self.seat, option)
        return self._go_on()

    def _go_on(self) -> bool:
        game, learners, bot_at = self.game, self.parameters.learners, self.bot_at
        while waiting := game.waiting():
            seat = waiting[0]
            options = game.options(seat)
            if len(options) == 1:
                game.choose(seat, options[0])
            elif bot_at[seat] < learners:
                self.seat, self.options, self.view = seat, options, game.view(seat)
                return True
            else:
                assert self._opponents is not None
                game.choose(seat, self._opponents.answer(seat, options))
        self.seat, self.options = None, []
        return False

    def rewards(self) -> tuple[float, ...]:
        """Return the reward of each seat when the match is over."""
        return self.parameters.reward(self.game.places(), self.game.scores())
