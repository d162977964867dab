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
    WithInner,
    bot_row,
    count,
    interval,
    iso,
    ladder_named,
    local_time,
    open_league,
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

OVERALL_MATCHES: Final = 3_000  # newest ones of each ladder
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
    "is_provisional",
    "best",
    "worst",
    "estimated",
    "tokens_per_match",
    "cost_micros_per_match",
    "person",
)


class LadderCommands(LazyGroup):
    """The commands with modules of their own."""

    places: ClassVar[dict[str, str]] = {
        "create": "cutpurse.cli.commands.ladder_admin:create",
        "change": "cutpurse.cli.commands.ladder_admin:change",
        "delete": "cutpurse.cli.commands.ladder_admin:delete",
        "circles": "cutpurse.cli.commands.ladder_circles:circles",
        "pairs": "cutpurse.cli.commands.ladder_pairs:pairs",
    }
    moved: ClassVar[dict[str, str]] = {
        "freeze": "ladder change LADDER --freeze now",
        "unfreeze": "ladder change LADDER --unfreeze",
        "overall": "ladder rankings LADDER... --overall",
        "opponents": "ladder history LADDER BOT --opponents",
    }


app = typer.Typer(
    cls=LadderCommands,
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
    with_inner: WithInner = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the ladders.

    Example: cutpurse ladder list --server https://league.example:7777
    """
    from cutpurse.v1 import ladder_pb2

    with open_league(server, ca, db) as league:
        ladders = league.ListLadders(ladder_pb2.ListLaddersRequest(game=game or "", with_inner=with_inner)).ladders
    if as_json:
        print_json([ladder_row(entry) for entry in ladders])
        return
    head = ("ladder", "game", "seats", "matches", "bots", "tables", "state")
    cells = [
        (
            printable(entry.defined.name, 64),
            printable(entry.defined.game, 64),
            entry.defined.seats,
            entry.matches,
            entry.bots,
            entry.tables,
            _state(entry),
        )
        for entry in ladders
    ]
    print_lines(table(head, cells))


@app.command()
def rankings(
    ladders: Annotated[
        list[str],
        typer.Argument(
            metavar="LADDER...",
            help="Name of the ladder, or of several with --overall; see `cutpurse ladder list`.",
            autocompletion=complete_ladders,
        ),
    ],
    is_overall: Annotated[
        bool, typer.Option("--overall", help="Rank bots over these ladders by one strength each.")
    ] = False,
    matches: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="With --overall: newest rated matches of each ladder to use. [default: 3,000]"
        ),
    ] = None,
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
    placed yet: it has fewer than 4 rated boards. The place of a bot with a wide interval and fewer than 30 boards is
    provisional. form is the places in its last matches, the newest first. tokens and cost per match are what bots with
    a language model report.

    With --class, each row has the label of its owner from the file of `cutpurse token create --from`. Owners without a
    bot on the ladder have a row at the end.

    With --overall, each ladder counts alike, however many matches it has, and all versions of a bot count together. The
    strength is on the scale of Elo: 1500 is the mean, and 400 points are odds of 10 to 1. It is another number than the
    rating on a ladder. A bot that is not on every ladder has no rank. This needs the extra `overall`.

    Example: cutpurse ladder rankings greed --csv > greed.csv

    Example: cutpurse ladder rankings greed szmal --overall

    Example: cutpurse ladder rankings greed --csv --class class.csv > marks.csv
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name, usage_per_match
    from cutpurse.wire.league import rankings as rankings_of
    from cutpurse.wire.usage import format_dollars

    if is_overall:
        if every_version or limit or as_csv or class_file:
            raise UsageError("--overall goes only with --matches and --json")
        from cutpurse.cli.commands.ladder_overall import print_overall

        print_overall(ladders, matches or OVERALL_MATCHES, server, ca, db, as_json)
        return
    if matches is not None:
        raise UsageError("--matches is for --overall")
    if len(ladders) > 1:
        raise UsageError("several ladders are ranked together with --overall; without it, name one")
    (ladder,) = ladders
    if as_csv and as_json:
        raise UsageError("--csv and --json: name one of them")
    if class_file is not None and not as_csv:
        raise UsageError("--class adds labels to the sheet of --csv: name that too")
    labels = None if class_file is None else {line.owner: line.label for line in read_class(class_file)}
    most = count("--limit", limit) or None
    with open_league(server, ca, db) as league:
        rows = rankings_of(league, ladder, every_version, most)
        state = league.ListRankings(ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=1))
    if as_json:
        counts = {"boards": state.boards, "estimated": state.estimated or None, "placed": state.placed}
        print_json({"ladder": ladder, **counts, "rankings": [_ranking_row(ranking) for ranking in rows]})
        return
    if as_csv:
        typer.echo(_csv([_ranking_row(ranking) for ranking in rows], labels), nl=False)
        return
    head: tuple[str, ...] = ("place", "rank", "bot", "rating", "matches", "wins", "faulted", "form", "state")
    used = [usage_per_match(ranking) for ranking in rows]
    if any(used):
        head = (*head[:-1], "tokens/match", "cost/match", head[-1])
    cells = [
        (
            f"{ranking.place or '-':>5}",
            _range(ranking),
            format_bot_name(ranking.bot),
            f"{ranking.rating:.1f} ({ranking.low:.1f} to {ranking.high:.1f})" if ranking.HasField("rating") else "",
            ranking.matches,
            ranking.wins,
            ranking.faulted,
            " ".join(map(str, ranking.form)),
            *(() if not any(used) else ("", "") if mine is None else (f"{mine[0]:,}", format_dollars(mine[1]))),
            _ranking_state(ranking),
        )
        for ranking, mine in zip(rows, used, strict=True)
    ]
    top, *lines = table(head, cells)
    print_lines(
        [
            top,
            *[paint(line, "leader") if ranking.place == 1 else line for line, ranking in zip(lines, rows, strict=True)],
        ]
    )
    print_message(_as_of(state))


@app.command()
def show(
    ladder: Ladder, server: Server = None, ca: Authority = None, db: Database = None, as_json: AsJson = False
) -> None:
    """Show a ladder: its game, settings, clock and terms.

    Example: cutpurse ladder show greed
    """
    with open_league(server, ca, db) as league:
        entry = ladder_named(league, ladder)
    if as_json:
        print_json(ladder_row(entry))
    else:
        _print_ladder(entry)


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
    of_opponents: Annotated[
        bool, typer.Option("--opponents", help="Show instead how often the bot was ahead of each opponent.")
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

    With --opponents, there is a line for each opponent: in how many matches the bot was ahead, level and behind.

    Example: cutpurse ladder history greed ann/sneak --explain
    """
    if of_opponents:
        if limit is not None or before is not None or is_explained:
            raise UsageError("--opponents counts all matches: leave out --limit, --before and --explain")
        _print_opponents(ladder, bot, server, ca, db, as_json)
        return
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    request = ladder_pb2.ListHistoryRequest(
        ladder=ladder,
        bot=bot_name(bot),
        limit=count("--limit", limit),
        before=count("--before", before, 2**63 - 1),
    )
    with open_league(server, ca, db) as league:
        answer = league.ListHistory(request)
    steps = answer.steps
    if as_json:
        ratings = [rating_row(point) for point in answer.ratings]
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


def _print_opponents(ladder: str, bot: str, server: str | None, ca: Path | None, db: str | None, as_json: bool) -> None:
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name, format_bot_name

    with open_league(server, ca, db) as league:
        request = ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot_name(bot))
        met = league.ListOpponents(request).opponents
    rows = [
        {
            "owner": opponent.bot.owner,
            "bot": opponent.bot.bot,
            "matches": opponent.matches,
            "ahead": opponent.ahead,
            "level": opponent.level,
            "behind": opponent.matches - opponent.ahead - opponent.level,
        }
        for opponent in met
    ]
    if as_json:
        print_json({"ladder": ladder, "bot": bot, "opponents": rows})
        return
    head = ("opponent", "matches", "ahead", "level", "behind")
    cells = [
        (format_bot_name(opponent.bot), row["matches"], row["ahead"], row["level"], row["behind"])
        for opponent, row in zip(met, rows, strict=True)
    ]
    print_lines(table(head, cells))


