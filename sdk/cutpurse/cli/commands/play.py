"""`cutpurse play`: local matches with bots or a person, watched or summed up."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Self, TextIO

import typer

from cutpurse.cli.arguments import (
    AsJson,
    Jobs,
    On,
    Seed,
    Setting,
    parse_settings,
    run_bots_in,
    tell_failures,
)
from cutpurse.cli.clock_option import Clock, clock_as_json, read_clock, slowest_lines
from cutpurse.cli.completion import complete_bots, complete_games
from cutpurse.cli.engine_build import warn_of_slow_bots
from cutpurse.cli.from_moment import (
    At,
    FromRecord,
    IsTrue,
    OfMatch,
    check_seats,
    moment_as_json,
    moment_at,
    moment_line,
    print_cost,
    without_game,
)
from cutpurse.cli.progress import Progress
from cutpurse.cli.published import prepare_published
from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.engine.seating import arrangement
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, results, table
from cutpurse.sdk import local
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.local import LocalMatch, LocalRun, RunCutShort
from cutpurse.sdk.playing.lines import Lines
from cutpurse.sdk.playing.seating import view_for
from cutpurse.sdk.text_view import event_lines, render_table
from cutpurse.wire.errors import BOT_FAILED, NotFound
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.cli.screen import Screen
    from cutpurse.lab.moment import RecordedMoment
    from cutpurse.sdk.playing.match_clock import MatchClock

__all__ = ["MatchPrinter", "play", "result_lines", "summary"]

DEFAULT_TIMES: Final = 100  # matches from a moment
KINDS: Final = (".csv", ".jsonl")
COLUMNS: Final = (  # of --out
    *("match", "bot", "name", "seat", "place", "score", "end_cause", "decisions"),
    *("game", "settings", "seed", "key"),
)


def play(
    context: typer.Context,
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="Name of the game; see `cutpurse games`.", autocompletion=complete_games),
    ] = None,
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT...",
            help="One bot per seat: a built-in bot, my_bot.py, my_bot.py:MyBot, or exec:COMMAND.",
            autocompletion=complete_bots,
        ),
    ] = None,
    matches: Annotated[int, typer.Option(metavar="N", help="Number of matches; the seed determines the seats.")] = 1,
    seed: Seed = "0",
    setting: Setting = None,
    jobs: Jobs = 1,
    on: On = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a record of every match to this file, one per line; replaces the file."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write one row per match and bot to this .csv or .jsonl file; replaces the file."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show every step as a spectator sees it.")] = False,
    human: Annotated[
        int | None, typer.Option(metavar="SEAT", help="Play yourself, in this seat of the first match, counted from 0.")
    ] = None,
    aggregate: Annotated[
        bool, typer.Option("--aggregate", help="Sums only, with variances: for runs of millions of matches.")
    ] = False,
    clock: Clock = None,
    source: FromRecord = None,
    at: At = None,
    match: OfMatch = 0,
    is_true: IsTrue = False,
    times: Annotated[
        int | None, typer.Option("--times", metavar="N", help="With --from: number of matches. [default: 100]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play local matches, without a server.

    With --from, every match begins at a decision of a record, in a world that its seat can imagine there. Name the bots
    by seat, or none to play on with those of the record.

    Example: cutpurse play greed my_bot.py random random random --matches 100 --seed 7
    """
    run_bots_in(context)
    talk = sys.stderr if as_json else results()
    refused = {"--set": setting, "--record": record, "--matches": matches != 1, "--human": human is not None}
    moment = moment_at(source, at, match, is_true, refused, times)
    if moment is not None:
        game, bots = moment.rules.words.game, without_game(moment, (game, *(bots or ()))) or list(moment.names)
        matches = DEFAULT_TIMES if times is None else times
    if game is None:
        raise UsageError("name a GAME and a bot for each seat; `cutpurse games` lists the games")
    rules = game_named(game)
    seated = _seated(rules, bots or (), human, seed, jobs if on is None else 0, talk)
    if watch and (jobs != 1 or on is not None):
        raise UsageError("--watch needs --jobs 1, without --on")
    if aggregate and (watch or human is not None or out is not None or record is not None):
        raise UsageError("--aggregate has sums only: do without --out, --record, --watch and --human")
    prepare_published(bots or ())
    makers = bot_makers(seated)
    match_clock = read_clock(clock)
    settings = parse_settings(setting) if moment is None else moment.settings()
    if moment is not None:
        check_seats(moment, len(makers))
        trial = partial(local.play, game, makers, seed=seed, settings=settings, position=moment.position)
        print_cost(moment, format_count(matches, "match", "matches"), matches, jobs, trial)
    texts = rules.set_up(len(makers), settings).changed()
    deals = _Deals(game, " ".join(f"{name}={value}" for name, value in texts.items()), seed)
    rows = _ResultWriter(out, makers, record, deals)
    warn_of_slow_bots(bots or ())
    progress = Progress("matches")
    where = f", and are in {out}" if out else ""
    watcher = _printer(talk) if watch else None
    try:
        with rows, progress:
            played = local.play(
                game,
                makers,
                matches=matches,
                seed=seed,
                settings=settings,
                jobs=jobs,
                record=record,
                progress=None if watch or human is not None else progress,
                on_match=None if aggregate else rows.add,
                watch=watcher,
                keep_rows=False,
                aggregate=aggregate,
                on=on,
                clock=match_clock,
                position=None if moment is None else moment.position,
            )
    except KeyboardInterrupt:
        if rows.matches:
            print_message(f"{rows.matches:,} of {matches:,} matches were played{where}")
        raise
    except RunCutShort as cut:
        _print_results(cut.so_far, aggregate, as_json, bool(context.obj), match_clock)
        print_message(f"{cut.so_far.matches:,} of {matches:,} matches were played{where}")
        raise
    _print_results(played, aggregate, as_json, bool(context.obj), match_clock, moment)
    if played.failures:
        raise typer.Exit(BOT_FAILED)


