"""Windows of real matches: the time that the player who opened them can measure, and whether others had a choice.

Bots play on a real server over real sockets. The SDK records what a player can measure: when a decision came, and when
it was answered. Afterwards a replay of the record shows whether the others had a choice.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import Match
from cutpurse.engine.record import Record, read_record, replay
from cutpurse.games import game_named
from cutpurse.games.stolen_treasure.cards import PIRACY_PILE, WORDS
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Option
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.wire.answer_times import FOR_BOTS, AnswerTimes
from cutpurse.wire.client_session import Ask, ClientSession
from tests.server.arenas import running_arena

__all__ = [
    "PASSES",
    "QUICK",
    "SLOW",
    "WINDOWS",
    "Distinguished",
    "Pace",
    "Window",
    "distinguish",
    "played_windows",
    "stage_of",
]

TABLES_EACH = 2  # per bot, so that decisions of one match also wait for those of the other
PASSES = 0.6  # probability that a bot passes instead of reacting
QUICK, SLOW = (0.020, 0.005), (0.200, 0.030)  # mean and deviation of thinking times, in seconds
PACES = {"ann": (QUICK, SLOW), "bob": (QUICK, SLOW), "cid": (SLOW, QUICK)}  # in turns and in windows
WINDOWS = {"steal_and_plunder": ["answer_the_theft"], "stolen_treasure": ["any_yarr", "any_parley", "divert_or_suffer"]}


def stage_of(windows_before: int) -> int:
    """Return the stage of a match. In later ones windows are slower, and fewer seats have choices."""
    return min(windows_before // 6, 3)


class Window(NamedTuple):
    """The time from a player's answer to the next decision, with only windows between."""

    public: tuple[object, ...]  # what the player knows of it without a clock
    had_choice: bool  # whether another seat had more than one option
    seconds: float


class Pace(NamedTuple):
    """The thinking time of bots, and the way windows are asked."""

    scale: float = 1.0  # factor for the times in `PACES`
    hides_time: bool = True
    asks_all: bool = True


@dataclass
class _Tape:
    """The times of decisions and answers, by match and seat, and by number of the decision from 1."""

    came: dict[tuple[str, int], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    answered: dict[tuple[str, int], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))


def _record_times(monkeypatch: pytest.MonkeyPatch, tape: _Tape) -> None:
    do, answer = RemoteBots.do, ClientSession.answer

    def noted_do(self: RemoteBots, todo: Any) -> None:
        if isinstance(todo, Ask):
            tape.came[todo.table.match, todo.table.seat][todo.decision.decision] = todo.at
        do(self, todo)

    def noted_answer(self: ClientSession, table: Any, decision: int, *answered: Any) -> None:
        tape.answered[table.match, table.seat][decision] = time.monotonic()
        answer(self, table, decision, *answered)

    monkeypatch.setattr(RemoteBots, "do", noted_do)
    monkeypatch.setattr(ClientSession, "answer", noted_answer)


def _use_a_process_each(monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    """Let bots know in no match what they learned in another one."""
    begin = AnswerTimes.begin
    limits = FOR_BOTS._replace(first_s=FOR_BOTS.first_s * scale)
    monkeypatch.setattr(AnswerTimes, "begin", lambda self, game: begin(AnswerTimes(limits), game))


def _bot(kind: str, pace: Pace) -> type:
    class Thinks:
        hides_time = pace.hides_time

        def start(self, match: MatchInfo) -> None:
            self.chance = Random(match.chance.random())

        def choose(self, view: Any, decision: Any) -> int:
            is_window = decision.ask in WINDOWS["stolen_treasure"]
            thinks_s = pace.scale * max(0.0, self.chance.gauss(*PACES[kind][is_window]))
            if thinks_s:
                time.sleep(thinks_s)  # in the bot's own thread: the measured thinking time
            if decision.options[0].text == "pass" and self.chance.random() < PASSES:
                return 0
            liked = [option for option in decision.options if _opens_windows(option)] or decision.options
            return int(self.chance.choice(liked).index)

    return Thinks


def _opens_windows(option: Option) -> bool:
    """Return whether this plays a card, or draws one to play."""
    verb = WORDS.verbs[option.raw.verb - 1].name
    return verb in ("play", "play_on") or (verb == "draw" and option.raw.zone == PIRACY_PILE)


async def played_windows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pace: Pace, matches: int, trios: int
) -> list[Window]:
    """Play matches of Stolen Treasure, and list the windows opened by a choice."""
    tape = _Tape()
    if not pace.asks_all:
        plain = Match.__init__

        def init(self: Match, *args: Any, **kwargs: Any) -> None:
            plain(self, *args, **{**kwargs, "ask_all": False})

        monkeypatch.setattr(Match, "__init__", init)
    _record_times(monkeypatch, tape)
    _use_a_process_each(monkeypatch, pace.scale)
    control = TimeControl(base_ms=5_000, poll_floor_ms=round(25 * pace.scale))
    settings = {"max_rounds": "20"}
    ladders = [
        Ladder(f"it{number}", "stolen_treasure", len(PACES), settings, control, matches_wanted=matches)
        for number in range(trios)
    ]
    async with running_arena(folder, ladders) as arena:
        stays = []
        for ladder in ladders:
            for kind in PACES:
                bot, name = _bot(kind, pace), f"{kind}_{ladder.name}"
                playing = connect(bot, ladders=ladder.name, server=arena.address, name=name, max_tables=TABLES_EACH)
                stays.append(asyncio.create_task(playing))
        while not arena.opened.lobby.is_complete:
            done, _ = await asyncio.wait(stays, timeout=0.2, return_when=asyncio.FIRST_COMPLETED)
            if done:
                break
        for stay in stays:
            stay.cancel()
        await asyncio.gather(*stays, return_exceptions=True)
    monkeypatch.undo()
    windows: list[Window] = []
    with Store(folder / "test.db") as store:
        for name in {match for match, _ in tape.came}:
            try:
                record = read_record(store.run(queries.record, name))
            except NoSuchEntry:  # not over yet when the last match ended
                continue
            windows += _windows(name, record, tape, pace.asks_all)
    return windows


