"""The worst decisions of one seat in a match, found by a built-in bot that thinks ahead: a process for the web page.

    python -m cutpurse.lab.worst_decisions < QUESTION

QUESTION is a line of JSON (`seat`, `seconds`), then a match file. At each decision the bot `search` gets what the seat
saw, and nothing else. Where another option promised more at a first look, both are played out in the same imagined
states, so that luck is the same for both. A decision is listed only if the difference is larger than chance explains:
at least `MIN_PLAYOUTS` states, and the whole 95 % interval on one side.

The answer is a `WorstDecisions` as a line of JSON. This module knows no page and no language.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import sqrt
from random import Random
from statistics import fmean, stdev
from time import monotonic
from typing import Any, Final

from cutpurse.engine.match import EndCause
from cutpurse.engine.record import Record, replay
from cutpurse.games import game_named
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import MatchInfo, load_bot
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.flows import without_a_loop
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.playing.positions import decision_for

__all__ = ["MIN_PLAYOUTS", "WorseDecision", "WorstDecisions", "worst_decisions"]

BOT: Final = "search"
MIN_PLAYOUTS: Final = 60  # imagined states; fewer say nothing
MAX_PLAYOUTS: Final = 400
SHORTLIST: Final = 5  # decisions that are compared closely
COUNT: Final = 3
FIRST_LOOK: Final = 0.4  # share of the time
STRIDE: Final = 8  # decisions are looked at in this many rounds, so that those left out lie all over the match
Z: Final = 1.96  # for 95 %
NICENESS: Final = 5  # bots and readers come first


@dataclass(frozen=True, slots=True)
class WorseDecision:
    """A decision at which another option promised more.

    Attributes:
        at: Index of the decision in the record.
        taken: Index of the option that was taken.
        better: Index of the option that promised more.
        cost: How much less the taken option was worth, from 0 to 1: the result of a playout, 1 for coming first.
        error: Half of the 95 % interval of `cost`.
        playouts: Number of imagined states in which both were played out.
    """

    at: int
    taken: int
    better: int
    cost: float
    error: float
    playouts: int


@dataclass(frozen=True, slots=True)
class WorstDecisions:
    """The worst decisions of a seat, the worst first; `looked_at` of its `decisions` were looked at."""

    decisions: int
    looked_at: int
    worst: tuple[WorseDecision, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """A decision of the seat as the bot gets it."""

    at: int
    view: Any
    decision: Decision
    taken: int


def worst_decisions(record: Record, seat: int, seconds: float) -> WorstDecisions:
    """Look for the worst decisions of a seat in about this time.

    Raises:
        RecordError: Where the record and the rules part.
    """
    began = monotonic()
    questions = list(_questions(record, seat))
    info = MatchInfo(record.game, seat, record.seats, record.settings, Random(record.key + bytes([seat])))
    bot: Any = without_a_loop(bot_calls.start_bot(load_bot(BOT), info))
    suspects: list[tuple[float, _Question, int]] = []
    looked_at = 0
    for question in [question for first in range(STRIDE) for question in questions[first::STRIDE]]:
        left_s = seconds * FIRST_LOOK - (monotonic() - began)
        if left_s <= 0:
            break
        _give_time(question.decision, left_s / (len(questions) - looked_at))
        answer = bot.choose(question.view, question.decision)
        looked_at += 1
        means = {index: option.mean for index, option in bot.expected(answer).items()}
        best = max(means, key=lambda index: means[index], default=question.taken)
        if best != question.taken and question.taken in means:
            suspects.append((means[best] - means[question.taken], question, best))
    suspects.sort(key=lambda suspect: (-suspect[0], suspect[1].at))
    worse = []
    for place, (_, question, better) in enumerate(suspects[:SHORTLIST]):
        left_s = seconds - (monotonic() - began)
        worse.append(_compared(bot, question, better, left_s / (min(len(suspects), SHORTLIST) - place)))
    worst = sorted(filter(None, worse), key=lambda decision: (-decision.cost, decision.at))[:COUNT]
    return WorstDecisions(len(questions), looked_at, tuple(worst))


def _questions(record: Record, seat: int) -> Iterator[_Question]:
    """Yield the decisions that the seat took itself, and that had more than one option."""
    for match, decision, chosen in replay(record, game_named(record.game)):
        if decision.seat == seat and len(decision.options) > 1 and chosen.cause is EndCause.NORMAL:
            taken = decision.options.index(chosen.option)
            yield _Question(len(match.choices), *decision_for(match, decision), taken)


def _compared(bot: Any, question: _Question, better: int, seconds: float) -> WorseDecision | None:
    """Compare two options closely; None unless the one that was taken is worse beyond chance."""
    if seconds <= 0:
        return None
    _give_time(question.decision, seconds)
    lost, won = bot.compared(question.view, question.decision, (question.taken, better), MAX_PLAYOUTS)
    gaps = [more - less for more, less in zip(won, lost, strict=True)]
    if len(gaps) < MIN_PLAYOUTS:
        return None
    cost, error = fmean(gaps), Z * stdev(gaps) / sqrt(len(gaps))
    return WorseDecision(question.at, question.taken, better, cost, error, len(gaps)) if cost > error else None


def _give_time(decision: Decision, seconds: float) -> None:
    """Give a decision base time that lasts twice as long, as the bot thinks for half of it."""
    began = monotonic()
    decision.keep_time(lambda: (max(0.0, 2 * seconds - (monotonic() - began)), 0.0))


def main() -> None:
    """Answer the question on stdin."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    head = json.loads(sys.stdin.buffer.readline())
    filed = next(read_matches(sys.stdin.buffer))
    worst = worst_decisions(filed.record(), int(head["seat"]), float(head["seconds"]))
    sys.stdout.write(json.dumps(asdict(worst)) + "\n")


if __name__ == "__main__":
    main()
