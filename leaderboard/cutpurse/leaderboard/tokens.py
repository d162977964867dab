"""Bearer tokens: how they are created, and how their text is checked.

A token is `cutp_`, 32 random letters and digits (190 bits), and their CRC-32 in 6 more characters. The prefix makes a
token easy to find in a text, and a double click selects all of it. The checksum rejects a badly copied token without
a database lookup. The server stores only an ID, the 8 characters after the prefix, and the SHA-256 of the whole. A
plain hash is enough, because nobody can guess 190 random bits.

    token = new_token()
    token.id, token.digest  # may be stored and shown
    token.reveal()  # to its owner, once

Only `reveal` returns the secret; printing a `Token` does not show it. This module knows no database and no clock.
"""

from __future__ import annotations

import re
import secrets
import string
import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import Final

__all__ = [
    "HOUSE",
    "ID_LENGTH",
    "LINK",
    "NOBODY",
    "PATTERN",
    "PEOPLE",
    "PREFIX",
    "SCOPES",
    "SESSION",
    "Token",
    "new_token",
    "read_token",
]

PREFIX: Final = "cutp_"
ID_LENGTH: Final = 8
NOBODY: Final = "local"  # owner of the bots on a server that needs no token
HOUSE: Final = "house"  # owner of the house bots
PEOPLE: Final = "people"  # owner of the seats of people who play on the page
SCOPES: Final = ("admin", "place", "play", "read")
LINK: Final = "link"  # scope of a code that is exchanged once for a token with its other scopes
SESSION: Final = "session"  # beside the scopes of a token that signing in at a provider created
PATTERN: Final = r"\bcutp_[0-9A-Za-z]{38}\b"  # for scanners of files and logs

_SIGNS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET_LENGTH: Final = 32
_CHECK_LENGTH: Final = 6  # 62**6 > 2**32
_FORM: Final = re.compile(PATTERN.replace(r"\b", ""))


class Token:
    """A token with its secret.

    Attributes:
        id: The 8 characters after the prefix, which name the token.
        digest: SHA-256 of the whole token, 32 bytes.
    """

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
    """Create a random token.

    Args:
        entropy: Returns the given number of unpredictable bytes.
    """
    drawn: list[str] = []
    while len(drawn) < _SECRET_LENGTH:
        # 248 is the highest multiple of 62 in a byte: bytes from there on would make some characters likelier.
        drawn += [_SIGNS[byte % 62] for byte in entropy(_SECRET_LENGTH) if byte < 248]
    begin = PREFIX + "".join(drawn[:_SECRET_LENGTH])
    return Token(begin + _check(begin))


def read_token(text: str) -> Token | None:
    """Return the token in `text`, or None if its form or its checksum is wrong."""
    if not _FORM.fullmatch(text) or _check(text[:-_CHECK_LENGTH]) != text[-_CHECK_LENGTH:]:
        return None
    return Token(text)


def _check(begin: str) -> str:
    """Compute the checksum: CRC-32 of `begin` in base 62, the most significant character first."""
    left = zlib.crc32(begin.encode("ascii"))
    signs = ""
    for _ in range(_CHECK_LENGTH):
        left, at = divmod(left, 62)
        signs = _SIGNS[at] + signs
    return signs
