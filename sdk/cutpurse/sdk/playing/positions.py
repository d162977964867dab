"""A question from a recorded match, put to a bot again.

    MATCH = {"game": "greed", "rules": "1", "key": "…", "seats": ["my_bot.py", "random"], "settings": {}}
    assert ask_again("my_bot.py", **MATCH, choices=[...]).text == "stop"

`cutpurse match replay --as-test` writes such a test. This module reads no file except the bot's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from cutpurse.engine.errors import IllegalAnswer, UsageError
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.match import OpenDecision as EngineDecision
from cutpurse.engine.record import Record, replay
from cutpurse.engine.text import answer_text
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.process.lifetime import a_run
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import BotMaker, MatchInfo, bot_chance, bot_makers
from cutpurse.sdk.decision import Decision, Option, option_of
from cutpurse.sdk.flows import without_a_loop
from cutpurse.sdk.playing.seating import view_for

__all__ = ["ask_again", "decision_for"]


def decision_for(
    match: Match, open_decision: EngineDecision, since: int = 0, before: View | None = None
) -> tuple[Any, Decision]:
    """Return the view and decision of a bot for an open question.

    Args:
        match: The match.
        open_decision: The open decision.
        since: Number of the first event in the view.
        before: The seat's view before that event.
    """
    view = view_for(match, open_decision.seat, since, before)
    safe = match.game.safe_option(open_decision.seat, open_decision.options)
    number = open_decision.number - match.lone_asked[open_decision.seat]  # bots are not asked about single options
    return view, Decision(number, open_decision.ask, open_decision.options, lambda: safe, view)


def ask_again(
    bot: str | Callable[[], Any],
    *,
    game: str,
    rules: str,
    key: str,
    seats: Sequence[str],
    settings: Mapping[str, str],
    choices: Sequence[Sequence[Any]],
    match: str = "",
    within_s: float | None = None,
) -> Option:
    """Return what a bot chooses now for the last of these choices.

    The bot is created anew and also asked at each earlier decision of its seat, so that it has the same memory. There,
    the match continues as recorded.

    Args:
        bot: Bot class, path to a Python file, or name of a built-in bot.
        game: As the record has it.
        rules: Rules version of the record.
        key: Key of the record, as hex.
        seats: Names in the record.
        settings: Settings of the record.
        choices: Choices of the record, up to the one to ask for again.
        match: Match ID on the server that played it, which determines the bot's random numbers; else empty.
        within_s: Seconds that the bot may take for the last answer. Default: no limit.

    Raises:
        RecordError: If the choices do not fit the rules.
        IllegalAnswer: If the bot's last answer was not offered.
        TimeoutError: If the bot's last answer took too long.
        Exception: Whatever the bot raises, except at earlier decisions that were faults in the record too.
    """
    if not choices:
        raise UsageError("no choices were given: the last of them says which decision is meant")
    seat = int(choices[-1][0])
    record = Record(game, rules, dict(settings), bytes.fromhex(key), tuple(seats), tuple(map(list, choices)), {}, ())
    (maker,) = bot_makers([bot])
    with a_run():
        answer, seconds = _asked_again(maker, seat, record, len(choices), match)
    if within_s is not None and seconds > within_s:
        raise TimeoutError(f"the bot thought {seconds:.3f} s over it, and had {within_s:.3f} s")
    return answer


def _asked_again(maker: BotMaker, seat: int, record: Record, choices: int, name: str) -> tuple[Option, float]:
    """Return the answer, and the seconds that it took."""
    chance = bot_chance(name.encode() or record.key, seat)
    info = MatchInfo(record.game, seat, record.seats, record.settings, chance, name)
    player = without_a_loop(bot_calls.start_bot(maker, info))
    first_event = 0
    before: View | None = None
    for match, open_decision, chosen in replay(record, game_named(record.game)):
        if open_decision.seat != seat:
            continue
        view, decision = decision_for(match, open_decision, first_event, before)
        first_event, before = len(match.game.log or ()), view.raw
        is_meant = len(match.choices) == choices - 1
        began = perf_counter()
        try:
            answer = without_a_loop(bot_calls.ask_bot(player, view, decision))
        except (Exception, SystemExit):
            if is_meant or chosen.cause is EndCause.NORMAL:
                raise
        if is_meant:
            return _offered(decision, answer), perf_counter() - began
    raise UsageError("the last choice was not made by a bot: the seat was played on there")


def _offered(decision: Decision, answer: Any) -> Option:
    raw = option_of(answer)
    for option in decision.options:
        if option.raw == raw or (type(raw) is int and option.index == raw):
            return option
    raise IllegalAnswer(
        f"decision {decision.number} ({decision.ask}) has options 0-{decision.count - 1}, not {answer_text(answer)}"
    )
