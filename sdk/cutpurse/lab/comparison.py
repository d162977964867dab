"""The boards of `compare`: the same deals for two versions of a bot, which play every seat.

A board is one deal, played twice for each seat: with NEW in it and with OLD in it. Each bot of the field sits in the
same other seat both times, and all bots are fresh. The neighbours change with the seat and the board (`square`).
`compare` does the counting, `sprt` decides when to stop. `luck` may take the luck of the cards out, which is shown
beside and decides nothing. The state is saved after every board, so an interrupted run
can resume.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.engine import seating
from cutpurse.engine.chance import match_key
from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.seating import square
from cutpurse.games import game_named
from cutpurse.lab.adjusted_gain import AdjustedGain
from cutpurse.lab.luck import adjusted_points, luck_events
from cutpurse.lab.moment import RecordedMoment
from cutpurse.lab.position_values import VALUES_VERSION, check_has_value, expected_points
from cutpurse.leaderboard.statistics.place_points import board_difference, place_points
from cutpurse.leaderboard.statistics.sprt import Design, Result, Sprt, State, Verdict
from cutpurse.process.backends import check_backend, in_order, is_in_this_process
from cutpurse.process.lifetime import a_run
from cutpurse.process.pool import number_tasks
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.digest import RunDigest, result_digest
from cutpurse.sdk.playing.match_clock import MatchClock, SlowDecision, slowest_by_bot
from cutpurse.sdk.playing.timed import play_timed
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count

__all__ = ["FAILING_BOARDS", "BoardResult", "ComparisonRun", "Compared", "compare", "field_for", "fingerprint"]

FAILING_BOARDS: Final = 5  # boards with a takeover of NEW after which the run ends


@dataclass(frozen=True)
class Compared:
    """The result of a comparison.

    There is no verdict if NEW was taken over on any board: a version without that fault may be better or worse.

    Attributes:
        failures: The first failure of each bot, including those in the state file: bot 0 is NEW, 1 OLD, then the field.
        taken_over: By bot in the same order, the number of boards on which it was taken over in a match.
        adjusted: The gain without the luck of the cards; None if it was not asked for.
    """

    result: Result
    failures: tuple[Failure, ...]
    resumed: int  # boards from the state file
    bots: tuple[str, ...]  # names: NEW, OLD, then the field
    taken_over: tuple[int, ...]
    is_same: bool = False  # NEW and OLD are the same bot, so the run ended early
    digest: str = ""  # equal for equal results; empty if the state file was begun without one
    adjusted: AdjustedGain | None = None
    slowest: tuple[SlowDecision, ...] = ()  # of each bot, by board, in this run; empty without a clock

    @property
    def has_verdict(self) -> bool:
        """Whether the verdict of `result` is valid."""
        return not self.taken_over[0]


@dataclass(frozen=True, slots=True)
class BoardResult:
    """The result of one board."""

    difference: float  # in scaled place points
    failures: tuple[Failure, ...]  # the first failure of each bot
    taken_over: frozenset[int]  # bots that were taken over in one of its matches
    digest: bytes  # of the results of its matches
    adjusted: float = 0.0  # the difference without the luck of the cards; 0 unless it was asked for
    slowest: tuple[SlowDecision, ...] = ()  # of each bot; empty without a clock


@dataclass(frozen=True)
class ComparisonRun:
    """The boards of one comparison."""

    rules: type[Game]
    new: BotMaker
    old: BotMaker
    field: tuple[BotMaker, ...]  # the bots of the other seats
    seed: int | str
    settings: dict[str, object]
    first: int = 0  # number of the first board to play
    luck_adjusted: bool = False
    clock: MatchClock | None = None
    moment: RecordedMoment | None = None  # from which both versions play on, in its seat alone

    def describe(self, numbers: range) -> str:
        """Name some boards in an error."""
        bots = ", ".join(dict.fromkeys(maker.name for maker in (self.new, self.old, *self.field)))
        boards = range(self.first + numbers.start, self.first + numbers.stop)
        return f"{self.rules.words.game}, {number_tasks('boards', boards)} (seed {self.seed}; {bots})"

    def batch(self, numbers: range) -> list[BoardResult]:
        """Play several boards."""
        return [self.board(self.first + number) for number in numbers]

    def board(self, number: int, watch: Callable[[Match], None] | None = None) -> BoardResult:
        """Play one board; `watch` is called after every answer."""
        rows = self._rows(number)
        taken_over: set[int] = set()
        failures: dict[int, Failure] = {}
        points: list[list[float]] = []
        adjusted = [0.0, 0.0]  # of NEW and OLD, over all seats
        results: list[object] = [number]
        slow: list[SlowDecision] = []
        for bot, maker in enumerate((self.new, self.old)):
            points.append([])
            for row in rows:
                seat = row.index(0)
                makers = [maker if player == 0 else self.field[player - 1] for player in row]
                names = [entrant.name for entrant in makers]
                key, holds = match_key(self.seed, number), self.clock is not None
                start = None if self.moment is None else self.moment.position(key)
                before = () if start is None else [start.view(at) for at in range(len(row))]
                match = Match(self.rules, names, key, self.settings, log=True, hold_polls=holds, position=start)
                result, failed, _, thoughts = play_timed(match, makers, self.clock, watch, before=before)
                numbers = [bot if player == 0 else player + 1 for player in row]
                for at, parts in failed:
                    who, bot_maker = numbers[at], makers[at]
                    failures.setdefault(who, Failure(who, bot_maker.name, bot_maker.file, number, *parts))
                slow += [
                    SlowDecision(thought.seconds, numbers[thought.seat], number, thought.decision, thought.waited_s)
                    for thought in thoughts
                ]
                for at, cause in enumerate(result.end_causes):
                    if cause.is_taken_over:
                        taken_over.add(numbers[at])
                points[-1].append(place_points(result.places)[seat])
                if self.luck_adjusted:
                    adjusted[bot] += adjusted_points(result, luck_events(match, expected_points))[seat]
                results.append([result.places, result.scores, [cause.value for cause in result.end_causes]])
        difference = board_difference(points[0], points[1])
        without_luck = (adjusted[0] - adjusted[1]) / len(rows)
        digest = result_digest(results)
        return BoardResult(
            difference,
            tuple(failures.values()),
            frozenset(taken_over),
            digest,
            without_luck,
            slowest_by_bot(slow),
        )

    def _rows(self, number: int) -> list[tuple[int, ...]]:
        """Return the players by seat of each pair of matches: 0 is NEW or OLD, the others are the field."""
        seats = len(self.field) + 1
        if self.moment is None:
            return sorted(square(seats, self.seed, number), key=lambda row: row.index(0))
        others = iter(range(1, seats))
        return [tuple([0 if seat == self.moment.seat else next(others) for seat in range(seats)])]

    def identity(self) -> dict[str, object]:
        """Return everything that the differences depend on; a saved state must have the same."""
        identity: dict[str, object] = {
            "game": self.rules.words.game,
            "rules": self.rules.words.version,
            "new": fingerprint(self.new),
            "old": fingerprint(self.old),
            "field": [fingerprint(bot) for bot in self.field],
            "seed": str(self.seed),
            "seating": seating.VERSION,
            "settings": self.rules.check(len(self.field) + 1, self.settings).changed(),
        }
        if self.luck_adjusted:
            identity["luck"] = VALUES_VERSION
        if self.clock is not None:
            identity["clock"] = self.clock.as_json()
        if self.moment is not None:
            identity["moment"] = self.moment.identity()
        return identity


def fingerprint(maker: BotMaker) -> str:
    """Return a bot's name and, for a file, a hash of its bytes, since an edited bot is a different one."""
    file = Path(maker.file)
    if not maker.file.endswith(".py") or not file.is_file():
        return maker.name
    return f"{maker.name} {sha256(file.read_bytes()).hexdigest()[:16]}"


