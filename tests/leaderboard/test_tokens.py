"""A token is random, tells by itself when it was copied badly, and never shows itself."""

import copy
import logging
import pickle
import random
import re
from hashlib import sha256

import pytest

from cutpurse.leaderboard.tokens import PATTERN, Token, new_token, read_token


def test_a_token_has_its_prefix_its_name_and_its_hash() -> None:
    token = new_token()
    text = token.reveal()
    assert re.fullmatch(r"cutp_[0-9A-Za-z]{38}", text)
    assert token.id == text[5:13]
    assert token.digest == sha256(text.encode()).digest()
    found = read_token(text)
    assert found is not None
    assert (found.id, found.digest, found.reveal()) == (token.id, token.digest, text)


def test_the_same_bytes_make_the_same_token_for_ever() -> None:
    assert new_token(lambda count: bytes(range(count))).reveal() == "cutp_0123456789ABCDEFGHIJKLMNOPQRSTUV1wb963"


def test_every_sign_is_equally_likely() -> None:
    rng = random.Random(1)
    count = 4_000
    drawn = "".join(new_token(rng.randbytes).reveal()[5:37] for _ in range(count))
    expected = 32 * count / 62
    square = sum((drawn.count(sign) - expected) ** 2 / expected for sign in set(drawn))
    assert len(set(drawn)) == 62
    assert square < 100.9  # what chance exceeds once in a thousand times, at 61 degrees of freedom


def test_bytes_that_would_favour_the_first_signs_are_passed_over() -> None:
    given = [bytes([255, 250, 248]) + bytes(29), bytes(32)]
    assert new_token(lambda count: given.pop(0)).reveal()[5:37] == "0" * 32
    assert given == []


def test_a_sign_that_was_changed_is_found() -> None:
    text = new_token().reveal()
    for at in range(len(text)):
        for sign in "0aZ":
            changed = text[:at] + sign + text[at + 1 :]
            assert (read_token(changed) is not None) == (changed == text)


def test_of_a_hundred_thousand_random_texts_of_its_form_none_is_a_token(soak: bool) -> None:
    rng = random.Random(2)
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    count = 10**6 if soak else 10**5
    assert not any(read_token("cutp_" + "".join(rng.choices(signs, k=38))) for _ in range(count))


@pytest.mark.parametrize(
    "text",
    ["", "cutp_", "cutp_" + "a" * 37, "cutp_" + "a" * 39, "CUTP_" + "a" * 38, "x" * 10_000, "cutp_" + "é" * 38, "\0"],
)
def test_what_has_another_form_is_no_token(text: str) -> None:
    assert read_token(text) is None
    token = new_token().reveal()
    assert read_token(f"{token}\n") is None
    assert read_token(f" {token}") is None


def test_a_token_is_not_shown_by_accident(caplog: pytest.LogCaptureFixture) -> None:
    token = new_token()
    secret = token.reveal()
    logging.getLogger("test").warning("%s %r %s", token, token, [token])
    shown = [str(token), repr(token), f"{token}", repr({"token": token}), caplog.text]
    assert all(token.id in text and secret[13:] not in text for text in shown)
    assert not hasattr(token, "__dict__")
    with pytest.raises(TypeError, match="a token is not pickled"):
        pickle.dumps(token)
    with pytest.raises(TypeError, match="a token is not pickled"):
        copy.copy(token)


def test_a_scanner_finds_a_token_in_a_text() -> None:
    token = new_token()
    text = f'TOKEN="{token.reveal()}"; # of ann'
    assert re.findall(PATTERN, text) == [token.reveal()]
    assert re.findall(PATTERN, f"{token.id} {token!r} cutp_short") == []


def test_two_tokens_differ() -> None:
    tokens = {new_token().reveal() for _ in range(1_000)}
    assert len(tokens) == 1_000
    assert isinstance(new_token(), Token)
