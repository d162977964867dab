"""Messages and time limits of a match that is played locally, without ladder, commitment and pairing."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import CORRECTIONS, FAULTS, MatchResult
from cutpurse.games import game_named
from cutpurse.v1 import arena_pb2
from cutpurse.wire.catalogue import catalogue_of, settings_on_the_wire

__all__ = ["CONTROL", "DIAL_IN_S", "match_ended", "match_started", "when_asked_too_long_s"]

DIAL_IN_S: Final = 10.0  # seconds for a program to connect
CONTROL: Final = TimeControl()  # limit for a decision: the most that a server with the default clock could give


def when_asked_too_long_s() -> float:
    """Return the seconds after which a decision is given up."""
    return (CONTROL.base_ms + CONTROL.bank_ms + CONTROL.grace_ms) / 1000


def match_started(
    game: str, settings: Any, names: tuple[str, ...], seat: int, match: str, control: TimeControl = CONTROL
) -> arena_pb2.MatchStarted:
    """Return the MatchStarted of a local match. It has no ladder, and no commitment since the user chose the seed."""
    rules = game_named(game)
    return arena_pb2.MatchStarted(
        match=match,
        board=match,
        game=game,
        rules_version=rules.words.version,
        catalogue_digest=catalogue_of(rules, len(names), settings.changed()).digest,
        settings=settings_on_the_wire(settings),
        seat=seat,
        seats=[arena_pb2.SeatTaken(bot=name, version="1") for name in names],
        clock=arena_pb2.Clock(
            base_ms=control.base_ms,
            bank_ms=control.bank_ms,
            grace_ms=control.grace_ms,
            corrections=CORRECTIONS,
            max_faults=FAULTS,
            poll_floor_ms=control.poll_floor_ms,
            handover_ms=control.handover_ms,
        ),
    )


def match_ended(table: int, result: MatchResult, first_event: int, events: bytes = b"") -> bytes:
    """Encode the body of MatchEnded; `events` is its encoded field."""
    ended = arena_pb2.MatchEnded(table=table, first_event=first_event, voided=result.voided)
    for seat, cause in enumerate(result.end_causes):
        ended.seats.append(
            arena_pb2.SeatOutcome(
                place=0 if result.voided else result.places[seat],
                score=0 if result.voided else result.scores[seat],
                end_cause=arena_pb2.EndCause.Value(f"END_CAUSE_{cause.name}"),
            )
        )
    return ended.SerializeToString() + events