def kind_shown(number: int) -> str:
    """Return the name of a BoardKind, which may be that of a version test."""
    kinds = (*BOARDS, TEST_BOARDS)
    return kinds[number - 1] if 0 < number <= len(kinds) else kinds[0]


def _range(ranking: ladder_pb2.Ranking) -> str:
    """Format the range of ranks of a bot; empty if it was not estimated."""
    if not ranking.best:
        return ""
    return f"{ranking.best}-{ranking.worst}" if ranking.best < ranking.worst else str(ranking.best)


def _print_ladder(entry: ladder_pb2.LadderShown) -> None:
    """Print a ladder, one fact per line."""
    defined, terms = entry.defined, entry.defined.terms
    settings = ", ".join(f"{printable(each.name)}={printable(each.value)}" for each in defined.settings)
    lines = [
        ("ladder", printable(defined.name, 64)),
        ("title", printable(terms.title, 80) or "none"),
        ("game", printable(defined.game, 64)),
        ("settings", settings or "defaults"),
        ("seats", str(defined.seats)),
        ("clock", ", ".join(f"{field.name} {value:,}" for field, value in defined.clock.ListFields())),
        ("state", _state(entry)),
        ("boards", kind_shown(defined.boards)),
        ("hosted", "workers play the matches" if defined.hosted else "no"),
        ("owners", ", ".join(printable(owner, 64) for owner in terms.owners) or "everybody"),
        ("people", "may play, rated" if terms.people else "no"),
        ("max bots", _limits(terms)),
        ("pause", pause_shown(terms)),
        ("on outage", "a match is void" if terms.voids_outages else "the safe option is played"),
        ("results", f"hidden until {utc_time(entry.hidden_until_ms)}" if entry.has_hidden_results else "shown"),
        ("names", f"hidden until {utc_time(terms.names_hidden_until_ms)}" if entry.has_hidden_names else "shown"),
        ("memory", f"{terms.memory_kib:,} KiB for each submitted bot" if terms.memory_kib else "none"),
        ("replays", f"hidden until {utc_time(terms.replays_hidden_until_ms)}" if entry.has_hidden_replays else "shown"),
        ("house bots", ", ".join(printable(bot, 64) for bot in terms.house) or "none"),
        ("matches", f"{entry.matches:,}"),
        ("now", f"{format_count(entry.bots, 'bot', 'bots')}, {format_count(entry.tables, 'table', 'tables')}"),
        ("made", local_time(entry.created_ms) or "with the database"),
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


def ladder_row(entry: ladder_pb2.LadderShown) -> dict[str, Any]:
    """Return a ladder for a JSON document."""
    defined, terms = entry.defined, entry.defined.terms
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
        "has_hidden_results": entry.has_hidden_results,
        "names_hidden_until": iso(terms.names_hidden_until_ms),
        "has_hidden_names": entry.has_hidden_names,
        "replays_hidden_until": iso(terms.replays_hidden_until_ms),
        "has_hidden_replays": entry.has_hidden_replays,
        "people": terms.people,
        "memory_kib": terms.memory_kib,
        "is_inner": entry.is_inner,
        "frozen": iso(terms.frozen_ms),
        "is_frozen": entry.is_frozen,
        "house": list(terms.house),
        "matches": entry.matches,
        "bots": entry.bots,
        "tables": entry.tables,
        "created": iso(entry.created_ms),
    }


