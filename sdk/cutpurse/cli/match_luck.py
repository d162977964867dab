"""What the cards gave each seat of a recorded match, and when, for `cutpurse match replay --luck`."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.cli.progress import Progress
from cutpurse.engine.record import Record
from cutpurse.engine.record import replay as replay_record
from cutpurse.engine.text import option_text
from cutpurse.games import game_named
from cutpurse.lab.luck import LuckEvent, luckiest, total_luck
from cutpurse.lab.match_luck import events_of_one_match
from cutpurse.lab.position_values import check_has_value
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.process.terminal import print_json, print_lines, table
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import printable

__all__ = ["show_luck"]

MOST: Final = 3  # events shown for each seat


def show_luck(record: Record, which: str, as_json: bool) -> None:
    """Print how many place points the cards gave each seat of a match, and which draws gave most.

    Errors name the match as `which`.

    Raises:
        UsageError: If the game has no value function.
        NotFound: If the match has no places.
    """
    rules = game_named(record.game)
    check_has_value(rules)
    if not record.result["places"] or not record.choices:
        raise NotFound(f"{which} has no places, so luck has changed none")
    with Progress("choices") as progress:
        events = events_of_one_match(record, progress)
    places, seats = record.result["places"], len(record.seats)
    points, lucks = place_points(places), total_luck(events, seats)
    texts = _texts(record)
    gifts = [[(event, _describe(event, texts)) for event in luckiest(events, seat, MOST)] for seat in range(seats)]
    if as_json:
        rows_of_seats = [
            {
                "seat": seat,
                "bot": name,
                "place": places[seat],
                "points": points[seat],
                "luck": lucks[seat],
                "luckiest": [
                    {"at": event.choices, "luck": event.luck[seat], "text": text} for event, text in gifts[seat]
                ],
            }
            for seat, name in enumerate(record.seats)
        ]
        print_json({"game": record.game, "seats": rows_of_seats})
        return
    rows: list[tuple[Any, ...]] = []
    for seat, name in enumerate(record.seats):
        row = (places[seat], points[seat], _signed(lucks[seat]), points[seat] - lucks[seat])
        rows.append((seat, printable(name), *row))
    print_lines(table(("seat", "bot", "place", "points", "luck", "without luck"), rows))
    for seat, name in enumerate(record.seats):
        for event, text in gifts[seat]:
            print_lines([f"{_signed(event.luck[seat])} for seat {seat} ({printable(name)}): {text}"])


def _signed(luck: float) -> str:
    """Format luck, without a minus before zero."""
    return f"{round(luck, 2) + 0.0:+.2f}"


def _texts(record: Record) -> dict[tuple[int, int], str]:
    """Return the text of each choice, by its number in the record and its seat."""
    texts = {}
    for match, open_decision, chosen in replay_record(record, game_named(record.game)):
        texts[len(match.choices), open_decision.seat] = option_text(match.game, chosen.option)
    return texts


def _describe(event: LuckEvent, texts: dict[tuple[int, int], str]) -> str:
    """Say what happened before the cards fell."""
    if event.seat is None:
        return "the deal"
    # Where several seats answer at once, the event counts from the first answer, and its seat is that of the last one.
    for number in range(event.choices, event.choices + len(event.luck)):
        if (number, event.seat) in texts:
            return f"decision {number}, seat {event.seat}: {texts[number, event.seat]}"
    return f"after decision {event.choices - 1}, a move of seat {event.seat} without a choice"
