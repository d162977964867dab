"""Events of a server as rows of a JSON document."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.cli.event_text import lane_of, move_of, phase_of
from cutpurse.cli.league_options import bot_row, iso
from cutpurse.lab.tournament.tournament_file import SERVER_FORMATS as FORMATS
from cutpurse.v1 import event_pb2

__all__ = ["event_row"]

DECIMALS: Final = 6


def event_row(event: event_pb2.EventShown) -> dict[str, Any]:
    """Return an event for a JSON document: what all kinds have, then what its own has."""
    kind = event.WhichOneof("detail")
    rows = {"tournament": _tournament_row, "season": _season_row, "test": _test_row}
    return {
        "event": event.event or None,
        "kind": kind,
        "name": event.name or None,
        "ladder": event.ladder or None,
        "started_by": event.started_by,
        "plan": event.plan,
        "created": iso(event.created_ms),
        "ended": iso(event.ended_ms),
        "outcome": event.outcome or None,
        "waits_for": event.waits_for or None,
        "absent": [{**bot_row(bot.bot), "why": bot.why, "is_left_out": bot.is_left_out} for bot in event.absent],
        **({} if kind is None else rows[kind](event)),
    }


def _tournament_row(event: event_pb2.EventShown) -> dict[str, Any]:
    tournament = event.tournament
    return {
        "format": FORMATS[tournament.format - 1] if 0 < tournament.format <= len(FORMATS) else None,
        "best_of": tournament.best_of,
        "duels_planned": tournament.duels_planned,
        "duels_over": tournament.duels_over,
        "standings": [
            {
                "rank": standing.rank or None,
                **bot_row(standing.bot),
                "seed": standing.seed,
                "duels": standing.duels,
                "won": standing.won,
                "points": standing.points,
                "boards": standing.boards,
                "is_out": standing.is_out,
            }
            for standing in tournament.standings
        ],
        "duels": [
            {
                "lane": lane_of(duel).value,
                "round": duel.round,
                "first": duel.first or None,
                "second": duel.second or None,
                "is_bye": duel.is_bye,
                "points": [duel.first_points, duel.second_points],
                "winner": duel.winner or None,
                "is_over": duel.is_over,
                "boards": [
                    {"match": standing.match or None, "result": standing.result or None} for standing in duel.boards
                ],
            }
            for duel in tournament.duels
        ],
    }


def _season_row(event: event_pb2.EventShown) -> dict[str, Any]:
    season = event.season
    return {
        "game": season.game,
        "season": season.number,
        "newest": season.newest,
        "seasons": season.seasons or None,
        "phase": phase_of(season),
        "began": iso(season.began_ms),
        "ends": iso(season.ends_ms),
        "ends_after_matches": season.matches or None,
        "play_ended": iso(season.ended_ms),
        "next": iso(season.next_ms),
        "final": season.final.event or None,
        "champion": bot_row(season.champion) if season.HasField("champion") else None,
        "divisions": [
            {
                "ladder": division.ladder,
                "size": division.size or None,
                "down": division.down,
                "standings": [
                    {
                        "place": standing.place or None,
                        **bot_row(standing.bot),
                        "rating": standing.rating if standing.HasField("rating") else None,
                        "matches": standing.matches,
                        "move": move_of(standing) or None,
                        "has_left": standing.has_left,
                    }
                    for standing in division.standings
                ],
            }
            for division in season.divisions
        ],
    }


def _test_row(event: event_pb2.EventShown) -> dict[str, Any]:
    test = event.test
    return {
        "new": bot_row(test.new),
        "old": bot_row(test.old),
        "reason": test.reason,
        "boards": test.boards,
        "differing": test.differing,
        "max_boards": test.max_boards,
        "gain": round(test.gain, DECIMALS),
        "interval": [round(test.low, DECIMALS), round(test.high, DECIMALS)],
        "boards_left": test.boards_left or None,
        "left_s": round(test.left_ms / 1_000) or None,
        "taken_over": {"new": test.new_taken_over, "old": test.old_taken_over},
        "opponents": [
            {
                **bot_row(opponent.bot),
                "boards": opponent.boards,
                "new_ahead": round(opponent.new_ahead, DECIMALS),
                "old_ahead": round(opponent.old_ahead, DECIMALS),
                "gain": round(opponent.gain, DECIMALS),
            }
            for opponent in test.opponents
        ],
    }
