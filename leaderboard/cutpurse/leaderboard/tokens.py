"""Bearer tokens: made, read, and what is kept of one.

A token is `cutp_`, 32 letters and digits from the operating system (190 bits), and 6 that are their CRC-32. So a token
is found in a text by its prefix, is selected by a double click, and one that was copied badly costs no look-up. Kept
are its first 8 characters, which name it, and its SHA-256: of 190 random bits a plain hash tells nothing.

    token = new_token()
    token.id, token.digest  # may be stored and shown
    token.reveal()  # to its owner, once

A secret leaves a `Token` by `reveal` only, and never by printing it. This module knows no database and no clock.
"""

from __future__ import annotations

import re
import secrets
import string
import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import Final

__all__ = ["HOUSE", "ID_LENGTH", "NOBODY", "PATTERN", "PREFIX", "Token", "new_token", "read_token"]

PREFIX: Final = "cutp_"
ID_LENGTH: Final = 8
NOBODY: Final = "local"  # the owner of what plays where no token is asked for
HOUSE: Final = "house"  # the owner of the bots that a server brings along
PATTERN: Final = r"\bcutp_[0-9A-Za-z]{38}\b"  # what a scanner of files and logs looks for

_SIGNS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET_LENGTH: Final = 32
_CHECK_LENGTH: Final = 6  # 62**6 > 2**32
_FORM: Final = re.compile(PATTERN.replace(r"\b", ""))


class Token:
    """A token with its secret.  id: 8 characters that name it; digest: SHA-256 of the whole, 32 bytes."""

    __slots__ = ("_text", "digest", "id")

    def __init__(self, text: str) -> None:
        """Take the text of a valid token, from `new_token` or `read_token`."""
        self._text = text
        self.id = text[len(PREFIX) : len(PREFIX) + ID_LENGTH]
        self.digest = sha256(text.encode("ascii")).digest()

    def __repr__(self) -> str:
        return f"<Token {self.id}>"

    def __reduce__(self) -> str:
        raise TypeError("a token is not pickled: its secret would be written down")

    def reveal(self) -> str:
        """Return the secret, to be shown to its owner once."""
        return self._text


def new_token(entropy: Callable[[int], bytes] = secrets.token_bytes) -> Token:
    """Make a token that nobody can predict; `entropy` returns as many unpredictable bytes as it is asked for."""
    drawn: list[str] = []
    while len(drawn) < _SECRET_LENGTH:
        # 248 is the last multiple of 62 in a byte: what is above would make the first signs likelier.
        drawn += [_SIGNS[byte % 62] for byte in entropy(_SECRET_LENGTH) if byte < 248]
    begin = PREFIX + "".join(drawn[:_SECRET_LENGTH])
    return Token(begin + _check(begin))


def read_token(text: str) -> Token | None:
    """Return the token in a text, or None if it cannot be one: another form, or characters that were changed."""
    if not _FORM.fullmatch(text) or _check(text[:-_CHECK_LENGTH]) != text[-_CHECK_LENGTH:]:
        return None
    return Token(text)


def _check(begin: str) -> str:
    """Compute the CRC-32 of the characters before it, in base 62, the most significant first."""
    left = zlib.crc32(begin.encode("ascii"))
    signs = ""
    for _ in range(_CHECK_LENGTH):
        left, at = divmod(left, 62)
        signs = _SIGNS[at] + signs
    return signs
