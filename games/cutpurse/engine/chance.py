"""The one source of chance: SHA-256 in counter mode over a 32-byte key.

Anyone can redo it in any language. The stream of deal d has the key K = SHA-256(key || "deal" || d), block i of it is
SHA-256(K || i), both numbers as 8 big-endian bytes, and a block is read as eight big-endian 32-bit words. So play in
one deal never changes the next (stream 0 serves what concerns the whole match, deals count from 1), and
a player who has seen a part of a stream cannot predict the rest.

    >>> chance = Chance(bytes(range(32)))
    >>> [chance.below(100) for _ in range(6)]
    [38, 88, 51, 95, 63, 69]
    >>> deck = list(range(10)); chance.open(1); chance.shuffle(deck); deck
    [2, 6, 8, 7, 0, 3, 4, 5, 1, 9]

This module knows no cards and no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from struct import Struct, unpack
from typing import Final

from cutpurse.engine.native import mypyc_attr

__all__ = ["Chance", "Script", "match_key"]

KEY_BYTES: Final = 32
_WORDS_IN_BLOCK: Final = 8
_words = Struct(">8I").unpack
_RANGE: Final = 1 << 32


def match_key(seed: str | int, match: int) -> bytes:
    """Compute the key of match number `match` of a run: SHA-256 of the text "cutpurse/seed/SEED/MATCH"."""
    return sha256(f"cutpurse/seed/{seed}/{match}".encode()).digest()


@mypyc_attr(allow_interpreted_subclasses=True)
class Chance:
    """A stream of numbers, the same wherever the key is the same."""

    __slots__ = ("block", "deal", "key", "stream", "words")
    key: bytes
    deal: int
    stream: bytes
    block: int
    words: list[int]

    def __init__(self, key: bytes, like: Chance | None = None) -> None:
        """Begin stream 0 of a key, or go on where `like` is."""
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes, this one has {len(key)}")
        self.key = key
        if like is None:
            self.open(0)
        else:
            self.deal = like.deal
            self.stream = like.stream
            self.block = like.block
            self.words = like.words[:]

    def open(self, deal: int) -> None:
        """Begin the stream of deal number `deal`."""
        self.deal = deal
        self.stream = sha256(self.key + b"deal" + deal.to_bytes(8, "big")).digest()
        self.block = 0
        self.words = []

    @property
    def at(self) -> int:
        """How many words of the stream have been used."""
        return self.block * _WORDS_IN_BLOCK - len(self.words)

    def _next_words(self, blocks: int = 1) -> list[int]:
        """Return the unused words and those of the next blocks, the next word last."""
        stream, block = self.stream, self.block
        self.block = block + blocks
        if blocks == 1:
            drawn = _words(sha256(stream + block.to_bytes(8, "big")).digest())
        else:
            digests = [sha256(stream + i.to_bytes(8, "big")).digest() for i in range(block, block + blocks)]
            drawn = unpack(f">{blocks * _WORDS_IN_BLOCK}I", b"".join(digests))
        self.words[:0] = drawn[::-1]
        return self.words

    def below(self, n: int) -> int:
        """Draw a uniform number from 0 to n - 1.  Words from the incomplete last range of n are thrown away."""
        words = self.words
        while True:
            word = words.pop() if words else self._next_words().pop()
            if word < _RANGE - n or word < _RANGE - _RANGE % n:  # the first says it of nearly all, and is cheap
                return word % n

    def pick(self, cards: Sequence[int]) -> int:
        """Draw the index of one of these cards, all equally likely."""
        return self.below(len(cards))

    def shuffle(self, cards: list[int]) -> None:
        """Shuffle by Fisher-Yates: for i from the last place down to 1, swap place i with place below(i + 1)."""
        last = len(cards) - 1
        if last < 1:
            return
        words = self.words
        if (missing := last - len(words)) > 0:
            self._next_words((missing + _WORDS_IN_BLOCK - 1) // _WORDS_IN_BLOCK)
        drawn = words[: -last - 1 : -1]
        if max(drawn) < _RANGE - last - 1:  # no word below is in the incomplete last range of any i + 1
            del words[-last:]
            for i, word in zip(range(last, 0, -1), drawn):  # noqa: B905  # slower
                j = word % (i + 1)
                cards[i], cards[j] = cards[j], cards[i]
            return
        for i in range(last, 0, -1):
            j = self.below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]

    def new_key(self) -> bytes:
        """Draw a key for another stream from this one."""
        return b"".join([self.below(_RANGE).to_bytes(4, "big") for _ in range(_WORDS_IN_BLOCK)])

    def fork(self) -> Chance:
        """Make a stream that continues as this one does."""
        return Chance(self.key, self)

    def save(self) -> list[str | int]:
        """Return [key as hex, deal, words used so far]."""
        return [self.key.hex(), self.deal, self.at]

    @classmethod
    def load(cls, saved: Sequence[str | int]) -> Chance:
        """Restore the stream from what `save` returned."""
        key, deal, at = saved
        chance = cls(bytes.fromhex(str(key)))
        chance.open(int(deal))
        used = int(at)
        chance.block = used // _WORDS_IN_BLOCK
        if used := used % _WORDS_IN_BLOCK:
            del chance._next_words()[-used:]
        return chance


@mypyc_attr(allow_interpreted_subclasses=True)
class Script(Chance):
    """Scripted chance, for tests: `below` gives the numbers of the script, `shuffle` leaves cards alone."""

    __slots__ = ("left",)

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        super().__init__(bytes(KEY_BYTES))
        self.left = list(numbers)

    def below(self, n: int) -> int:
        if not self.left:
            raise AssertionError(f"the script of chance has ended, and a number below {n} is wanted")
        number = self.left.pop(0)
        if not 0 <= number < n:
            raise AssertionError(f"the script of chance says {number}, and a number below {n} is wanted")
        return number

    def shuffle(self, cards: list[int]) -> None:
        """Leave the order as it is: a test lays the cards as it wants them."""

    def fork(self) -> Script:
        return Script(self.left)