def _state(entry: ladder_pb2.LadderShown) -> str:
    terms = entry.defined.terms
    words = ["inner"] if entry.is_inner else ["private"] if terms.private else []
    if entry.is_frozen:
        words.append("frozen")
    elif terms.frozen_ms:
        words.append(f"frozen from {local_time(terms.frozen_ms)}")
    if entry.has_hidden_results:
        words.append("names and results hidden" if entry.has_hidden_names else "results hidden")
    return ", ".join(words) or "open"


def _ranking_state(ranking: ladder_pb2.Ranking) -> str:
    words = ["person"] if ranking.bot.person else []
    if not ranking.place:
        words.append("not placed yet")
    elif ranking.is_provisional:
        words.append("provisional")
    if ranking.is_paused:
        words.append("paused")
    elif ranking.is_here:
        words.append("here")
    return ", ".join(words)


def _as_of(state: ladder_pb2.ListRankingsResponse) -> str:
    """Describe which results the ratings include."""
    if not state.estimated:
        return (
            f"no bot has a rating yet ({format_count(state.boards, 'board', 'boards')} so far): a server computes "
            "ratings from board 10 on, half a minute later at most; "
            "for a database without a server: cutpurse db estimate"
        )
    return (
        f"ratings are from all results up to board {state.estimated:,} of {state.boards:,}; "
        "intervals and ranks hold with a probability of 95 %"
    )


def _ranking_row(ranking: ladder_pb2.Ranking) -> dict[str, Any]:
    from cutpurse.wire.league import usage_per_match

    tokens, cost_micros = usage_per_match(ranking) or (None, None)
    is_rated = ranking.HasField("rating")
    return {
        "place": ranking.place or None,
        **bot_row(ranking.bot),
        "rating": ranking.rating if is_rated else None,
        "low": ranking.low if is_rated else None,
        "high": ranking.high if is_rated else None,
        "matches": ranking.matches,
        "wins": ranking.wins,
        "faulted": ranking.faulted,
        "form": list(ranking.form),
        "is_here": ranking.is_here,
        "is_paused": ranking.is_paused,
        "is_provisional": ranking.is_provisional,
        "best": ranking.best or None,
        "worst": ranking.worst or None,
        "estimated": ranking.estimated or None,
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
        switches = {key: str(row[key]).lower() for key in ("is_here", "is_paused", "is_provisional", "person")}
        label = {} if labels is None else {"label": labels.get(row["owner"], "")}
        lines.writerow({**row, **switches, "form": " ".join(map(str, row["form"])), **label})
        missing.pop(row["owner"], None)
    lines.writerows({"owner": owner, "label": label} for owner, label in missing.items())
    return text.getvalue()
