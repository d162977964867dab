"""`cutpurse compare`: tests whether the new version of a bot is better than the old one."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cutpurse.cli.arguments import (
    AsJson,
    GameName,
    Jobs,
    On,
    Seats,
    Seed,
    Setting,
    parse_settings,
    run_bots_in,
    tell_failures,
)
from cutpurse.cli.clock_option import Clock, clock_as_json, read_clock, slowest_lines
from cutpurse.cli.completion import complete_bot_lists, complete_bots
from cutpurse.cli.engine_build import warn_of_slow_bots
from cutpurse.cli.from_moment import At, FromRecord, IsTrue, OfMatch, moment_at, print_cost, without_game
from cutpurse.cli.progress import Progress
from cutpurse.cli.published import prepare_published
from cutpurse.engine.errors import UsageError
from cutpurse.lab import comparison
from cutpurse.lab.adjusted_gain import AdjustedGain
from cutpurse.leaderboard.statistics.sprt import Design, Sprt, State, Verdict
from cutpurse.process.pool import BatchLost
from cutpurse.process.terminal import paint, print_json, print_lines, print_message
from cutpurse.wire.errors import BOT_FAILED
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.lab.moment import RecordedMoment

__all__ = ["compare"]

DECIMALS: Final = 6
VERSIONS: Final = 2  # that are compared
STYLE: Final = {Verdict.BETTER: "good", Verdict.NOT_BETTER: "bad", Verdict.UNDECIDED: "open"}


def compare(
    context: typer.Context,
    game: GameName,
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", help="New version: a bot as in `cutpurse play`.", autocompletion=complete_bots),
    ],
    old: Annotated[
        str | None, typer.Argument(metavar="OLD", help="Old version to compare it with.", autocompletion=complete_bots)
    ] = None,
    field: Annotated[
        str,
        typer.Option(
            metavar="BOT,BOT,...",
            help="Bots for the other seats, repeated as needed.",
            autocompletion=complete_bot_lists,
        ),
    ] = "random",
    seats: Seats = None,
    seed: Seed = "0",
    setting: Setting = None,
    jobs: Jobs = 1,
    on: On = None,
    max_boards: Annotated[int, typer.Option(metavar="N", help="Stop undecided after this many boards.")] = 4000,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Store the boards in this file, and continue from it if it exists."),
    ] = None,
    luck_adjusted: Annotated[
        bool, typer.Option("--luck-adjusted", help="Also print the gain without the luck of the cards.")
    ] = False,
    clock: Clock = None,
    source: FromRecord = None,
    at: At = None,
    match: OfMatch = 0,
    is_true: IsTrue = False,
    as_json: AsJson = False,
) -> None:
    """Play the same deals with a new and an old version of a bot until it is clear whether the new one is better.

    A board is one deal, played with either version in each seat in turn. The verdict is wrong at most 5 times in 100.
    If the new version was taken over in a match, there is no verdict, and the exit code is 3. With --from, a board is
    a world that the seat can imagine at a decision of a record, played on once by either version.

    Example: cutpurse compare greed new_bot.py old_bot.py --field random --state compare.json
    """
    try:
        usual = Design()
        design = Design(max_boards=max_boards, min_boards=min(usual.min_boards, max_boards))
    except ValueError as problem:
        raise UsageError(f"--max-boards {max_boards}: {problem}") from None
    known = State(design)
    progress = Progress("boards")

    def tell(at: State) -> None:
        nonlocal known
        known = at
        progress(at.boards, max_boards, f"at most; gain {at.gain:+.3f}")

    run_bots_in(context)
    refused = {"--seats": seats, "--set": setting, "--luck-adjusted": luck_adjusted}
    moment = moment_at(source, at, match, is_true, refused)
    game, new, old = _versions(moment, game, new, old)
    match_clock = read_clock(clock)
    field_bots = [bot for bot in field.split(",") if bot]
    prepare_published([new, old, *field_bots])
    warn_of_slow_bots([new, old, *field_bots])
    if moment is not None:
        single = Design(min_boards=1, max_boards=1)
        trial = partial(comparison.compare, game, new, old, field=field_bots, seed=seed, design=single, moment=moment)
        print_cost(moment, f"at most {format_count(max_boards, 'board')}, a world each", max_boards, jobs, trial)
    try:
        with progress:
            done = comparison.compare(
                game,
                new,
                old,
                field=field_bots,
                seats=seats,
                seed=seed,
                settings=parse_settings(setting),
                jobs=jobs,
                on=on,
                design=design,
                state=state,
                progress=tell,
                luck_adjusted=luck_adjusted,
                clock=match_clock,
                moment=moment,
            )
    except (KeyboardInterrupt, BatchLost):
        for line in _lines_so_far(known, new, old, state):
            print_message(line)
        raise
    result = done.result
    no_verdict = f"no verdict: {new} failed in {done.taken_over[0]:,} of {result.boards:,} boards"
    if as_json:
        print_json(
            {
                "game": game,
                "new": new,
                "old": old,
                "verdict": result.verdict.value if done.has_verdict else None,
                "boards": result.boards,
                "differing": result.differing,
                "gain": round(result.gain, DECIMALS),
                "interval": [round(limit, DECIMALS) for limit in result.interval],
                "reason": result.reason if done.has_verdict else no_verdict,
                "is_same": done.is_same,
                "resumed": done.resumed,
                "digest": done.digest or None,
                "luck_adjusted": None if done.adjusted is None else _adjusted_as_json(done.adjusted),
                "taken_over": {
                    "new": done.taken_over[0],
                    "old": done.taken_over[1],
                    "field": list(done.taken_over[2:]),
                },
                **clock_as_json(match_clock, done.slowest, done.bots),
            }
        )
    else:
        lines = _result_lines(done, no_verdict, new, old)
        print_lines([*lines, *slowest_lines(match_clock, done.slowest, done.bots, "board")])
    tell_failures(done.failures, (), bool(context.obj))
    if done.failures or not done.has_verdict:
        raise typer.Exit(BOT_FAILED)


def _result_lines(done: comparison.Compared, no_verdict: str, new: str, old: str) -> list[str]:
    """Describe the verdict, or its absence, and the takeovers of the other bots."""
    result = done.result
    if done.has_verdict:
        lines = [f"{new} against {old}: {paint(result.reason, STYLE[result.verdict])}"]
    else:
        lines = [paint(no_verdict, "bad")]
    if done.adjusted is not None:
        lines.append(_adjusted_line(done.adjusted))
    for number, (name, count) in enumerate(zip(done.bots, done.taken_over, strict=True)):
        if number and count:
            whose = name if number == 1 else f"{name} (field, seat {number - 1} to the left)"
            text = f"{whose} was taken over on {count:,} of {result.boards:,} boards: it came last there"
            lines.append(paint(text, "bad"))
    return [*lines, *([f"digest {done.digest}"] if done.digest else [])]


def _versions(moment: RecordedMoment | None, game: str, new: str, old: str | None) -> tuple[str, str, str]:
    """Return the game and both versions.  Raises UsageError if one of them is missing."""
    if moment is not None:
        versions = without_game(moment, (game, new, old))
        if len(versions) == VERSIONS:
            return moment.rules.words.game, versions[0], versions[1]
        raise UsageError(f"with --from name NEW and OLD; the game of the record is {moment.rules.words.game}")
    if old is None:
        raise UsageError("name GAME, NEW and OLD; the game may be left out with --from only")
    return game, new, old


def _adjusted_as_json(adjusted: AdjustedGain) -> dict[str, object]:
    """Return the gain and its interval, which is null for fewer than two boards."""
    limits = [round(limit, DECIMALS) for limit in adjusted.interval if math.isfinite(limit)]
    return {"gain": round(adjusted.gain, DECIMALS), "interval": limits or None}


def _adjusted_line(adjusted: AdjustedGain) -> str:
    low, high = adjusted.interval
    between = f", between {low:+.3f} and {high:+.3f}" if math.isfinite(low) else ""
    return f"without the luck of the cards: gain {adjusted.gain:+.3f}{between}"


def _lines_so_far(known: State, new: str, old: str, file: Path | None) -> list[str]:
    """Describe the results of a comparison that was cut short, and how to continue it."""
    lines = [f"{new} against {old}: {Sprt(known).result().reason}"] if known.boards else []
    if file is None:
        hint = "to be able to go on, start it with --state compare.json: the same command then goes on from there"
        return [*lines, f"these boards are not kept; {hint}" if lines else hint]
    return [*lines, f"the boards are kept in {file}: the same command goes on from there"]