def _is_one_bot(new: BotMaker, old: BotMaker) -> bool:
    """Return whether both are the same class or command."""
    return new.make is old.make or (bool(new.spec) and new.spec == old.spec)


def _has_same_code(new: BotMaker, old: BotMaker) -> bool:
    """Return whether both are the same class name, from files with the same bytes."""
    if getattr(new.make, "__qualname__", "") != getattr(old.make, "__qualname__", None):
        return False
    files = Path(new.file), Path(old.file)
    return all(file.is_file() for file in files) and files[0].read_bytes() == files[1].read_bytes()


def field_for(bots: Sequence[str | BotMaker], seats: int) -> tuple[BotMaker, ...]:
    """Return the bots of the other seats, repeating `bots` until all are filled.  Raises UsageError for too many."""
    if not bots or len(bots) > seats - 1:
        raise UsageError(
            f"a field of {len(bots)} bots does not fit {seats} seats, one of which is taken; give 1 to {seats - 1}"
        )
    makers = bot_makers(bots)
    return tuple(makers[i % len(makers)] for i in range(seats - 1))


def compare(
    game: str,
    new: str | Callable[[], Any] | BotMaker,
    old: str | Callable[[], Any] | BotMaker,
    *,
    field: Sequence[str] = ("random",),
    seats: int | None = None,
    seed: int | str = 0,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    design: Design | None = None,
    state: str | Path | None = None,
    progress: Callable[[State], None] | None = None,
    watch: Callable[[Match], None] | None = None,
    on: str | None = None,
    luck_adjusted: bool = False,
    clock: MatchClock | None = None,
    moment: RecordedMoment | None = None,
) -> Compared:
    """Play boards until it is clear whether NEW is better than OLD, or `design.max_boards` are played.

    If NEW was taken over in a match, there is no verdict. The run then ends after `design.min_boards` boards, or when
    NEW was taken over on `FAILING_BOARDS` boards. That is enough to show how often NEW fails.

    If NEW and OLD are the same bot, the run also ends after `design.min_boards` boards, with the verdict "not better".
    Two files with the same bytes count as the same bot until they differ on a board, since they may read different
    data.

    Args:
        game: Name of the game.
        new: The new version: name, file, class or maker.
        old: The old version, likewise.
        field: Bots of the other seats, repeated until all are filled.
        seats: Number of seats. Default: the game's usual number.
        seed: Determines the deals and seats.
        settings: Game settings that differ from their defaults.
        jobs: Number of processes.
        design: Effect to detect, error rates and number of boards. Default: `Design()`.
        state: File to save the boards in, and to resume from if it exists.
        progress: Called at the beginning, and after every decision or, with other processes, about once a second.
        watch: Called with a match when it begins and after every answer; with one process only.
        on: Where to play, as in `cutpurse.sdk.local.play`.
        luck_adjusted: Also find the gain without the luck of the cards. It never changes the verdict.
        clock: Clock that all bots play by. Default: any bot has any time.
        moment: Let both versions play on from a moment, in the seat that was asked. A board is then a world, played
            once by either version; `seats` and `settings` are those of the record. Default: boards begin with a deal.

    Raises:
        UsageError: For unknown names, impossible values, a game whose luck cannot be found, and the state of another
            comparison.
        BatchLost: If some boards ended two processes.
    """
    rules = game_named(game)
    if moment is not None:
        seats, settings = len(moment.names), moment.settings()
    seats = rules.usual_seats if seats is None else seats
    chosen: dict[str, object] = {**rules.set_up(seats, settings or {}).changed()}
    check_backend(on, jobs)
    if luck_adjusted:
        _check_luck(rules, moment)
    design = design or Design()
    makers, others = bot_makers([new, old]), field_for(field, seats)
    boards = ComparisonRun(rules, makers[0], makers[1], others, seed, chosen, 0, luck_adjusted, clock, moment)
    path = None if state is None else Path(state)
    identity = boards.identity()
    taken_over = [0] * (2 + len(boards.field))
    kept, failures, digest, adjusted = (
        _load(path, identity, design, taken_over) if path else (State(design), {}, RunDigest(), AdjustedGain())
    )
    test = Sprt(kept)
    resumed = test.state.boards
    slowest: tuple[SlowDecision, ...] = ()
    is_one, is_copy = _is_one_bot(boards.new, boards.old), _has_same_code(boards.new, boards.old)

    def is_same() -> bool:
        return test.state.boards >= design.min_boards and (is_one or (is_copy and not test.state.differing))

    is_over = test.state.verdict or _is_failing(test.state, taken_over[0]) or is_same()
    left = 0 if is_over else design.max_boards - resumed
    boards = replace(boards, first=resumed)

    def beat(_: Match | None = None) -> None:
        if progress is not None:
            progress(test.state)

    beat()
    results = (
        (boards.board(resumed + i, watch or beat) for i in range(left))
        if is_in_this_process(on, jobs)
        else in_order(boards.batch, left, jobs, boards.describe, on, beat)
    )
    with a_run():
        try:
            for played in results:
                verdict = test.update(played.difference)
                adjusted = adjusted.after(played.adjusted)
                for failure in played.failures:
                    failures.setdefault(failure.bot, failure)
                slowest = slowest_by_bot((*slowest, *played.slowest))
                for bot in played.taken_over:
                    taken_over[bot] += 1
                if digest is not None:
                    digest.add(played.digest)
                if path:
                    _save(path, identity, test.state, failures, taken_over, digest, adjusted)
                beat()
                if verdict is not None or _is_failing(test.state, taken_over[0]) or is_same():
                    break
        finally:
            results.close()
    result = test.result()
    if is_same() and result.verdict is Verdict.UNDECIDED:
        result = _same_bot(result)
    return Compared(
        result,
        tuple(failures[bot] for bot in sorted(failures)),
        resumed,
        tuple(maker.name for maker in (boards.new, boards.old, *boards.field)),
        tuple(taken_over),
        is_same(),
        "" if digest is None else digest.hex(),
        adjusted if luck_adjusted else None,
        slowest,
    )