def _printer(talk: TextIO) -> MatchPrinter:
    from cutpurse.cli.screen import Screen  # imported late, since most runs are not watched

    return MatchPrinter(Screen(talk))


def _seated(
    rules: type[Game], bots: Sequence[str], human: int | None, seed: str, jobs: int, talk: TextIO
) -> list[str | BotMaker]:
    """Return the bots, and the person in the seat `human`; `jobs` is 0 for other machines.  Raises UsageError."""
    seated: list[str | BotMaker] = list(bots)
    if human is not None:
        if not 0 <= human <= len(seated):
            raise UsageError(f"--human {human}: with {len(seated)} bots you can sit in seats 0 to {len(seated)}")
        if jobs != 1:
            raise UsageError("--human needs --jobs 1, without --on")
        from cutpurse.cli.human import Human

        keyboard = sys.stdin
        # The person takes the bot number that the seed puts on that seat in the first match.
        number = arrangement(len(seated) + 1, seed, 0)[human] if seated else 0
        seated.insert(number, BotMaker("person", lambda: Human(keyboard, talk)))
    if len(seated) not in rules.words.seats:
        allowed = rules.words.seats
        given = f"{len(bots)} bots and you" if human is not None else f"{len(seated)}: name a bot for each seat"
        raise UsageError(f"{rules.words.title} is for {allowed[0]} to {allowed[-1]} players, not {given}")
    return seated


def _print_results(
    played: LocalRun,
    aggregate: bool,
    as_json: bool,
    traces: bool,
    clock: MatchClock | None,
    moment: RecordedMoment | None = None,
) -> None:
    names = [row.bot for row in played.seats]
    if as_json:
        print_json(
            {
                **summary(played),
                **clock_as_json(clock, played.slowest, names),
                **(moment_as_json(moment, played) if moment is not None else {}),
            }
        )
    elif played.matches:
        lines = [*result_lines(played, aggregate), *slowest_lines(clock, played.slowest, names)]
        print_lines([*lines, *([moment_line(moment, played)] if moment is not None else [])])
    tell_failures(played.failures, played.faults, traces)


def summary(played: LocalRun) -> dict[str, Any]:
    """Return the document of --json."""
    return {
        "game": played.game,
        "matches": played.matches,
        "decisions": played.decisions,
        "seconds": round(played.seconds, 3),
        "digest": played.digest,
        "seats": [
            {
                "bot": row.bot,
                "first_places": row.first_places,
                "mean_place": round(row.mean_place, 4),
                "mean_score": round(row.mean_score, 4),
                "taken_over": row.taken_over,
                "faults": row.faults,
                "places": list(row.places),
                "place_variance": round(row.place_variance, 4),
                "score_variance": round(row.score_variance, 4),
                "min_score": row.min_score,
                "max_score": row.max_score,
            }
            for row in played.seats
        ],
    }