class _Question(NamedTuple):
    """A decision of one or more seats: its number by seat, from 1, and its number of options by seat."""

    ask: str
    is_window: bool
    numbers: dict[int, int]  # of the decisions that were sent
    options: dict[int, int]


def _questions(record: Record, asks_all: bool) -> list[_Question]:
    """List every question of a match in order."""
    rules = game_named(record.game)
    choices = iter([chosen for _, _, chosen in replay(record, rules)])
    match = Match(rules, record.seats, record.key, record.settings, ask_all=True)
    questions = []
    while not match.over:
        decisions = match.decisions()
        options = {decision.seat: len(decision.options) for decision in decisions}
        numbers = {decision.seat: decision.number + 1 for decision in decisions}
        if not asks_all:
            numbers = {seat: match.asked(seat) - match.lone_asked[seat] for seat in options if options[seat] > 1}
        question = match.game.question
        questions.append(_Question(question.name, question.window, numbers, options))
        for decision in decisions:
            if len(decision.options) == 1:
                match.answer(decision.seat, decision.number, 0)
        for _ in [decision for decision in decisions if len(decision.options) > 1]:
            chosen = next(choices)
            match.answer(chosen.seat, _open_number(match, chosen.seat), chosen.option)
    return questions


def _open_number(match: Match, seat: int) -> int:
    """Return the number of a seat's open decision."""
    decision = match.decision(seat)
    assert decision is not None
    return decision.number


def _windows(name: str, record: Record, tape: _Tape, asks_all: bool) -> list[Window]:
    """List the windows of a match that the player who opened them could time."""
    kinds = [seat.partition("_")[0].rpartition("/")[-1] for seat in record.seats]
    questions = _questions(record, asks_all)
    found = []
    for seat, kind in enumerate(kinds):
        came, answered = tape.came[name, seat], tape.answered[name, seat]
        own = [at for at, question in enumerate(questions) if seat in question.numbers]
        for at, following in pairwise(own):
            between = questions[at + 1 : following]
            if questions[at].is_window or not between or not all(question.is_window for question in between):
                continue
            if any(seat in question.options for question in between):
                continue
            asked = [(question.ask, tuple(sorted(kinds[other] for other in question.options))) for question in between]
            had_choice = any(count > 1 for question in between for count in question.options.values())
            seconds = came[questions[following].numbers[seat]] - answered[questions[at].numbers[seat]]
            stage = stage_of(sum(question.is_window for question in questions[:at]))
            found.append(Window((kind, stage, *asked), had_choice, seconds))
    return found


class Distinguished(NamedTuple):
    """The quality of a distinguisher of windows with and without a choice, and the numbers of both."""

    auc: float
    error: float  # standard error of the AUC if there is no difference
    with_choice: int
    without: int


def distinguish(windows: Sequence[Window]) -> list[Distinguished]:
    """Test two distinguishers that see public facts and the time: the duration of a window, and how unusual it is.

    Only windows with equal public facts are compared. The AUC is that of the better direction.
    """
    groups: dict[object, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for window in windows:
        groups[window.public][window.had_choice].append(window.seconds)
    unusual = []
    for without, with_choice in groups.values():
        middle = median(without + with_choice)
        unusual.append(([abs(s - middle) for s in without], [abs(s - middle) for s in with_choice]))
    return [_auc(groups.values()), _auc(unusual)]


def _auc(groups: Iterable[tuple[list[float], list[float]]]) -> Distinguished:
    """Compute the AUC over pairs within groups; a group has the values without and with a choice."""
    above = variance = 0.0
    pairs = with_choice = without = 0
    for lower, upper in groups:
        if not lower or not upper:
            continue
        count = len(lower) * len(upper)
        pairs += count
        above += sum((b > a) + (b == a) / 2 for a in lower for b in upper)
        variance += count * (len(lower) + len(upper) + 1) / 12
        with_choice += len(upper)
        without += len(lower)
    if not pairs:
        return Distinguished(0.5, 1.0, 0, 0)
    auc = above / pairs
    return Distinguished(max(auc, 1 - auc), sqrt(variance) / pairs, with_choice, without)
