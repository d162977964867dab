"""Rules of small bots that fit every game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.greed import GreedPlayer
from tests.bots.degenerate.harness import Rule

__all__ = ["COMPLETE", "RULES", "offered", "value_of_cards"]

IDLE: Final = ("pass", "end_turn", "done", "stop", "concede", "burn")


def offered(decision: Decision, *verbs: str) -> list[Option]:
    """List the options with one of these verbs."""
    return [option for option in decision.options if option.verb in verbs]


def by_card(options: Iterable[Option], best: Callable[..., Option], value: Callable[[Option], float]) -> list[Option]:
    """List the one option whose cards are worth most, or least: `best` is `max` or `min`."""
    with_cards = [option for option in options if option.cards]
    return [best(with_cards, key=value)] if with_cards else []


def value_of_cards(option: Option) -> float:
    """Add up the values printed on the cards of an option; hidden cards count nothing."""
    return sum([card.value for card in option.cards if card is not None])


def score(player: Any) -> float:
    """Return the score of a player."""
    return player.longest_set if isinstance(player, GreedPlayer) else player.score


def against(view: Any, decision: Decision, best: Callable[..., Any]) -> list[Option]:
    """List the options against the opponent with the best score, or the worst."""
    seat = best(view.opponents, key=score).seat
    return [option for option in decision.options if option.seat == seat]


def takes_the_first_option(view: Any, decision: Decision) -> Sequence[Option]:
    return decision.options[:1]


def takes_the_last_option(view: Any, decision: Decision) -> Sequence[Option]:
    return decision.options[-1:]


def takes_the_middle_option(view: Any, decision: Decision) -> Sequence[Option]:
    return [decision.options[decision.count // 2]]


def takes_the_safe_option(view: Any, decision: Decision) -> Sequence[Option]:
    return [decision.safe]


def does_as_little_as_it_can(view: Any, decision: Decision) -> Sequence[Option]:
    """Pass in every way that ends the turn with the least done."""
    return offered(decision, *IDLE)


def does_all_it_can(view: Any, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.verb not in IDLE]


def takes_the_biggest_card(view: Any, decision: Decision) -> Sequence[Option]:
    return by_card(decision.options, max, value_of_cards)


def takes_the_smallest_card(view: Any, decision: Decision) -> Sequence[Option]:
    return by_card(decision.options, min, value_of_cards)


def goes_for_the_leader(view: Any, decision: Decision) -> Sequence[Option]:
    return against(view, decision, max)


def goes_for_the_weakest(view: Any, decision: Decision) -> Sequence[Option]:
    return against(view, decision, min)


def goes_for_the_left_neighbour(view: Any, decision: Decision) -> Sequence[Option]:
    left = (view.seat + 1) % len(view.players)
    return [option for option in decision.options if option.seat == left]


def goes_for_the_right_neighbour(view: Any, decision: Decision) -> Sequence[Option]:
    right = (view.seat - 1) % len(view.players)
    return [option for option in decision.options if option.seat == right]


def targets_only_the_leader(view: Any, decision: Decision) -> Sequence[Option]:
    """Do nothing to the other two opponents."""
    leader = max(view.opponents, key=score).seat
    return [option for option in decision.options if option.seat in (None, leader)]


def targets_only_the_left_neighbour(view: Any, decision: Decision) -> Sequence[Option]:
    left = (view.seat + 1) % len(view.players)
    return [option for option in decision.options if option.seat in (None, left)]


def hurts_nobody(view: Any, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.seat in (None, view.seat)]


def hurts_whom_it_can(view: Any, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.seat not in (None, view.seat)]


# Rules that leave no choice
COMPLETE: Final[tuple[Rule, ...]] = (
    takes_the_first_option,
    takes_the_last_option,
    takes_the_middle_option,
    takes_the_safe_option,
)

RULES: Final[tuple[Rule, ...]] = (
    does_as_little_as_it_can,
    does_all_it_can,
    takes_the_biggest_card,
    takes_the_smallest_card,
    goes_for_the_leader,
    goes_for_the_weakest,
    goes_for_the_left_neighbour,
    goes_for_the_right_neighbour,
    targets_only_the_leader,
    targets_only_the_left_neighbour,
    hurts_nobody,
    hurts_whom_it_can,
)