def result_lines(played: LocalRun, with_variances: bool = False) -> list[str]:
    """Return lines with a table of the bots, takeovers, the time and the digest."""
    columns: tuple[str, ...] = ("bot", "first places", "mean place", "mean score")
    rows: list[tuple[object, ...]] = [
        (row.bot, row.first_places, row.mean_place, row.mean_score) for row in played.seats
    ]
    if with_variances:
        columns += ("variance of places", "of scores", "scores", "faults")
        rows = [
            (*cells, row.place_variance, row.score_variance, f"{row.min_score} to {row.max_score}", row.faults)
            for cells, row in zip(rows, played.seats, strict=True)
        ]
    some = format_count(played.matches, "match", "matches")
    rate = f", {played.decisions / played.seconds:,.0f} a second" if played.seconds > 0 else ""
    head, *lines = table(columns, rows)
    best = min(row.mean_place for row in played.seats)
    over = "was taken over in {:,} of {}: it came last there, whatever it scored"
    return [
        head,
        *[
            paint(line, "leader") if row.mean_place == best else line
            for line, row in zip(lines, played.seats, strict=True)
        ],
        *[paint(f"{row.bot} {over.format(row.taken_over, some)}", "bad") for row in played.seats if row.taken_over],
        f"{some} of {played.game}, {played.decisions:,} decisions in {played.seconds:.1f} s{rate}",
        f"digest {played.digest}",
    ]


class _Deals(NamedTuple):
    """The parameters of the deals of a run; each row of --out has them, so that any match can be repeated."""

    game: str
    settings: str  # changed settings: "mode=single specials=rich"
    seed: str

    def of(self, match: int) -> tuple[str, str, str, str]:
        """Return game, settings, seed and key (hex) of match number `match`, counted from 0."""
        return *self, match_key(self.seed, match).hex()


class _ResultWriter:
    """A counter of matches, which also writes them to the file of --out. Use it as a context manager."""

    def __init__(self, out: Path | None, bots: Sequence[BotMaker], record: Path | None, deals: _Deals) -> None:
        """Check the file.

        Raises:
            UsageError: If its suffix is unknown, or the file is also that of --record.
            NotFound: If its folder does not exist.
        """
        if out is not None and out.suffix not in KINDS:
            raise UsageError(f"--out {out}: the name must end with {' or '.join(KINDS)}")
        if out is not None and not out.parent.is_dir():
            raise NotFound(f"--out {out}: there is no folder {out.parent}")
        if out is not None and record is not None and out.resolve() == record.resolve():
            raise UsageError(f"--out and --record are both {out}: each needs a file of its own")
        self.matches = 0
        self._bots = bots
        self._deals = deals
        self._lines = Lines(out, "--out")
        self._csv = csv.writer(self._lines, lineterminator="") if out and out.suffix == ".csv" else None

    def add(self, match: LocalMatch) -> None:
        """Count and write a finished match.  Raises CutpurseError if the file cannot be written."""
        if not self.matches:  # opened late, so that a wrong command leaves the file alone
            self._begin()
        self.matches += 1
        for bot, maker in enumerate(self._bots if self._lines.path is not None else ()):
            row = (
                *(match.match, bot, maker.name, match.seats[bot], match.places[bot], match.scores[bot]),
                *(match.end_causes[bot], match.decisions),
                *self._deals.of(match.match),
            )
            if self._csv is not None:
                self._csv.writerow(row)
            else:
                self._lines.write(json.dumps(dict(zip(COLUMNS, row, strict=True))))

    def _begin(self) -> None:
        self._lines.__enter__()
        if self._csv is not None:
            self._csv.writerow(COLUMNS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self._lines.__exit__(*how)


class MatchPrinter:
    """A display of each step of a match, as a spectator sees it."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.match: Match | None = None
        self.events_before = 0
        self.before: View | None = None  # the view before the next events

    def __call__(self, match: Match) -> None:
        """Show the new events of the match."""
        if match is not self.match:
            self.match, self.events_before, self.before = match, 0, None
        view = view_for(match, None, self.events_before, self.before)
        lines = event_lines(view)
        self.events_before, self.before = len(match.game.log or ()), view.raw
        if lines or match.over:  # else a simultaneous answer, which spectators do not see yet
            self.screen.show(lines, render_table(view, match.seats))
