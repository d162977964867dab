"""`cutpurse play`: local matches, watched or counted up, with bots and with a person."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.sdk import local
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.commands.arguments import (
    AsJson,
    GameName,
    Jobs,
    Seed,
    Setting,
    bots_talk_on_stderr,
    parse_settings,
    tell_failures,
)
from cutpurse.sdk.errors import BOT_FAILED, NotFound
from cutpurse.sdk.human import Human
from cutpurse.sdk.local import MatchRow, Played
from cutpurse.sdk.picture import event_lines, picture
from cutpurse.sdk.screen import Screen
from cutpurse.sdk.seating import view_for
from cutpurse.sdk.terminal import Progress, print_json, print_lines, table

__all__ = ["Watcher", "play", "result_lines", "summary"]

KINDS: Final = (".csv", ".jsonl")


def play(
    context: typer.Context,
    game: GameName,
    bots: Annotated[
        list[str] | None,
        typer.Argument(metavar="BOT...", help="One a seat: a name, my_bot.py, my_bot.py:MyBot, or exec:COMMAND."),
    ] = None,
    matches: Annotated[int, typer.Option(metavar="N", help="How many; seats rotate by one each match.")] = 1,
    seed: Seed = "0",
    setting: Setting = None,
    jobs: Jobs = 1,
    record: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every match there, a line each.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A row a match and bot, .csv or .jsonl.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show every step, as a spectator sees it.")] = False,
    human: Annotated[
        int | None, typer.Option(metavar="SEAT", help="You play in this seat (of the first match), from 0.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play local matches, without a server.

    Example: cutpurse play greed my_bot.py random random random --matches 100 --seed 7
    """
    talk = sys.stderr if as_json else sys.stdout
    rules = game_named(game)
    seated: list[str | BotMaker] = list(bots or ())
    if human is not None:
        if not 0 <= human <= len(seated):
            raise UsageError(f"--human {human}: with {len(seated)} bots you can sit in seats 0 to {len(seated)}")
        if jobs != 1:
            raise UsageError("--human needs --jobs 1")
        keyboard = sys.stdin
        seated.insert(human, BotMaker("person", lambda: Human(keyboard, talk)))
    if len(seated) not in rules.words.seats:
        allowed = rules.words.seats
        given = f"{len(bots or ())} bots and you" if human is not None else f"{len(seated)}: name a bot for each seat"
        raise UsageError(f"{rules.words.title} is for {allowed[0]} to {allowed[-1]} players, not {given}")
    if watch and jobs != 1:
        raise UsageError("--watch needs --jobs 1")
    _check_out(out)
    progress = None if watch or human is not None else Progress("matches")
    watcher = Watcher(Screen(talk)) if watch else None
    with bots_talk_on_stderr():
        played = local.play(
            game,
            seated,
            matches=matches,
            seed=seed,
            settings=parse_settings(setting),
            jobs=jobs,
            record=record,
            progress=progress,
            watch=watcher,
        )
    if progress:
        progress.end()
    if out:
        _write_rows(out, played)
    if as_json:
        print_json(summary(played))
    else:
        print_lines(result_lines(played))
    tell_failures(played.failures, played.faults, bool(context.obj))
    if played.failures:
        raise typer.Exit(BOT_FAILED)


def summary(played: Played) -> dict[str, Any]:
    """The document of --json."""
    return {
        "game": played.game,
        "matches": played.matches,
        "decisions": played.decisions,
        "seconds": round(played.seconds, 3),
        "seats": [
            {
                "bot": row.bot,
                "first_places": row.first_places,
                "mean_place": round(row.mean_place, 4),
                "mean_score": round(row.mean_score, 4),
            }
            for row in played.seats
        ],
    }


def result_lines(played: Played) -> list[str]:
    """A table of the bots, and how long it took."""
    rows = [(row.bot, row.first_places, row.mean_place, row.mean_score) for row in played.seats]
    some = "1 match" if played.matches == 1 else f"{played.matches:,} matches"
    rate = f", {played.decisions / played.seconds:,.0f} a second" if played.seconds > 0 else ""
    return [
        *table(("bot", "first places", "mean place", "mean score"), rows),
        f"{some} of {played.game}, {played.decisions:,} decisions in {played.seconds:.1f} s{rate}",
    ]


def _check_out(out: Path | None) -> None:
    if out is None:
        return
    if out.suffix not in KINDS:
        raise UsageError(f"--out {out}: the name must end with {' or '.join(KINDS)}")
    if not out.parent.is_dir():
        raise NotFound(f"--out {out}: there is no folder {out.parent}")


def _write_rows(out: Path, played: Played) -> None:
    rows = [row for match in played.rows for row in _rows_of(match, played)]
    with out.open("w", encoding="utf-8", newline="") as file:
        if out.suffix == ".csv":
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def _rows_of(match: MatchRow, played: Played) -> list[dict[str, object]]:
    return [
        {
            "match": match.match,
            "bot": bot,
            "name": played.seats[bot].bot,
            "seat": match.seats[bot],
            "place": match.places[bot],
            "score": match.scores[bot],
            "end_cause": match.end_causes[bot],
            "decisions": match.decisions,
        }
        for bot in range(len(played.seats))
    ]


class Watcher:
    """Shows each step of a match as a spectator sees it."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.match: Match | None = None
        self.told = 0

    def __call__(self, match: Match) -> None:
        """The match has gone on."""
        if match is not self.match:
            self.match, self.told = match, 0
        view = view_for(match, None, self.told)
        told = event_lines(view)
        self.told = len(match.game.log or ())
        if told or match.over:  # else a sealed answer: a spectator learns nothing of it yet
            self.screen.show(told, picture(view, match.seats))
