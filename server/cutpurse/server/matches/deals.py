"""The deal of a match: its seed, the parameters settled before the seed is used, and the commitment to both.

A fresh seed gets a fresh board, named in the parameters, so no two matches have the same cards and none can be
predicted. A chosen seed gets a board derived from it, so the same request (ladder, bots, seats) deals the same cards
again. Anyone can see that a seed was chosen. The store's ID of such a board is that of its match, since IDs are unique.
Both kinds are committed to in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from cutpurse.engine.commitment import SEED_BYTES, chosen_board, commitment
from cutpurse.leaderboard.results import Deal, Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.start_position import StartPosition
from cutpurse.v1 import arena_pb2
from cutpurse.wire.hidden_names import hidden_bot

__all__ = ["dealt", "dealt_for_all", "opening_to_proto"]


def dealt(
    ladder: Ladder,
    match: str,
    seats: Sequence[Identity],
    entropy: Callable[[int], bytes],
    chosen_seed: bytes | None = None,
    position: StartPosition | None = None,
    *,
    hides_names: bool = False,
) -> Deal:
    """Make a deal from a fresh seed, or from the chosen one, with its commitment.

    The parameters name the position of a match that is played on from one, and its bots, unless names are hidden.
    """
    board = entropy(16).hex() if chosen_seed is None else chosen_board(chosen_seed)
    settled = {
        "board": board,
        "game": ladder.game,
        "rules": ladder.rules.words.version,
        "seats": _settled_seats([seats], hides_names)[0],
        "settings": dict(ladder.settings),
    }
    if position is not None:
        settled["position"] = position.params
    params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
    seed = entropy(SEED_BYTES) if chosen_seed is None else chosen_seed
    return Deal(board if chosen_seed is None else match, commitment(seed, params), seed, params)


def dealt_for_all(
    ladder: Ladder,
    matches: Mapping[str, Sequence[Identity]],
    entropy: Callable[[int], bytes],
    kind: str = "",
    *,
    hides_names: bool = False,
) -> Deal:
    """Make one deal for all matches of a board, committed to the seats of each.

    Args:
        ladder: Its ladder.
        matches: Bots by seat of each match.
        entropy: Returns that number of unpredictable bytes.
        kind: Kind of the board. Default: that of the boards of the ladder.
        hides_names: Whether the parameters, which all bots of the board learn, name no bot.
    """
    board = entropy(16).hex()
    settled = {
        "board": board,
        "boards": kind or ladder.boards,
        "game": ladder.game,
        "rules": ladder.rules.words.version,
        "settings": dict(ladder.settings),
        "tables": [
            {"match": match, "seats": seats}
            for match, seats in zip(matches, _settled_seats(list(matches.values()), hides_names), strict=True)
        ],
    }
    params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
    seed = entropy(SEED_BYTES)
    return Deal(board, commitment(seed, params), seed, params)


def _settled_seats(tables: Sequence[Sequence[Identity]], hides_names: bool) -> list[list[dict[str, str]]]:
    """Return the bots in the seats of each match of a board, as the parameters name them."""
    if not hides_names:
        return [[identity._asdict() for identity in seats] for seats in tables]
    bots = list(dict.fromkeys(identity for seats in tables for identity in seats))
    hidden = {identity: Identity("", hidden_bot(number), "") for number, identity in enumerate(bots)}
    return [[hidden[identity]._asdict() for identity in seats] for seats in tables]


def opening_to_proto(deal: Deal) -> arena_pb2.Opening:
    """Return what opens the commitment to a deal, with the nonces that its seats added."""
    match = "" if deal.nonces is None else deal.nonces.match
    return arena_pb2.Opening(seed=deal.seed, params=deal.params, nonces=deal.by_seat, nonces_match=match)
