"""What a bot can check once the deal of its match is opened.

The seed must open the commitment that was sent before the deal. The nonce that the bot added must count. And the cards
that the bot saw first must be those that follow from seed and nonces, so that a server that deals again is noticed.
This module knows no session and no network.
"""

from __future__ import annotations

from cutpurse.engine.commitment import NONCE_BYTES, board_key, commitment
from cutpurse.engine.documents import parse_json
from cutpurse.engine.match import Match
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_table import ClientTable
from cutpurse.wire.decode import events_of
from cutpurse.wire.text import printable

__all__ = ["broken_promise", "counts_nonce"]


def broken_promise(table: ClientTable, opening: arena_pb2.Opening) -> str:
    """Describe what is wrong with the opening of the commitment; empty if nothing is."""
    if commitment(opening.seed, opening.params) != table.commitment:
        return "the cards were not dealt as promised: the opened seed does not fit the commitment made before the deal"
    try:
        params = parse_json(opening.params)
        board, game = params["board"], params["game"]
    except (ValueError, TypeError, KeyError):
        return "what was promised before the deal cannot be read"
    if (board, game) != (table.board, table.game):
        return f"what was promised before the deal is of another board or game ({board!r}, {game!r})"
    if wrong := _wrong_nonces(table, opening, is_only="tables" not in params):
        return wrong
    return "" if "position" in params else _other_cards(table, opening)


def counts_nonce(table: ClientTable, opening: arena_pb2.Opening) -> bool:
    """Return whether the deal counts the nonce of this seat."""
    is_of_match = printable(opening.nonces_match) == table.match
    return is_of_match and opening.nonces[table.seat : table.seat + 1] == [table.nonce]


def _wrong_nonces(table: ClientTable, opening: arena_pb2.Opening, *, is_only: bool) -> str:
    """Describe what is wrong with the nonces of an opening; empty if nothing is.

    Args:
        table: The match, with the nonce that this seat added.
        opening: What the server opened.
        is_only: Whether the match is the only one on its board, so that no other has nonces.
    """
    nonces, match = opening.nonces, printable(opening.nonces_match)
    if table.nonce and not counts_nonce(table, opening):
        return "the deal does not count the nonce that this bot added to it"
    if nonces and is_only and match != table.match:
        return f"the deal counts the nonces of another match, {match}"
    if nonces and is_only and len(nonces) != table.info.seats:
        return f"the deal counts {len(nonces)} nonces, and the match has {table.info.seats} seats"
    if any(len(nonce) not in (0, NONCE_BYTES) for nonce in nonces):
        return f"the deal counts nonces that do not have {NONCE_BYTES} bytes"
    return ""


def _other_cards(table: ClientTable, opening: arena_pb2.Opening) -> str:
    """Describe how the first events of a seat differ from those of the promised deal; empty if they do not."""
    if table.first is None:  # the bot wants no events, or missed the first ones
        return ""
    info, key = table.info, board_key(opening.seed, opening.params, opening.nonces)
    dealt = Match(info.rules, table.names, key, info.settings.changed(), log=True, hold_polls=True, ask_all=True)
    promised = [event.to(info.seat) for event in dealt.game.log or ()]
    if events_of(table.first, info)[: len(promised)] != promised:
        return "the cards that this bot saw first are not those of the promised deal: the server dealt again"
    return ""
