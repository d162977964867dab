"""Events of a server as text; each kind has its own tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.cli.duel_text import round_name
from cutpurse.cli.league_options import local_time
from cutpurse.lab.tournament.tournament_file import SERVER_FORMATS as FORMATS
from cutpurse.leaderboard.formats.brackets import DOUBLE_ELIMINATION, Lane
from cutpurse.process.terminal import paint, table
from cutpurse.v1 import event_pb2
from cutpurse.wire.league import format_absent, format_bot_name
from cutpurse.wire.text import format_count, printable

__all__ = ["absent_lines", "event_lines", "lane_of", "list_line", "move_of", "phase_of", "plan_lines", "progress"]

PHASES: Final = ("plan", "playing", "ending", "final", "break", "over", "stopped")  # by number of the enum
MOVES: Final = ("", "stays", "up", "down", "leaves")
STYLE: Final = {"better": "good", "not better": "bad"}


def list_line(event: event_pb2.EventShown) -> tuple[object, ...]:
    """Return the cells of an event in a list: ID, kind, what it is, ladder, start, progress and state."""
    kind = event.WhichOneof("detail") or "unknown"
    season = event.season
    of = f" of {season.seasons}" if season.seasons else ""
    what = {
        "tournament": f"{_format(event)}, {format_count(len(event.tournament.standings), 'bot')}",
        "season": f"{printable(event.name, 64)}, {printable(season.game, 64)}, season {season.number}{of}",
        "test": f"{format_bot_name(event.test.new)} against {format_bot_name(event.test.old)}",
    }
    return (
        printable(event.event, 64),
        kind,
        what.get(kind, ""),
        printable(event.ladder, 64) or "-",
        local_time(event.created_ms),
        progress(event),
        printable(event.outcome, 40) or "goes on",
    )


def progress(event: event_pb2.EventShown) -> str:
    """Describe how far an event is, in one line."""
    match event.WhichOneof("detail"):
        case "tournament":
            tournament = event.tournament
            return f"{tournament.duels_over} of {format_count(tournament.duels_planned, 'duel')}"
        case "season":
            return phase_of(event.season)
        case "test":
            return _test_progress(event.test)
    return ""


def plan_lines(event: event_pb2.EventShown) -> list[str]:
    """Describe the plan of an event, in lines."""
    match event.WhichOneof("detail"):
        case "tournament":
            lines = _tournament_plan(event)
        case "season":
            lines = _season_plan(event)
        case _:
            boards = format_count(event.test.max_boards, "board")
            lines = [f"{_test_title(event)}, at most {boards}"]
    return [*lines, *absent_lines(event)]


def event_lines(event: event_pb2.EventShown) -> list[str]:
    """Describe an event as it is now, in lines."""
    match event.WhichOneof("detail"):
        case "tournament":
            lines = _tournament_lines(event)
        case "season":
            lines = _season_lines(event)
        case _:
            lines = _test_lines(event)
    return [*lines, f"it waits: {printable(event.waits_for, 500)}"] if event.waits_for else lines


def absent_lines(event: event_pb2.EventShown) -> list[str]:
    """Describe which bots the plan of an event left out, and which of its own cannot play now."""
    bots = {
        "tournament": len(event.tournament.standings),
        "season": sum(len(division.standings) for division in event.season.divisions),
    }.get(event.WhichOneof("detail") or "", 2)
    left_out = [f"{format_bot_name(bot.bot)} {printable(bot.why, 100)}" for bot in event.absent if bot.is_left_out]
    away = [bot for bot in event.absent if not bot.is_left_out]
    return [*([", ".join(left_out)] if left_out else []), *([format_absent(away, bots)] if away else [])]


# -- tournaments
def _format(event: event_pb2.EventShown) -> str:
    name = FORMATS[event.tournament.format - 1] if 0 < event.tournament.format <= len(FORMATS) else "unknown"
    return f"{name.replace('_', ' ')}, best of {event.tournament.best_of}"


def _tournament_plan(event: event_pb2.EventShown) -> list[str]:
    names = _names(event.tournament.standings)
    duels = format_count(event.tournament.duels_planned, "duel", "duels")
    has_reset = event.tournament.format == FORMATS.index(DOUBLE_ELIMINATION) + 1
    reset = ", and a reset duel if the grand final is won from the losers' bracket" if has_reset else ""
    bots = format_count(len(names), "bot", "bots")
    return [
        f"{_format(event)}, on {printable(event.ladder, 64)}: {bots}, {duels}{reset}",
        f"by seed: {', '.join(names[seed] for seed in sorted(names))}",
    ]


def _names(standings: Sequence[event_pb2.TournamentStanding]) -> dict[int, str]:
    return {standing.seed: format_bot_name(standing.bot) for standing in standings}


def _tournament_lines(event: event_pb2.EventShown) -> list[str]:
    tournament = event.tournament
    names = _names(tournament.standings)
    cells = [
        (
            standing.rank or "-",
            names[standing.seed],
            standing.seed,
            f"{standing.won:g} of {standing.duels}",
            f"{standing.points:g} of {standing.boards}",
            "out" if standing.is_out else "",
        )
        for standing in tournament.standings
    ]
    top, *rows = table(("rank", "bot", "seed", "duels won", "points", "state"), cells)
    lines = [
        top,
        *[
            paint(line, "leader") if standing.rank == 1 else line
            for line, standing in zip(rows, tournament.standings, strict=True)
        ],
    ]
    lines += [
        "",
        *[_duel_line(duel, names) for duel in tournament.duels if duel.first and (duel.second or duel.is_bye)],
        "",
    ]
    state = printable(event.outcome, 40) or "played"
    lines.append(
        f"{_format(event)}, on {printable(event.ladder, 64)}: {state}, "
        f"{tournament.duels_over} of {format_count(tournament.duels_planned, 'duel')}"
    )
    if event.ended_ms and not any(standing.rank for standing in tournament.standings):
        lines.append("no bot won: no match was played")
    return lines


def _duel_line(duel: event_pb2.TournamentDuel, names: dict[int, str]) -> str:
    first, second = names.get(duel.first, "?"), names.get(duel.second, "?")
    in_round = round_name(lane_of(duel), duel.round)
    if duel.is_bye:
        return f"{in_round}: {first} has a bye"
    away = sum(bool(board.result) and not board.match for board in duel.boards)
    lost = f", {format_count(away, 'board', 'boards')} lost by absence" if away else ""
    state = "" if duel.is_over else ", open"
    return f"{in_round}: {first} {duel.first_points:g}, {second} {duel.second_points:g}{lost}{state}"


def lane_of(duel: event_pb2.TournamentDuel) -> Lane:
    """Return the lane of a duel; the main one for any that this version does not know."""
    lanes = tuple(Lane)
    return lanes[duel.lane - 1] if 0 < duel.lane <= len(lanes) else Lane.MAIN


# -- seasons
def phase_of(season: event_pb2.SeasonShown) -> str:
    """Return the name of the phase of a season."""
    return PHASES[season.phase] if season.phase < len(PHASES) else "unknown"


def move_of(standing: event_pb2.SeasonStanding) -> str:
    """Return what becomes of a bot in the next season."""
    return MOVES[standing.move] if standing.move < len(MOVES) else "unknown"


def _season_title(event: event_pb2.EventShown) -> str:
    season = event.season
    seasons = f"{season.seasons}" if season.seasons else "an open number"
    return f"season {season.number} of {seasons}: {printable(event.name, 64)}, {printable(season.game, 64)}"


def _end(season: event_pb2.SeasonShown) -> str:
    ends = [f"after {format_count(season.matches, 'match', 'matches')} of each bot"] if season.matches else []
    if season.ends_ms:
        ends.append(f"at {local_time(season.ends_ms)}")
    elif season.lasts_ms:
        ends.append(f"after {_exact_duration(season.lasts_ms)}")
    return " or ".join(ends)


def _exact_duration(ms: int) -> str:
    for unit, unit_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        if ms % unit_ms == 0:
            return f"{ms // unit_ms}{unit}"
    return f"{ms / 1_000:g}s"


def _final(season: event_pb2.SeasonShown) -> list[str]:
    return [f"final: the best {season.final_top}, best of {season.final_best_of}"] if season.final_top else []


def _season_plan(event: event_pb2.EventShown) -> list[str]:
    season = event.season
    lines = [_season_title(event)]
    for number, division in enumerate(season.divisions, 1):
        size = (
            f"at most {format_count(division.size, 'bot')}, {_goes(division.down)}"
            if division.size
            else "all other bots"
        )
        names = ", ".join(format_bot_name(standing.bot) for standing in division.standings) or "no bot yet"
        lines.append(f"division {number}, ladder {printable(division.ladder, 64)}: {size}: {names}")
    return [*lines, f"it ends {_end(season)}", *_final(season)]


def _goes(down: int) -> str:
    return f"{down} goes down" if down == 1 else f"{down} go down"


def _season_lines(event: event_pb2.EventShown) -> list[str]:
    season, lines = event.season, []
    for number, division in enumerate(season.divisions, 1):
        lines.append(f"division {number}, ladder {printable(division.ladder, 64)}")
        cells = [
            (
                standing.place or "-",
                format_bot_name(standing.bot),
                f"{standing.rating:.2f}" if standing.HasField("rating") else "-",
                standing.matches,
                "has left" if standing.has_left and standing.move != MOVES.index("leaves") else move_of(standing),
            )
            for standing in division.standings
        ]
        top, *rows = table(("place", "bot", "rating", "matches", "next season"), cells)
        lines += [top, *[paint(row, "leader") if not at else row for at, row in enumerate(rows)], ""]
    lines.append(f"{_season_title(event)}: {phase_of(season)}")
    if not season.ended_ms and (end := _end(season)):
        lines.append(f"it ends {end}")
    lines += _final(season)
    if season.HasField("final"):
        state = printable(season.final.outcome, 40) or "played"
        lines[-1] += f": {state}; cutpurse event show {printable(season.final.event, 64)}"
    if season.HasField("champion"):
        lines.append(f"champion: {format_bot_name(season.champion)}")
    elif phase_of(season) in ("break", "over"):
        lines.append("no champion: no match of the first division was played")
    if season.next_ms:
        lines.append(f"the next season begins at {local_time(season.next_ms)}")
    return lines


# -- version tests
def _test_title(event: event_pb2.EventShown) -> str:
    test = event.test
    return f"test on {printable(event.ladder, 64)}: {format_bot_name(test.new)} against {format_bot_name(test.old)}"


def _test_progress(test: event_pb2.VersionTestShown) -> str:
    boards = f"{test.boards:,} of at most {format_count(test.max_boards, 'board', 'boards')}"
    if not test.boards:
        return boards
    gain = f"gain {test.gain:+.3f}, between {test.low:+.3f} and {test.high:+.3f}"
    left = f"; about {format_count(test.boards_left, 'board', 'boards')} left" if test.boards_left else ""
    minutes = f", {_duration(test.left_ms)}" if test.left_ms else ""
    return f"{boards}; {gain}{left}{minutes}"


def _duration(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"


def _test_lines(event: event_pb2.EventShown) -> list[str]:
    test, lines = event.test, [_test_title(event)]
    reason = printable(test.reason, 400)
    lines.append(paint(reason, STYLE.get(event.outcome, "open")))
    if not event.ended_ms:
        lines.append(_test_progress(test))
    for bot, boards in ((test.new, test.new_taken_over), (test.old, test.old_taken_over)):
        if boards:
            what = f"was taken over on {format_count(boards, 'board', 'boards')}, and came last there"
            lines.append(paint(f"{format_bot_name(bot)} {what}", "bad"))
    if test.opponents:
        rows = [
            (
                format_bot_name(opponent.bot),
                f"{opponent.boards:,}",
                f"{100 * opponent.new_ahead:.0f} %",
                f"{100 * opponent.old_ahead:.0f} %",
                f"{opponent.gain:+.3f}",
            )
            for opponent in test.opponents
        ]
        lines += ["", *table(("opponent", "boards", "new ahead", "old ahead", "gain"), rows)]
    return lines
