"""Boards for `compare`: the same deals for two versions of a bot, which meet each in every seat.

A board is one deal, played twice for each seat: with NEW in it and with OLD in it, the same field in the other seats
and all bots made anew. What is counted is in `cutpurse.sdk.compare`, when to stop in `cutpurse.sdk.sprt`. The state on
disk is written after every board, so a run that is broken off goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match
from cutpurse.games import game_named
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.compare import board_difference, place_points
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.lifetime import a_run
from cutpurse.sdk.playing.processes import check_jobs, in_order
from cutpurse.sdk.playing.seating import play_match
from cutpurse.sdk.sprt import Design, Result, Sprt, State

__all__ = ["Boards", "Compared", "compare", "field_for"]


@dataclass(frozen=True)
class Compared:
    """What came of a comparison.

    failures: the first of each bot that failed, also on a board that a state file told of: 0 is NEW, 1 OLD, then the
    field.
    """

    result: Result
    failures: tuple[Failure, ...]
    resumed: int  # boards that a state file told of


@dataclass(frozen=True)
class Boards:
    """The boards of one comparison."""

    rules: type[Game]
    new: BotMaker
    old: BotMaker
    field: tuple[BotMaker, ...]  # the other seats, clockwise from the left of the compared bot
    seed: int | str
    settings: dict[str, object]
    first: int = 0  # the number of the first board to be played

    def batch(self, numbers: range) -> list[tuple[float, tuple[Failure, ...]]]:
        """The difference of each board, and what failed."""
        return [self.board(self.first + number) for number in numbers]

    def board(self, number: int) -> tuple[float, tuple[Failure, ...]]:
        """One board: the difference, in scaled place points, and the first failure of each bot."""
        n = len(self.field) + 1
        failures: dict[int, Failure] = {}
        points: list[list[float]] = []
        for bot, maker in enumerate((self.new, self.old)):
            points.append([])
            for seat in range(n):
                seated = {seat: (bot, maker)} | {(seat + k) % n: (k + 1, one) for k, one in enumerate(self.field, 1)}
                makers = [seated[at][1] for at in range(n)]
                names = [one.name for one in makers]
                match = Match(self.rules, names, match_key(self.seed, number), self.settings, log=True)
                result, failed, _ = play_match(match, makers)
                for at, parts in failed:
                    who, one = seated[at]
                    failures.setdefault(who, Failure(who, one.name, one.file, number, *parts))
                points[-1].append(place_points(result.places)[seat])
        return board_difference(points[0], points[1]), tuple(failures.values())

    def identity(self) -> dict[str, object]:
        """What a saved state must agree with: everything that the differences depend on."""
        return {
            "game": self.rules.words.game,
            "rules": self.rules.words.version,
            "new": _fingerprint(self.new),
            "old": _fingerprint(self.old),
            "field": [_fingerprint(one) for one in self.field],
            "seed": str(self.seed),
            "settings": self.rules.check(len(self.field) + 1, self.settings).changed(),
        }


def _fingerprint(maker: BotMaker) -> str:
    """A bot by its name and, for a file, a hash of its bytes: an edited bot is another."""
    file = Path(maker.file)
    if not maker.file.endswith(".py") or not file.is_file():
        return maker.name
    return f"{maker.name} {sha256(file.read_bytes()).hexdigest()[:16]}"


def field_for(bots: Sequence[str | BotMaker], seats: int) -> tuple[BotMaker, ...]:
    """The bots of the other seats: those given, over and over until all are taken.  Raises UsageError for too many."""
    if not bots or len(bots) > seats - 1:
        raise UsageError(
            f"a field of {len(bots)} bots does not fit {seats} seats, one of which is taken; give 1 to {seats - 1}"
        )
    makers = bot_makers(bots)
    return tuple(makers[i % len(makers)] for i in range(seats - 1))


def compare(
    game: str,
    new: str | Callable[[], Any],
    old: str | Callable[[], Any],
    *,
    field: Sequence[str] = ("random",),
    seats: int | None = None,
    seed: int | str = 0,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    design: Design | None = None,
    state: str | Path | None = None,
    progress: Callable[[State], None] | None = None,
) -> Compared:
    """Play boards until it is clear whether NEW is better than OLD, or `design.max_boards` are played.

    state: a file to go on from, if it is there, and to keep the boards in. progress: told after every board.
    Raises UsageError for what does not exist, and for a state of another comparison.
    """
    rules = game_named(game)
    seats = rules.usual_seats if seats is None else seats
    chosen: dict[str, object] = {**rules.set_up(seats, settings or {}).changed()}
    check_jobs(jobs)
    design = design or Design()
    makers = bot_makers([new, old])
    boards = Boards(rules, makers[0], makers[1], field_for(field, seats), seed, chosen)
    path = None if state is None else Path(state)
    identity = boards.identity()
    kept, failures = _load(path, identity, design) if path else (State(design), {})
    test = Sprt(kept)
    resumed = test.state.boards
    left = 0 if test.state.verdict else design.max_boards - resumed
    boards = replace(boards, first=resumed)
    one_by_one = (boards.board(resumed + i) for i in range(left))
    results = one_by_one if jobs == 1 else in_order(boards.batch, left, jobs)
    with a_run():
        try:
            for difference, failed in results:
                verdict = test.update(difference)
                for failure in failed:
                    failures.setdefault(failure.bot, failure)
                if path:
                    _save(path, identity, test.state, failures)
                if progress is not None:
                    progress(test.state)
                if verdict is not None:
                    break
        finally:
            results.close()
    return Compared(test.result(), tuple(failures[bot] for bot in sorted(failures)), resumed)


def _load(path: Path, mine: dict[str, object], design: Design) -> tuple[State, dict[int, Failure]]:
    """The state in a file, or a new one if there is none, and the first failure of each bot by then.

    Raises UsageError for one of another comparison.
    """
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        kept = State.from_json(saved["test"])
        comparison = saved["comparison"]
        failed = [Failure(**{**one, "cause": EndCause(one["cause"])}) for one in saved.get("failures", ())]
    except FileNotFoundError:
        return State(design), {}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise UsageError(f"{path} is no state of a comparison: {problem}") from None
    if different := [name for name in mine if not isinstance(comparison, dict) or comparison.get(name) != mine[name]]:
        raise UsageError(
            f"{path} is the state of another comparison: {', '.join(different)} differ; name another file, or remove it"
        )
    if replace(kept.design, max_boards=design.max_boards, min_boards=design.min_boards) != design:
        raise UsageError(f"{path} was begun with another design: {kept.design}")
    return replace(kept, design=design), {failure.bot: failure for failure in failed}


def _save(path: Path, mine: dict[str, object], state: State, failures: Mapping[int, Failure]) -> None:
    """Write the state beside its place, then put it there, so that the file is whole at any time."""
    failed = [{**asdict(failures[bot]), "cause": failures[bot].cause.value, "trace": ""} for bot in sorted(failures)]
    text = json.dumps({"comparison": mine, "test": state.to_json(), "failures": failed}, indent=1)
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as problem:
        raise NotFound(f"the state cannot be written to {path}: {problem.strerror}") from None