def _same_bot(result: Result) -> Result:
    """Return the result of a bot that was compared with itself."""
    fared = f"{result.differing} of them different by chance" if result.differing else "alike on each"
    reason = f"not better: both are the same bot, after {format_count(result.boards, 'board')}, {fared}"
    return replace(result, verdict=Verdict.NOT_BETTER, reason=reason)


def _check_luck(rules: type[Game], moment: RecordedMoment | None) -> None:
    """Check that the luck of the cards can be found.  Raises UsageError."""
    if moment is not None:
        raise UsageError("the luck of the cards is found from the deal on, not from a moment")
    check_has_value(rules)


def _is_failing(state: State, new_taken_over: int) -> bool:
    """Return whether the run has shown well enough how often NEW fails."""
    return new_taken_over >= FAILING_BOARDS or (new_taken_over > 0 and state.boards >= state.design.min_boards)


def _load(
    path: Path, mine: dict[str, object], design: Design, taken_over: list[int]
) -> tuple[State, dict[int, Failure], RunDigest | None, AdjustedGain]:
    """Read the state file, or begin a new state if there is none.

    Also returns the first failure of each bot, the digest, which is None in the file of an earlier version, and the
    luck-adjusted gain, which is empty unless `mine` asks for it.

    Adds to `taken_over`, by bot, the number of boards on which it was taken over.

    Raises:
        UsageError: If the state belongs to another comparison, or has failures counted by the earlier rule of places.
    """
    try:
        saved = parse_json(path.read_bytes())
        kept = State.from_json(saved["test"])
        comparison = saved["comparison"]
        failed = [Failure(**{**failure, "cause": EndCause(failure["cause"])}) for failure in saved.get("failures", ())]
        counts = saved.get("taken_over")
        digest = RunDigest(saved["digest"]) if saved.get("digest") is not None else None
        has_luck = "luck" in mine and isinstance(comparison, dict) and "luck" in comparison
        adjusted = AdjustedGain.from_json(saved.get("luck"), kept.boards) if has_luck else AdjustedGain()
        if not all(type(count) is int and 0 <= count <= kept.boards for count in counts or ()):
            raise ValueError("taken_over has other values than numbers of its boards")
    except FileNotFoundError:
        return State(design), {}, RunDigest(), AdjustedGain()
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise UsageError(f"{path} is no state of a comparison: {problem}") from None
    if different := [name for name in mine if not isinstance(comparison, dict) or comparison.get(name) != mine[name]]:
        raise UsageError(
            f"{path} is the state of another comparison: {', '.join(different)} differ; name another file, or remove it"
        )
    if replace(kept.design, max_boards=design.max_boards, min_boards=design.min_boards) != design:
        raise UsageError(f"{path} was begun with another design: {kept.design}")
    if failed and counts is None:
        raise UsageError(
            f"{path} was kept by an earlier version, which placed bots that failed by their cards: remove it and "
            "compare again"
        )
    if counts is not None and len(counts) != len(taken_over):
        raise UsageError(f"{path} is no state of a comparison: taken_over is not one number for each bot")
    for bot, count in enumerate(counts or ()):
        taken_over[bot] += count
    return replace(kept, design=design), {failure.bot: failure for failure in failed}, digest, adjusted


def _save(
    path: Path,
    mine: dict[str, object],
    state: State,
    failures: Mapping[int, Failure],
    taken_over: Sequence[int],
    digest: RunDigest | None,
    adjusted: AdjustedGain,
) -> None:
    """Write the state to a new file and move it into place, so that the file is complete at any time."""
    failed = [{**asdict(failures[bot]), "cause": failures[bot].cause.value, "trace": ""} for bot in sorted(failures)]
    saved: dict[str, object] = {
        "comparison": mine,
        "test": state.to_json(),
        "failures": failed,
        "taken_over": list(taken_over),
        "digest": None if digest is None else digest.hex(),
    }
    if "luck" in mine:
        saved["luck"] = adjusted.to_json()
    text = json.dumps(saved, indent=1)
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as problem:
        raise NotFound(f"the state cannot be written to {path}: {problem.strerror}") from None
