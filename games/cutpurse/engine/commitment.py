"""The promise about a deal: made before the first card, opened after the last match on it.

The server draws a seed, tells everybody its `commitment`, and deals from `board_key`. When the seed is opened, anyone
can see that it is the one that was committed to, and deal again. `params` are the bytes that name what was settled
before the deal; with lp(x) the length of x in four bytes, most significant first, before x itself, and
D = lp("cutpurse/fair/v1"):

    commitment = SHA-256(D, lp("commit"), lp(seed), lp(params))
    key        = HMAC-SHA-256(seed, (D, lp("master"), lp(params), n in four bytes, lp(nonce) of each of n seats))

The seats give their nonces after they have the commitment, so the server cannot choose a seed for its cards. A seat
that gave none counts with an empty one. If no seat gave one, n is 0.

A fresh seed has a fresh board, and `params` name it. The client that asks for a match may choose the seed, to have the
same cards again: then the board that `params` name follows from the seed (`chosen_board`), and so anyone can see that
it was chosen.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

__all__ = ["NONCE_BYTES", "SEED_BYTES", "board_key", "chosen_board", "commitment"]

SEED_BYTES: Final = 32
NONCE_BYTES: Final = 32  # of a seat; none at all if it gave no nonce


def _lp(part: bytes) -> bytes:
    return len(part).to_bytes(4) + part


_DOMAIN: Final = _lp(b"cutpurse/fair/v1")


def commitment(seed: bytes, params: bytes) -> bytes:
    """Compute the 32 bytes published before the deal: they bind the server and reveal nothing about the seed."""
    return sha256(_DOMAIN + _lp(b"commit") + _lp(seed) + _lp(params)).digest()


def board_key(seed: bytes, params: bytes, nonces: Sequence[bytes] = ()) -> bytes:
    """Derive the key that the board is dealt from, 32 bytes.

    Args:
        seed: The committed seed.
        params: The committed parameters.
        nonces: Nonces by seat, of the first match on the board; empty if no seat gave one.
    """
    given = len(nonces).to_bytes(4) + b"".join([_lp(nonce) for nonce in nonces])
    return hmac.new(seed, _DOMAIN + _lp(b"master") + _lp(params) + given, sha256).digest()


def chosen_board(seed: bytes) -> str:
    """Name the board of a seed that a person chose."""
    return sha256(_DOMAIN + _lp(b"chosen") + _lp(seed)).digest()[:16].hex()
