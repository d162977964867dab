"""The promise about a deal: a published test vector, redone here from the description alone."""

import hashlib
import hmac
import struct

import pytest

from cutpurse.engine.commitment import NONCE_BYTES, SEED_BYTES, board_key, commitment
from tests.roots import CHECKOUT

SEED = bytes(range(SEED_BYTES))
PARAMS = b'{"board":"b1","game":"greed"}'


def joined(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def test_the_published_vector_holds() -> None:
    assert commitment(SEED, PARAMS).hex() == "b5534278f9a4fc79d6c8ef2f97891afbf8cb6f80793a844b185b13fde94b3b26"
    assert board_key(SEED, PARAMS).hex() == "ad315c96570b9f63e4f5a7db676b7e19025612e2ff91d8b39c6a7cc8cb836d15"


NONCES = (b"\x11" * NONCE_BYTES, b"", b"\x22" * NONCE_BYTES)


def test_the_published_vector_holds_with_nonces() -> None:
    key = board_key(SEED, PARAMS, NONCES).hex()
    assert key == "2209c32f92e16bcd5838f568db9c595a046456ce99795561b0e9185df63441d6"
    page = (CHECKOUT / "docs" / "reference" / "match_file.md").read_text(encoding="utf-8")
    for told in (commitment(SEED, PARAMS).hex(), board_key(SEED, PARAMS).hex(), key, PARAMS.decode()):
        assert f"`{told}`" in page


def test_the_nonces_follow_their_description() -> None:
    told = joined(b"cutpurse/fair/v1", b"master", PARAMS) + (3).to_bytes(4) + joined(*NONCES)
    assert board_key(SEED, PARAMS, NONCES) == hmac.digest(SEED, told, "sha256")


@pytest.mark.parametrize(
    "nonces", [(), NONCES[::-1], NONCES[:2], (*NONCES, b""), (NONCES[0], b"\x22" * NONCE_BYTES, b""), (b"", b"", b"")]
)
def test_other_nonces_or_another_order_are_another_deal(nonces: tuple[bytes, ...]) -> None:
    assert board_key(SEED, PARAMS, nonces) != board_key(SEED, PARAMS, NONCES)


def test_both_follow_their_description() -> None:
    assert commitment(SEED, PARAMS) == hashlib.sha256(joined(b"cutpurse/fair/v1", b"commit", SEED, PARAMS)).digest()
    told = joined(b"cutpurse/fair/v1", b"master", PARAMS) + bytes(4)
    assert board_key(SEED, PARAMS) == hmac.digest(SEED, told, "sha256")


@pytest.mark.parametrize(
    ("seed", "params"), [(bytes(32), PARAMS), (SEED, PARAMS + b" "), (SEED + b"{", PARAMS[1:]), (SEED[:-1], PARAMS)]
)
def test_another_seed_or_other_params_are_another_promise(seed: bytes, params: bytes) -> None:
    assert commitment(seed, params) != commitment(SEED, PARAMS)
    assert board_key(seed, params) != board_key(SEED, PARAMS)
