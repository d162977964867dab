"""A person who plays: sees what the seat sees, and answers by number, counted from 0 as a bot does.

This module knows no game. It reads and writes lines of text.
"""

from __future__ import annotations

from typing import Any, TextIO

from cutpurse.engine.match import MatchResult
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.card_text import cards_in_view, describe_card, find_cards
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.text_view import event_lines, render_table

__all__ = ["Human"]


class Human:
    """A bot that asks a person. `q` or the end of the input raises KeyboardInterrupt, which ends the run.

    `?` describes the cards in view, `? NAME` one card of the game.
    """

    def __init__(self, answers: TextIO, out: TextIO) -> None:
        self.answers = answers
        self.out = out

    def start(self, match: MatchInfo) -> None:
        """Print the person's seat."""
        self.names = match.seats
        self._write([f"You sit in seat {match.seat} of {len(match.seats)}."])

    def choose(self, view: Any, decision: Decision) -> int:
        """Print the events, the table and the options, and read a number."""
        offered = [f"{option.index:>4}  {option.text}" for option in decision.options]
        question = f"{decision.text or decision.ask} ({decision.rule})"
        self._write(["", *event_lines(view), "", *render_table(view, self.names), "", question, *offered])
        while True:
            self.out.write(f"0 to {decision.count - 1}, ? or ? NAME for what cards do, or q to quit: ")
            self.out.flush()
            line = self.answers.readline()
            answer = line.strip()
            if not line or answer.lower() == "q":
                self._write([""])
                raise KeyboardInterrupt
            if answer.isascii() and answer.isdigit() and int(answer[:9]) < decision.count:
                return int(answer)
            if answer.startswith("?"):
                self._write(_card_lines(view, decision, answer[1:].strip()))
            else:
                self._write([f"{answer!r} is none of them."])

    def end(self, result: MatchResult) -> None:
        """Print the result."""
        ends = [
            f"seat {seat} ({name}): place {place}, score {score:,}"
            for seat, (name, place, score) in enumerate(zip(self.names, result.places, result.scores, strict=True))
        ]
        self._write(["", "The match is over.", *ends])

    def _write(self, lines: list[str]) -> None:
        self.out.write("\n".join(lines) + "\n")


def _card_lines(view: Any, decision: Decision, name: str) -> list[str]:
    """Describe the card with this name, or all cards in view if the name is empty."""
    if not name:
        numbers = cards_in_view(view, decision)
        return [line for number in numbers for line in describe_card(view, number)] or ["No card is in view."]
    numbers, problem = find_cards(view, name)
    return [problem] if problem else [line for number in numbers for line in describe_card(view, number)]
