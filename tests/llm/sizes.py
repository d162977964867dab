"""The size of what a model reads, in matches of four `greedy`."""

from __future__ import annotations

from typing import Any

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.llm.decision_text import decision_text, rules_text
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.local import play

__all__ = ["text_sizes"]

MATCHES = 5


def text_sizes(game: str) -> dict[str, int]:
    """Return the characters of rules and decisions, and the decisions of a seat, by the title of the page."""
    sizes: list[int] = []

    class Read(GreedyBot):
        """A `greedy` that adds the size of each decision's text."""

        reads_events = True

        def start(self, match: MatchInfo) -> None:
            self.names = match.seats

        def choose(self, view: Any, decision: Decision) -> Option:
            sizes.append(len(decision_text(view, decision, self.names)))
            return super().choose(view, decision)

    play(game, [Read, "greedy", "greedy", "greedy"], matches=MATCHES, seed=1)
    return {
        "rules": len(rules_text(game)),
        "a decision, mean": round(sum(sizes) / len(sizes)),
        "a decision, most": max(sizes),
        "decisions of a seat": round(len(sizes) / MATCHES),
    }
