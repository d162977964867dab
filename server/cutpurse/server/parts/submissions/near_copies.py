"""Near copies among programs, by winnowing.

Every sequence of `GRAM` tokens of a file has a hash. Of each `WINDOW` hashes in a row the least is a fingerprint
(S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: local algorithms for document fingerprinting", 2003). So two files
that share `GRAM + WINDOW - 1` tokens in a row share a fingerprint, and programs that share none are never compared.
For those that do, all sequences are: the share is that of a program's own tokens which stand in the other one too.

A program's own tokens are those in no common file, such as the starter bots, and in the programs of few owners. This
module knows no archive and no database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from cutpurse.server.parts.submissions.source_tokens import SourceToken, attribute_names, source_tokens

__all__ = ["LEAST_SHARE", "MatchingLines", "NearCopy", "Program", "find_near_copies"]

GRAM: Final = 25  # tokens: two or three lines
WINDOW: Final = 10
LEAST_KINDS: Final = 8  # different tokens of a sequence that says something
PLAIN: Final = -1  # the hash of all other sequences, which is common
LEAST_SHARE: Final = 0.3
"""Share of the own tokens from which on a pair is named."""
LEAST_TOKENS: Final = 60  # shared tokens, about six lines; shorter programs are alike by chance
MOST_OWNERS: Final = 8  # what the programs of more owners share is common, as from a course


@dataclass(frozen=True, slots=True)
class Program:
    """The source files of a version of a bot, by path."""

    owner: str
    bot: str
    version: str
    files: Mapping[str, str]


class MatchingLines(NamedTuple):
    """Lines of a file of one program, and those of the other that they begin to match at."""

    file: str
    first: int
    last: int
    other_file: str
    other_first: int


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Two programs of different owners that share much.

    Attributes:
        share: Share of the first one's own tokens that the second one has, too.
        other_share: The same of the second one.
        tokens: Number of shared tokens.
        lines: The longest matching passages first, with the lines of the first program.
    """

    program: Program
    other: Program
    share: float
    other_share: float
    tokens: int
    lines: Sequence[MatchingLines]


class _File(NamedTuple):
    path: str
    tokens: list[SourceToken]
    grams: list[int]


class _Read:
    """A program with its tokens and hashes."""

    def __init__(self, program: Program, vocabulary: set[str]) -> None:
        self.program = program
        self.files = []
        for path, source in sorted(program.files.items()):
            tokens = source_tokens(source, PurePosixPath(path).suffix, vocabulary)
            self.files.append(_File(path, tokens, _grams(tokens)))
        self.grams = {gram for file in self.files for gram in file.grams}
        self.places = {gram: (file, at) for file in reversed(self.files) for at, gram in enumerate(file.grams)}

    def fingerprints(self) -> set[int]:
        """Return the least hash of each window."""
        return {
            min(file.grams[at : at + WINDOW])
            for file in self.files
            for at in range(max(1, len(file.grams) - WINDOW + 1))
            if file.grams
        }

    def covered(self, grams: set[int]) -> list[set[int]]:
        """Return the positions of the tokens that stand in some of these sequences, by file."""
        return [
            {at + step for at, gram in enumerate(file.grams) if gram in grams for step in range(GRAM)}
            for file in self.files
        ]


