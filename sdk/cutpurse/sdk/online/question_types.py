"""A decision that came over the wire, as a bot is asked it: nothing is decoded before the bot looks at it.

This module knows no game and no stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.view import View
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView
from cutpurse.v1 import arena_pb2
from cutpurse.wire.decode import TableInfo, ask_of, events_of, options_of, view_of

__all__ = ["asked", "leading_to", "time_left"]


def asked(
    decision: arena_pb2.Decision,
    table: TableInfo,
    events: bool = True,
    earlier: arena_pb2.Decision | None = None,
    number: int | None = None,
    skipped: Sequence[arena_pb2.Decision] = (),
) -> tuple[GameView[Any], Decision]:
    """Make the view and the decision for a bot's `choose`; the message must hold the agenda, and must not be changed.

    events: whether the message holds them, because they were asked for; earlier: the decision that was put to the bot
    before, from which the events go on. number: of the decision as the bot counts, from 0; None: as the server does.
    skipped: decisions since the earlier one that were not put to the bot; their events come first.

    Raises ValueError, now or when the bot looks, if the message tells of what the game as played here has not.
    """
    rules, seats = table.rules, table.seats
    ask = ask_of(decision.ask, rules)
    skipped = leading_to(decision.first_event, skipped)
    first_event = skipped[0].first_event if skipped else decision.first_event
    view = VIEWS[rules.words.game](
        lambda: view_of(decision.observation, rules, table.settings, seats, table.seat),
        (lambda: [event for message in (*skipped, decision) for event in events_of(message, table)])
        if events
        else None,
        first_event,
        _view_maker(earlier, first_event, table) if events and earlier is not None else None,
    )
    if number is None:
        number = decision.decision - 1
    return view, Decision(number, ask, lambda: options_of(decision, rules, seats), lambda: _safe(decision, table), view)


def leading_to(first_event: int, skipped: Sequence[arena_pb2.Decision]) -> list[arena_pb2.Decision]:
    """List the last of these decisions whose events go on to this one without a gap, as after a resume there may be."""
    leading: list[arena_pb2.Decision] = []
    for decision in reversed(skipped):
        if decision.first_event + len(decision.events) != first_event:
            break
        first_event = decision.first_event
        leading.insert(0, decision)
    return leading


def _view_maker(earlier: arena_pb2.Decision, first_event: int, table: TableInfo) -> Callable[[], View] | None:
    """Return what makes the view of an earlier decision, unless events between the two are missing (after a resume)."""
    if earlier.first_event + len(earlier.events) != first_event:
        return None
    return lambda: view_of(earlier.observation, table.rules, table.settings, table.seats, table.seat)


def time_left(decision: arena_pb2.Decision, passed_s: float) -> tuple[float, float]:
    """Compute the seconds that are left of a decision's time, `passed_s` after it came.

    Returns:
        Those of the base time, below 0 once it is used up, and those of the bank.
    """
    base_s = decision.base_left_ms / 1_000 - passed_s
    return base_s, max(0.0, decision.bank_left_ms / 1_000 + min(0.0, base_s))


def _safe(decision: arena_pb2.Decision, table: TableInfo) -> Option:
    options = options_of(decision, table.rules, table.seats)
    if decision.safe_option >= len(options):
        raise ValueError(f"the safe option is {decision.safe_option} of {len(options)}: not a message of this protocol")
    return options[decision.safe_option]
