"""`cutpurse ladder`: the ladders and their rankings."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.class_file import read_class
from cutpurse.cli.commands.ladder_why import rating_row, step_row, why
from cutpurse.cli.completion import complete_games, complete_ladders, complete_ranked_bots
from cutpurse.cli.lazy import LazyGroup
from cutpurse.cli.league_options import (
    Authority,
    Database,
    Server,
    asked,
    bot_row,
    count,
    interval,
    iso,
    ladder_named,
    local_time,
    short,
    utc_time,
)
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["BOARDS", "Ladder", "app", "kind_shown", "ladder_row"]

BOARDS: Final = ("plain", "rotation", "duplicate")  # names of BoardKind, in order
TEST_BOARDS: Final = "test"  # the next one, of boards of version tests, and of no ladder

CSV_COLUMNS: Final = (
    "place",
    "owner",
    "bot",
    "version",
    "rating",
    "low",
    "high",
    "matches",
    "wins",
    "faulted",
    "form",
    "is_here",
    "is_paused",
    "best",
    "worst",
    "estimated",
    "tokens_per_match",
    "cost_micros_per_match",
    "person",
)


class LadderAdminCommands(LazyGroup):
    """The commands for administrators, by module."""

    places: ClassVar[dict[str, str]] = {
        "create": "cutpurse.cli.commands.ladder_admin:create",
        "change": "cutpurse.cli.commands.ladder_admin:change",
        "delete": "cutpurse.cli.commands.ladder_admin:delete",
        "freeze": "cutpurse.cli.commands.ladder_admin:freeze",
        "unfreeze": "cutpurse.cli.commands.ladder_admin:unfreeze",
        "overall": "cutpurse.cli.commands.ladder_overall:overall",
        "pairs": "cutpurse.cli.commands.ladder_pairs:pairs",
    }


app = typer.Typer(
    cls=LadderAdminCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ladders and their rankings.\n\nExample: cutpurse ladder rankings greed",
)

Ladder: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="LADDER", help="Name of the ladder; see `cutpurse ladder list`.", autocompletion=complete_ladders
    ),
]
BotName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="BOT",
        help="Bot: name (one of your own), owner/name or owner/name:version.",
        autocompletion=complete_ranked_bots,
    ),
]


@app.callback()
def ladder() -> None:
    """Show and administer ladders."""


@app.command("list")
def list_ladders(
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME", help="Only ladders of this game. [default: all games]", autocompletion=complete_games
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the ladders.

    Example: cutpurse ladder list --server https://league.example:7777
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, db) as league:
        ladders = league.ListLadders(ladder_pb2.ListLaddersRequest(game=game or "")).ladders
    if as_json:
        print_json([ladder_row(one) for one in ladders])
        return
    head = ("ladder", "game", "seats", "matches", "bots", "tables", "state")
    cells = [
        (
            printable(one.defined.name, 64),
            printable(one.defined.game, 64),
            one.defined.seats,
            one.matches,
            one.bots,
            one.tables,
            _state(one),
        )
        for one in ladders
    ]
    print_lines(table(head, cells))


@app.command()
def rankings(
    ladder: Ladder,
    every_version: Annotated[
        bool, typer.Option("--every-version", help="List every rated version, not only the newest of each bot.")
    ] = False,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Number of rows. [default: all]")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with all columns, one row per bot.")] = False,
    class_file: Annotated[
        Path | None,
        typer.Option(
            "--class", metavar="FILE", help="With --csv: add the labels of this class file, and owners without a bot."
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show the rankings of a ladder.

    rating is a bot's strength with its 95 % interval; rank is the range of places that it deserves with the same
    probability. Both are estimated from all results together, from time to time. A bot with "-" for a place is not
    placed yet: it has fewer than 4 rated boards, or its interval is still too wide. form is the places in its last
    matches, the newest first. tokens and cost per match are what bots with a language model report.

    With --class, each row has the label of its owner from the file of `cutpurse token create --from`. Owners without a
    bot on the ladder have a row at the end.

    Example: cutpurse ladder rankings greed --csv > greed.csv

    Example: cutpurse ladder rankings greed --csv --class class.csv > marks.csv
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name, usage_per_match
    from cutpurse.wire.league import rankings as rankings_of
    from cutpurse.wire.usage import format_dollars

    if as_csv and as_json:
        raise UsageError("--csv and --json: name one of them")
    if class_file is not None and not as_csv:
        raise UsageError("--class adds labels to the sheet of --csv: name that too")
    labels = None if class_file is None else {line.owner: line.label for line in read_class(class_file)}
    most = count("--limit", limit) or None
    with asked(server, ca, db) as league:
        rows = rankings_of(league, ladder, every_version, most)
        state = league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=1))
    if as_json:
        counts = {"boards": state.boards, "estimated": state.estimated or None, "placed": state.placed}
        print_json({"ladder": ladder, **counts, "rankings": [_ranking_row(one) for one in rows]})
        return
    if as_csv:
        typer.echo(_csv([_ranking_row(one) for one in rows], labels), nl=False)
        return
    head: tuple[str, ...] = ("place", "rank", "bot", "rating", "matches", "wins", "faulted", "form", "state")
    used = [usage_per_match(one) for one in rows]
    if any(used):
        head = (*head[:-1], "tokens/match", "cost/match", head[-1])
    cells = [
        (
            f"{one.place or '-':>5}",
            _range(one),
            format_bot_name(one.bot),
            f"{one.rating:.1f} ({one.low:.1f} to {one.high:.1f})" if one.HasField("rating") else "",
            one.matches,
            one.wins,
            one.faulted,
            " ".join(map(str, one.form)),
            *(() if not any(used) else ("", "") if mine is None else (f"{mine[0]:,}", format_dollars(mine[1]))),
            _ranking_state(one),
        )
        for one, mine in zip(rows, used, strict=True)
    ]
    top, *lines = table(head, cells)
    print_lines(
        [top, *[paint(line, "leader") if one.place == 1 else line for line, one in zip(lines, rows, strict=True)]]
    )
    print_message(_as_of(state))


@app.command()
def show(
    ladder: Ladder, server: Server = None, ca: Authority = None, db: Database = None, as_json: AsJson = False
) -> None:
    """Show a ladder: its game, settings, clock and terms.

    Example: cutpurse ladder show greed
    """
    with asked(server, ca, db) as league:
        found = ladder_named(league, ladder)
    if as_json:
        print_json(ladder_row(found))
    else:
        _print_ladder(found)


@app.command()
def history(
    ladder: Ladder,
    bot: BotName,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of matches, at most 1,000. [default: 100]")
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Only rated matches before this number. [default: the newest]")
    ] = None,
    is_explained: Annotated[
        bool, typer.Option("--explain", help="Explain each change of the pairing skill by opponent.")
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show how the pairing skill of a bot changed, match by match, the newest first.

    Matchmaking uses the pairing skill, which changes with each match. The rating is estimated from all results
    together: see `ladder rankings`; --json has its history too. With --explain each line names the opponents, and how
    likely that outcome was, ties counted half. Unexpected outcomes change a pairing skill most.

    Example: cutpurse ladder history greed ann/sneak --explain
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    request = ladder_pb2.ListHistoryRequest(
        ladder=ladder,
        bot=bot_name(bot),
        limit=count("--limit", limit),
        before=count("--before", before, 2**63 - 1),
    )
    with asked(server, ca, db) as league:
        told = league.ListHistory(request)
    steps = told.steps
    if as_json:
        ratings = [rating_row(point) for point in told.ratings]
        print_json({"ladder": ladder, "bot": bot, "ratings": ratings, "steps": [step_row(step) for step in steps]})
        return
    if is_explained:
        reasons = [(step.number, short(step.match), printable(step.version, 64), why(step)) for step in steps]
        print_lines(table(("number", "match", "version", "why"), reasons))
        return
    head = ("number", "match", "over", "version", "place", "pairing skill before", "after", "change")
    cells = [
        (
            step.number,
            short(step.match),
            local_time(step.finished_ms),
            printable(step.version, 64),
            step.place,
            interval(step.before),
            interval(step.after),
            f"{step.after.mu - step.before.mu:+.2f}",
        )
        for step in steps
    ]
    print_lines(table(head, cells))


@app.command()
def opponents(
    ladder: Ladder,
    bot: BotName,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show a bot's results against each opponent on a ladder: in how many matches it was ahead, level and behind.

    Example: cutpurse ladder opponents greed ann/sneak
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name, format_bot_name

    with asked(server, ca, db) as league:
        request = ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot_name(bot))
        met = league.ListOpponents(request).opponents
    rows = [
        {
            "owner": one.bot.owner,
            "bot": one.bot.bot,
            "matches": one.matches,
            "ahead": one.ahead,
            "level": one.level,
            "behind": one.matches - one.ahead - one.level,
        }
        for one in met
    ]
    if as_json:
        print_json({"ladder": ladder, "bot": bot, "opponents": rows})
        return
    head = ("opponent", "matches", "ahead", "level", "behind")
    cells = [
        (format_bot_name(one.bot), row["matches"], row["ahead"], row["level"], row["behind"])
        for one, row in zip(met, rows, strict=True)
    ]
    print_lines(table(head, cells))


def kind_shown(number: int) -> str:
    """Return the name of a BoardKind, which may be that of a version test."""
    kinds = (*BOARDS, TEST_BOARDS)
    return kinds[number - 1] if 0 < number <= len(kinds) else kinds[0]


def _range(one: ladder_pb2.Ranking) -> str:
    """Format the range of ranks of a bot; empty if it was not estimated."""
    if not one.best:
        return ""
    return f"{one.best}-{one.worst}" if one.best < one.worst else str(one.best)


def _print_ladder(one: ladder_pb2.LadderShown) -> None:
    """Print a ladder, one fact per line."""
    defined, terms = one.defined, one.defined.terms
    settings = ", ".join(f"{printable(each.name)}={printable(each.value)}" for each in defined.settings)
    lines = [
        ("ladder", printable(defined.name, 64)),
        ("title", printable(terms.title, 80) or "none"),
        ("game", printable(defined.game, 64)),
        ("settings", settings or "defaults"),
        ("seats", str(defined.seats)),
        ("clock", ", ".join(f"{field.name} {value:,}" for field, value in defined.clock.ListFields())),
        ("state", _state(one)),
        ("boards", kind_shown(defined.boards)),
        ("hosted", "workers play the matches" if defined.hosted else "no"),
        ("owners", ", ".join(printable(owner, 64) for owner in terms.owners) or "everybody"),
        ("people", "may play, rated" if terms.people else "no"),
        ("max bots", _limits(terms)),
        ("pause", pause_shown(terms)),
        ("on outage", "a match is void" if terms.voids_outages else "the safe option is played"),
        ("results", f"hidden until {utc_time(one.hidden_until_ms)}" if one.has_hidden_results else "shown"),
        ("names", f"hidden until {utc_time(terms.names_hidden_until_ms)}" if one.has_hidden_names else "shown"),
        ("house bots", ", ".join(printable(bot, 64) for bot in terms.house) or "none"),
        ("matches", f"{one.matches:,}"),
        ("now", f"{format_count(one.bots, 'bot', 'bots')}, {format_count(one.tables, 'table', 'tables')}"),
        ("made", local_time(one.created_ms) or "with the database"),
    ]
    print_lines([f"{name:<10}  {text}" for name, text in lines])


def _limits(terms: ladder_pb2.LadderTerms) -> str:
    of_owner = f", {terms.most_per_owner:,} per owner" if terms.most_per_owner else ""
    return f"{terms.most_bots or 'no limit'}{of_owner}"


def pause_shown(terms: ladder_pb2.LadderTerms) -> str:
    """Describe when a version is paused; older servers do not send it."""
    if not terms.HasField("pause_failed"):
        return "as the server has it"
    if not terms.pause_failed:
        return "never"
    window = format_count(terms.pause_window, "rated match", "rated matches")
    return f"taken over in {terms.pause_failed} of the last {window}"


def ladder_row(one: ladder_pb2.LadderShown) -> dict[str, Any]:
    """Return a ladder for a JSON document."""
    defined, terms = one.defined, one.defined.terms
    return {
        "ladder": defined.name,
        "title": terms.title,
        "game": defined.game,
        "settings": {setting.name: setting.value for setting in defined.settings},
        "seats": defined.seats,
        "clock": {field.name: value for field, value in defined.clock.ListFields()},
        "boards": kind_shown(defined.boards),
        "hosted": defined.hosted,
        "owners": list(terms.owners),
        "max_bots": terms.most_bots,
        "max_per_owner": terms.most_per_owner,
        "pause_failed": terms.pause_failed if terms.HasField("pause_failed") else None,
        "pause_window": terms.pause_window if terms.HasField("pause_window") else None,
        "on_outage": "void" if terms.voids_outages else "play",
        "private": terms.private,
        "results_hidden_until": iso(terms.results_hidden_until_ms),
        "has_hidden_results": one.has_hidden_results,
        "names_hidden_until": iso(terms.names_hidden_until_ms),
        "has_hidden_names": one.has_hidden_names,
        "people": terms.people,
        "frozen": iso(terms.frozen_ms),
        "is_frozen": one.is_frozen,
        "house": list(terms.house),
        "matches": one.matches,
        "bots": one.bots,
        "tables": one.tables,
        "created": iso(one.created_ms),
    }


def _state(one: ladder_pb2.LadderShown) -> str:
    terms = one.defined.terms
    words = ["private"] if terms.private else []
    if one.is_frozen:
        words.append("frozen")
    elif terms.frozen_ms:
        words.append(f"frozen from {local_time(terms.frozen_ms)}")
    if one.has_hidden_results:
        words.append("names and results hidden" if one.has_hidden_names else "results hidden")
    return ", ".join(words) or "open"


def _ranking_state(one: ladder_pb2.Ranking) -> str:
    words = ["person"] if one.bot.person else []
    if not one.place:
        words.append("not placed yet")
    if one.is_paused:
        words.append("paused")
    elif one.is_here:
        words.append("here")
    return ", ".join(words)


def _as_of(state: ladder_pb2.ListRankingsResponse) -> str:
    """Describe which results the ratings include."""
    if not state.estimated:
        return "no bot has a rating yet: a server estimates them from board 10 on, cutpurse db estimate those of a file"
    return (
        f"ratings are from all results up to board {state.estimated:,} of {state.boards:,}; "
        "intervals and ranks hold with a probability of 95 %"
    )


def _ranking_row(one: ladder_pb2.Ranking) -> dict[str, Any]:
    from cutpurse.wire.league import usage_per_match

    tokens, cost_micros = usage_per_match(one) or (None, None)
    is_rated = one.HasField("rating")
    return {
        "place": one.place or None,
        **bot_row(one.bot),
        "rating": one.rating if is_rated else None,
        "low": one.low if is_rated else None,
        "high": one.high if is_rated else None,
        "matches": one.matches,
        "wins": one.wins,
        "faulted": one.faulted,
        "form": list(one.form),
        "is_here": one.is_here,
        "is_paused": one.is_paused,
        "best": one.best or None,
        "worst": one.worst or None,
        "estimated": one.estimated or None,
        "tokens_per_match": tokens,
        "cost_micros_per_match": cost_micros,
    }


def _csv(rows: list[dict[str, Any]], labels: Mapping[str, str] | None) -> str:
    """Write the sheet as CSV by RFC 4180: lines end in CR LF.

    Args:
        rows: The rankings.
        labels: Labels of a class by owner, for an additional column. Its owners without a bot get a row at the end.
    """
    text = io.StringIO()
    lines = csv.DictWriter(text, CSV_COLUMNS if labels is None else (*CSV_COLUMNS, "label"))
    lines.writeheader()
    missing = dict(labels or {})
    for row in rows:
        switches = {key: str(row[key]).lower() for key in ("is_here", "is_paused", "person")}
        label = {} if labels is None else {"label": labels.get(row["owner"], "")}
        lines.writerow({**row, **switches, "form": " ".join(map(str, row["form"])), **label})
        missing.pop(row["owner"], None)
    lines.writerows({"owner": owner, "label": label} for owner, label in missing.items())
    return text.getvalue()
