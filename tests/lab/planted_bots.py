"""Bots for planted ladders, all with the rules of thumb of `greedy`: honest ones with habits, and three that collude.

* `Pact` names its partner in nothing that takes something, as long as another seat can be named.
* `Fed` takes from its partner, a `Feeder`, wherever it can choose from whom and that brings something.
* `Feeder` takes nothing from its partner and gives it what the game allows: it forfeits every card to it (Bag-O-Loot),
  never defends against it (Steal & Plunder), bets its best treasure against it and loses on purpose (Stolen Treasure),
  and raids the rival who is nearest to winning (Greed).

Partners know each other by name. An honest bot with a habit picks the leader, the last player, the left neighbour or
anybody at random where `greedy` picks a seat. So they differ in whom they aim at, as bots of different authors do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

from cutpurse.bots.greedy.greed import number_of
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.random_bot import RandomBot
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.decision import Decision, Option

__all__ = ["HONEST", "PLANTED", "makers_of"]

GIVES: Final = frozenset({"give", "divert"})  # verbs that are no theft
FREE: Final = frozenset({"choose_a_victim", "look_at_a_hand", "take_a_card"})
"""Questions of Greed, where a feeder has nothing to give: its partner is free to take from others."""

Style = Callable[[Any, Sequence[Option], Random], Option]


def seat_of(option: Option) -> int | None:
    """Return the seat that an option names, itself or by its pile."""
    return option.seat if option.seat is not None else option.owner


def standing(view: Any, seat: int) -> float:
    """Return how much a player visibly has."""
    player = view.players[seat]
    return float(player.longest_set if view.game == "greed" else player.score)


class Habitual(GreedyBot):
    """An honest bot: `greedy`, but for whom it aims at."""

    def __init__(self, style: Style) -> None:
        self.style = style

    def start(self, match: MatchInfo) -> None:
        """Remember the chance of the match."""
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> Option:
        """Choose as `greedy` does, and replace the seat that it names."""
        answer = super().choose(view, decision)
        if seat_of(answer) in (None, view.seat):
            return answer
        others = [
            option
            for option in decision.options
            if option.verb == answer.verb and option.cards == answer.cards and seat_of(option) not in (None, view.seat)
        ]
        return self.style(view, others, self.chance)


class Partner(GreedyBot):
    """A bot that knows another one."""

    def __init__(self, partner: str) -> None:
        self.partner = partner
        self.seat: int | None = None  # of the partner, if it plays

    def start(self, match: MatchInfo) -> None:
        """Find the partner."""
        self.seat = match.seats.index(self.partner) if self.partner in match.seats else None

    def choose(self, view: Any, decision: Decision) -> Option:
        """Choose as `greedy` does among the options that the agreement leaves."""
        if self.seat is None:
            return super().choose(view, decision)
        if (answer := self.help(view, decision)) is not None:
            return answer
        left = [option for option in decision.options if self.allows(option, decision)] or list(decision.options)
        acts = [option.raw for option in left]
        # The safe option of all, or the first that is left.
        safe = decision.safe.raw if decision.safe.raw in acts else acts[0]
        narrowed = Decision(decision.number, decision.ask, acts, lambda: safe, view)
        answer = super().choose(view, narrowed)
        return next(option for option in decision.options if option.raw == answer.raw)

    def allows(self, option: Option, decision: Decision) -> bool:
        """Return whether the agreement allows an option."""
        return True

    def help(self, view: Any, decision: Decision) -> Option | None:
        """Return an answer that helps the partner; None if there is nothing special to do."""
        return None


class Pact(Partner):
    """One of two bots that take nothing from each other."""

    def allows(self, option: Option, decision: Decision) -> bool:
        """Name the partner only to give."""
        return option.verb in GIVES or seat_of(option) != self.seat


class Fed(Partner):
    """The bot that a feeder helps."""

    def allows(self, option: Option, decision: Decision) -> bool:
        """Take from the feeder where it can be chosen, and give it nothing."""
        named = seat_of(option)
        if option.verb in GIVES:
            return named != self.seat
        if named is None or named == self.seat or decision.ask in FREE:
            return True
        return all(seat_of(other) != self.seat for other in decision.options if other.verb == option.verb)


class Feeder(Partner):
    """A bot that plays for its partner."""

    def allows(self, option: Option, decision: Decision) -> bool:
        """Give to the partner only, and take from the others only."""
        return (option.verb in GIVES) == (seat_of(option) == self.seat)

    def help(self, view: Any, decision: Decision) -> Option | None:
        """Help where `greedy` would not."""
        options = decision.options
        partner = view.players[self.seat]
        match decision.ask:
            case "choose_a_victim":  # the rival who is nearest to winning
                rivals = [option for option in options if option.seat not in (None, self.seat)]
                return max(rivals, key=lambda rival: (rival.player.longest_set, rival.player.hand.size), default=None)
            case "take_a_card" if all(option.seat != self.seat for option in options):
                return max(
                    options, key=lambda choice: choice.player.sets[number_of(choice.card)] if choice.player else -1
                )
            case "make_a_play":  # a turn without a play forfeits a card
                return next((option for option in options if option.verb == "done"), None)
            case "answer_the_theft" if any(act.actor == self.seat for act in view.pending):
                return options[0]
            case "match_the_stake" if partner.stake.size:
                return max(options, key=lambda option: view.value(option.card) if option.card else 0)
            case "any_parley" if partner.stake.size:
                return options[-1]
            case _:
                return None


def _leader(view: Any, options: Sequence[Option], chance: Random) -> Option:
    return max(options, key=lambda option: standing(view, seat_of(option) or 0))


def _last(view: Any, options: Sequence[Option], chance: Random) -> Option:
    return min(options, key=lambda option: standing(view, seat_of(option) or 0))


def _left(view: Any, options: Sequence[Option], chance: Random) -> Option:
    return min(options, key=lambda option: ((seat_of(option) or 0) - view.seat) % len(view.players))


def _anybody(view: Any, options: Sequence[Option], chance: Random) -> Option:
    return chance.choice(list(options))


HONEST: Final[Mapping[str, Callable[[], Any]]] = {
    "greedy": GreedyBot,
    "leader": lambda: Habitual(_leader),
    "last": lambda: Habitual(_last),
    "left": lambda: Habitual(_left),
    "anybody": lambda: Habitual(_anybody),
    "random": RandomBot,
}
"""Makers of honest bots, by habit."""

PLANTED: Final[Mapping[str, tuple[type[Partner], type[Partner]]]] = {
    "feeder": (Fed, Feeder),
    "pact": (Pact, Pact),
}
"""The two bots of each kind of agreement."""

PAIR: Final = ("north", "south")


def makers_of(kind: str, bots: int) -> list[BotMaker]:
    """Return the makers of a ladder: a planted pair first, or none for kind "honest", and honest bots."""
    made: list[BotMaker] = []
    if kind != "honest":
        for (name, partner), bot in zip((PAIR, PAIR[::-1]), PLANTED[kind], strict=True):
            made.append(BotMaker(name, lambda bot=bot, partner=partner: bot(partner)))  # type: ignore[misc]
    habits = list(HONEST)
    for number in range(bots - len(made)):
        habit = habits[number % len(habits)]
        made.append(BotMaker(f"{habit}{number}", HONEST[habit]))
    return made