def find_near_copies(
    programs: Sequence[Program], common: Mapping[str, str], least_share: float = LEAST_SHARE
) -> list[NearCopy]:
    """Compare all programs of different owners.

    Args:
        programs: The programs; of two bots, the versions with most in common are reported.
        common: Files that everybody may use, by path.
        least_share: Share of the own tokens of either program from which on a pair is reported.

    Returns:
        The pairs, those that share most first.
    """
    vocabulary: set[str] = set()
    for path, source in common.items():
        vocabulary |= attribute_names(source, PurePosixPath(path).suffix)
    shared = {PLAIN} | _Read(Program("", "", "", common), vocabulary).grams
    read = [_Read(program, vocabulary) for program in programs]
    owners: dict[int, set[str]] = defaultdict(set)
    for archive in read:
        for gram in archive.grams:
            owners[gram].add(archive.program.owner)
    shared |= {gram for gram, its in owners.items() if len(its) > MOST_OWNERS}
    best: dict[frozenset[tuple[str, str]], NearCopy] = {}
    for archive, other in _candidates(read, shared):
        near_copy = _compare(archive, other, shared)
        if near_copy is None or max(near_copy.share, near_copy.other_share) < least_share:
            continue
        bots = frozenset({(archive.program.owner, archive.program.bot), (other.program.owner, other.program.bot)})
        if bots not in best or _rank(near_copy) > _rank(best[bots]):
            best[bots] = near_copy
    return sorted(best.values(), key=_rank, reverse=True)


def _rank(copy: NearCopy) -> tuple[float, int]:
    return max(copy.share, copy.other_share), copy.tokens


def _candidates(read: Sequence[_Read], shared: set[int]) -> Iterator[tuple[_Read, _Read]]:
    """Yield the pairs of different owners that share a fingerprint."""
    by_fingerprint: dict[int, list[int]] = defaultdict(list)
    for number, archive in enumerate(read):
        for fingerprint in archive.fingerprints() - shared:
            by_fingerprint[fingerprint].append(number)
    pairs = {pair for numbers in by_fingerprint.values() for pair in combinations(numbers, 2)}
    for first, second in sorted(pairs):
        if read[first].program.owner != read[second].program.owner:
            yield read[first], read[second]


def _compare(archive: _Read, other: _Read, shared: set[int]) -> NearCopy | None:
    """Compare two programs; return None if they share too little."""
    both = (archive.grams & other.grams) - shared
    tokens, share = _share(archive, both, shared)
    other_tokens, other_share = _share(other, both, shared)
    if min(tokens, other_tokens) < LEAST_TOKENS:
        return None
    lines = sorted(_matching_lines(archive, other, both), key=lambda line: line.first - line.last)
    return NearCopy(archive.program, other.program, share, other_share, tokens, lines)


def _share(archive: _Read, both: set[int], shared: set[int]) -> tuple[int, float]:
    """Return how many of a program's own tokens stand in the other one, and their share."""
    own = found = 0
    for file, common, matching in zip(archive.files, archive.covered(shared), archive.covered(both), strict=True):
        own += len(file.tokens) - len(common - matching)
        found += len(matching)
    return found, found / max(1, own)


def _matching_lines(archive: _Read, other: _Read, both: set[int]) -> Iterator[MatchingLines]:
    """Yield passages whose sequences stand in the other program in the same order."""
    for file in archive.files:
        at = 0
        while at < len(file.grams):
            if file.grams[at] not in both:
                at += 1
                continue
            other_file, other_at = other.places[file.grams[at]]
            end = at + 1
            while (
                end < len(file.grams)
                and other_at + end - at < len(other_file.grams)
                and file.grams[end] == other_file.grams[other_at + end - at]
            ):
                end += 1
            first, last = file.tokens[at].line, file.tokens[end + GRAM - 2].line
            yield MatchingLines(file.path, first, last, other_file.path, other_file.tokens[other_at].line)
            at = end


def _grams(tokens: Sequence[SourceToken]) -> list[int]:
    """Return the hash of each sequence of `GRAM` tokens.

    Those of few kinds, such as tables of constants, are alike everywhere: they get `PLAIN`.
    """
    texts = [token.text for token in tokens]
    grams = []
    for at in range(len(texts) - GRAM + 1):
        gram = texts[at : at + GRAM]
        digest = blake2b("\0".join(gram).encode(), digest_size=8).digest()
        grams.append(int.from_bytes(digest) if len(set(gram)) >= LEAST_KINDS else PLAIN)
    return grams
