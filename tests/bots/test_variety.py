"""Four `greedy` play the whole of every game: each kind of card and each verb occurs, but for exceptions."""

from __future__ import annotations

import json
from typing import Final

import pytest

from cutpurse.engine.events import Happened
from cutpurse.engine.match import Match
from cutpurse.engine.record import write_record
from cutpurse.games import GAMES
from cutpurse.sdk.local import play

pytestmark = pytest.mark.full

MATCHES: Final = 50
NEVER: Final[dict[str, dict[str, str]]] = {
    "greed": {"raid_pile": "it raids players, who hold more than a pile shows", "crook": "no act names it"},
    "steal_and_plunder": {},
    "stolen_treasure": {
        "befall": "a question is about it",
        "match": "a question is about it",
        "end_turn": "some action always gains",
        **dict.fromkeys(("roll", "rock", "paper", "scissors"), "other ways to wager are settings"),
    },
    "szmal": {"resolve": "a question is about it", "set_up": "a question is about it"},
    "bag_o_loot": {
        **dict.fromkeys(("ditch", "challenge", "take_sets", "bluff", "genuine"), "only in advanced play"),
        "pinch": "a set with a looter is bagged in the same turn",
        "stalemate": "somebody lays a card before",
    },
    "bag_o_loot, advanced": {
        **dict.fromkeys(("pinch", "snitch", "no_match"), "only in the standard game"),
        "stalemate": "somebody lays a card before",
    },
}
"""By game, the verbs and cards that do not occur, and why."""


def occurring(game: str, settings: dict[str, object]) -> set[str]:
    """Return the names of all verbs and cards that were chosen or happened in matches of four `greedy`."""
    words, names = GAMES[game].words, set[str]()

    def note(match: Match) -> None:
        if match.game.waiting():
            return
        for _, verb, details in json.loads(write_record(match))["choices"]:
            names.update([verb, *details.get("cards", ())])
        for event in match.game.log or ():
            if isinstance(event, Happened):
                names.add(words.verbs[event.act.verb - 1].name)
                names.update([words.cards[card - 1].name for card in event.act.cards if card > 0])

    play(game, ["greedy"] * 4, matches=MATCHES, settings=settings, watch=note)
    return names


@pytest.mark.parametrize("table", NEVER)
def test_every_card_and_verb_of_a_game_occurs_among_greedy(table: str) -> None:
    game, _, variant = table.partition(", ")
    words = GAMES[game].words
    every = {card.name for card in words.cards} | {verb.name for verb in words.verbs[1:]}  # a pass is in no record
    assert every - occurring(game, {variant: True} if variant else {}) == set(NEVER[table])
    assert {name.partition(", ")[0] for name in NEVER} == set(GAMES)
