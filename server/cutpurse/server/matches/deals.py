"""The deal of a match: its seed, what is settled before it is used, and the promise about both.

A fresh seed has a fresh board, which the parameters name: no two matches have the same cards, and nobody can foresee
them. A seed that somebody chose for his match has the board that follows from it, so that the same request (ladder,
bots, seats) deals the same cards again; that the seed was chosen, anyone can see. Both are committed to alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from cutpurse.engine.commitment import SEED_BYTES, chosen_board, commitment
from cutpurse.server.finished_match import Deal, Identity
from cutpurse.server.ladder_config import Ladder

__all__ = ["dealt", "dealt_for_all"]


def dealt(
    ladder: Ladder,
    match: str,
    seats: Sequence[Identity],
    entropy: Callable[[int], bytes],
    chosen_seed: bytes | None = None,
) -> Deal:
    """Make a deal from a fresh seed, or the chosen one, with its commitment."""
    board = entropy(16).hex() if chosen_seed is None else chosen_board(chosen_seed)
    settled = {
        "board": board,
        "game": ladder.game,
        "rules": ladder.rules.words.version,
        "seats": [identity._asdict() for identity in seats],
        "settings": dict(ladder.settings),
    }
    params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
    seed = entropy(SEED_BYTES) if chosen_seed is None else chosen_seed
    return Deal(board, params, seed, commitment(seed, params), "" if chosen_seed is None else match)


def dealt_for_all(ladder: Ladder, matches: Mapping[str, Sequence[Identity]], entropy: Callable[[int], bytes]) -> Deal:
    """Make the deal of a board of several matches, with the seats of each: the cards are the same in all."""
    board = entropy(16).hex()
    settled = {
        "board": board,
        "boards": ladder.boards,
        "game": ladder.game,
        "rules": ladder.rules.words.version,
        "settings": dict(ladder.settings),
        "tables": [
            {"match": match, "seats": [identity._asdict() for identity in seats]} for match, seats in matches.items()
        ],
    }
    params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
    seed = entropy(SEED_BYTES)
    return Deal(board, params, seed, commitment(seed, params))
