"""The search for pairs of bots that deal with each other: tests of all pairs that met, with a false discovery rate.

    report = search_pairs(tables)
    report.findings        # the pairs worth a look, the surest first

Three questions are asked of each pair, from the tables where both sat:

* Do they gain together more place points than their strengths promise? (one-sided)
* Does one give way to the other: gain where the other loses, beyond their strengths? (both ways)
* Do they aim at each other less or more than their habits promise? (for each verb: mutually, and each way)

A bot alone has any strength and any habit, see `place_model` and `aim_model`. The p-values of all tests together go
through the procedure of Y. Benjamini and Y. Hochberg (1995). Effects that are certain but small are left out. Pairs of
one owner are judged apart, by the same procedure.

A finding is no proof of an agreement: a style that happens to suit or to spare another one looks the same. This module
knows no ladder, no file and no clock.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from cutpurse.lab.pairs.aim_model import AimModel
from cutpurse.lab.pairs.place_model import FloatArray, IntArray, PlaceModel
from cutpurse.lab.pairs.played_table import BotPair, PairedBot, PlayedTable, pair_of

__all__ = ["RATE", "PairFinding", "PairFindingKind", "PairReport", "search_pairs"]

RATE: Final = 0.001
"""The false discovery rate. An honest ladder has a finding with about this probability."""
LEAST_TABLES: Final = 5  # where both sat
LEAST_SEATS: Final = 3  # of a table: with two, all that one gains the other loses
LEAST_AIMS: Final = 200  # with a verb on the whole ladder, so that habits can be fitted
LEAST_GAIN: Final = 0.05  # place points of both together, a match
LEAST_TRANSFER: Final = 0.1  # place points between the two, a match
LEAST_RATIO: Final = 2.0  # of aims seen and expected, or expected and seen, mutually
LEAST_RATIO_ONE_WAY: Final = 2.5  # a style alone may lead a bot to aim twice as often at another one, or half as often


class PairFindingKind(Enum):
    """What two bots do."""

    GAIN = "gain"  # both together gain place points
    TRANSFER = "transfer"  # the second gives way to the first
    LESS = "less"  # aim less at each other, or the first at the second
    MORE = "more"  # aim more


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Something that two bots do with each other, and hardly by chance.

    Attributes:
        kind: What it is.
        pair: The two bots. Of a transfer, the first gains; of aims one way, the first aims.
        tables: Number of matches where both sat.
        verb: Verb of the aims; empty for place points.
        is_mutual: Whether both ways count together.
        seen: Aims, or place points beyond expectation a match.
        expected: Aims expected from the habits of both; 0 for place points.
        p: Probability of so much or more by chance, for this test alone.
    """

    kind: PairFindingKind
    pair: BotPair
    tables: int
    verb: str
    is_mutual: bool
    seen: float
    expected: float
    p: float

    @property
    def is_large(self) -> bool:
        """Whether the effect is large enough to matter."""
        match self.kind:
            case PairFindingKind.GAIN:
                return self.seen >= LEAST_GAIN
            case PairFindingKind.TRANSFER:
                return self.seen >= LEAST_TRANSFER
            case PairFindingKind.LESS:
                return self.seen * self._least_ratio <= self.expected
            case PairFindingKind.MORE:
                return self.seen >= self.expected * self._least_ratio

    @property
    def _least_ratio(self) -> float:
        return LEAST_RATIO if self.is_mutual else LEAST_RATIO_ONE_WAY


@dataclass(frozen=True, slots=True)
class PairReport:
    """The result of all tests.

    Attributes:
        findings: Pairs of different owners, the surest finding first.
        of_one_owner: Pairs of bots of one owner.
        tables: Number of matches used.
        with_aims: Number of them with a record.
        pairs: Number of pairs that met often enough.
        tests: Number of tests.
    """

    findings: Sequence[PairFinding]
    of_one_owner: Sequence[PairFinding]
    tables: int
    with_aims: int
    pairs: int
    tests: int


class _Meetings(NamedTuple):
    """Where two bots sat together: table numbers, and the seats of the first and the second."""

    tables: IntArray
    first: IntArray
    second: IntArray


def search_pairs(tables: Sequence[PlayedTable], ignored: Collection[PairedBot] = (), rate: float = RATE) -> PairReport:
    """Test all pairs of bots.

    When two bots spare each other, they aim at all others more than they would. So once a pair is found, all other
    pairs are tested again without the tables where it sat.

    Args:
        tables: Finished matches, all of equal size.
        ignored: Bots that deal with nobody, such as house bots.
        rate: False discovery rate.

    Raises:
        ValueError: If tables differ in size or have fewer than three seats.
    """
    sizes = {len(table.players) for table in tables}
    if len(sizes) > 1 or any(size < LEAST_SEATS for size in sizes):
        raise ValueError(f"tables of {sorted(sizes)} seats: all need the same number, {LEAST_SEATS} or more")
    findings: dict[BotPair, list[PairFinding]] = {}
    left = list(tables)
    pairs = tests = 0
    while True:
        met = _meetings(left, ignored)
        tested = _test(left, met)
        pairs, tests = max(pairs, len(met)), max(tests, len(tested))
        surest = min(_kept(tested, rate), key=lambda finding: finding.p, default=None)
        if surest is None:
            break
        pair = pair_of(*surest.pair)
        findings[pair] = [finding for finding in _kept(tested, rate) if pair_of(*finding.pair) == pair]
        left = [table for table in left if not set(pair) <= {player.of for player in table.players}]
    ordered = [finding for group in findings.values() for finding in sorted(group, key=lambda finding: finding.p)]
    return PairReport(
        [finding for finding in ordered if not _is_of_one_owner(finding.pair)],
        [finding for finding in ordered if _is_of_one_owner(finding.pair)],
        len(tables),
        sum(bool(table.aims) for table in tables),
        pairs,
        tests,
    )


def _test(tables: Sequence[PlayedTable], meetings: dict[BotPair, _Meetings]) -> list[PairFinding]:
    """Make all tests of all pairs."""
    if not meetings:
        return []
    players = sorted({player for table in tables for player in table.players})
    numbers = {player: number for number, player in enumerate(players)}
    seats = np.array([[numbers[player] for player in table.players] for table in tables])
    model = PlaceModel(seats, np.array([table.points for table in tables], dtype=np.float64))
    tested = list(_place_tests(model, seats, meetings))
    for verb in sorted({aim.verb for table in tables for aim in table.aims}):
        tested += _aim_tests(verb, tables, seats, model.strengths, meetings)
    return tested


def _is_of_one_owner(pair: BotPair) -> bool:
    return bool(pair[0].owner) and pair[0].owner == pair[1].owner


def _kept(tested: Sequence[PairFinding], rate: float) -> list[PairFinding]:
    """Return the findings that the procedure keeps, those of one owner apart, if they are large."""
    kept = []
    for is_apart in (False, True):
        ordered = sorted(
            [finding for finding in tested if _is_of_one_owner(finding.pair) is is_apart], key=lambda finding: finding.p
        )
        passed = [number for number, finding in enumerate(ordered, 1) if finding.p <= rate * number / len(ordered)]
        kept += [finding for finding in ordered[: max(passed, default=0)] if finding.is_large]
    return kept


def _meetings(tables: Sequence[PlayedTable], ignored: Collection[PairedBot]) -> dict[BotPair, _Meetings]:
    """Return where each pair met, if it met often enough."""
    seats_of_pair: dict[BotPair, list[tuple[int, int, int]]] = {}
    for number, table in enumerate(tables):
        bots = [player.of for player in table.players]
        for first in range(len(bots)):
            for other in range(first + 1, len(bots)):
                if bots[first] == bots[other] or bots[first] in ignored or bots[other] in ignored:
                    continue
                pair = pair_of(bots[first], bots[other])
                seats = (first, other) if pair[0] == bots[first] else (other, first)
                seats_of_pair.setdefault(pair, []).append((number, *seats))
    return {
        pair: _Meetings(*np.array(met, dtype=np.int64).T)
        for pair, met in sorted(seats_of_pair.items())
        if len({number for number, _, _ in met}) >= LEAST_TABLES
    }


# -- place points
def _place_tests(model: PlaceModel, seats: IntArray, meetings: dict[BotPair, _Meetings]) -> Iterator[PairFinding]:
    left, size = model.residuals, seats.shape[1]
    total, square = left.sum(axis=1, keepdims=True), (left * left).sum(axis=1, keepdims=True)
    # Of a seat with all others of its table: the mean square of the sum, and of the difference, of two residuals.
    own, cross = (size - 2) * left * left + square, 2 * left * (total - left)
    spread_of_sum = _by_player(seats, (own + cross) / (size - 1))
    spread_of_difference = _by_player(seats, (own - cross) / (size - 1))
    for pair, met in meetings.items():
        first, other = left[met.tables, met.first], left[met.tables, met.second]
        players = np.concatenate([seats[met.tables, met.first], seats[met.tables, met.second]])
        for kind, sign, spread in (
            (PairFindingKind.GAIN, 1.0, spread_of_sum),
            (PairFindingKind.TRANSFER, -1.0, spread_of_difference),
        ):
            weights = np.zeros((len(met.tables), size))
            rows = np.arange(len(met.tables))
            weights[rows, met.first] += 1.0
            weights[rows, met.second] += sign
            share = model.share_left(met.tables, weights)
            gained = float((first + sign * other).sum())
            z = gained / math.sqrt(len(rows) * float(spread[players].max()) * share)
            seen = gained / len(rows) / share
            if kind is PairFindingKind.GAIN:
                yield PairFinding(kind, pair, len(rows), "", True, seen, 0.0, 0.5 * math.erfc(z / math.sqrt(2)))
            else:
                order = pair if gained >= 0 else (pair[1], pair[0])
                yield PairFinding(kind, order, len(rows), "", False, abs(seen), 0.0, math.erfc(abs(z) / math.sqrt(2)))


def _by_player(seats: IntArray, squares: FloatArray) -> FloatArray:
    """Return the mean of squares by player, at least the mean of all."""
    size = int(seats.max()) + 1
    sums = np.bincount(seats.ravel(), squares.ravel(), size)
    means: FloatArray = np.maximum(sums / np.maximum(1, np.bincount(seats.ravel(), minlength=size)), squares.mean())
    return means


# -- aims
def _aim_tests(
    verb: str,
    tables: Sequence[PlayedTable],
    seats: IntArray,
    strengths: FloatArray,
    meetings: dict[BotPair, _Meetings],
) -> Iterator[PairFinding]:
    size = seats.shape[1]
    rows: dict[tuple[int, int], int] = {}
    cells = []
    for number, table in enumerate(tables):
        for aim in table.aims:
            if aim.verb == verb:
                row = rows.setdefault((number, aim.actor), len(rows))
                cells.append((row, (aim.target - aim.actor) % size - 1, aim.times, aim.offered, aim.expected))
    if sum(times for _, _, times, _, _ in cells) < LEAST_AIMS:
        return
    times, offered, even = (np.zeros((len(rows), size - 1)) for _ in range(3))
    for row, seat, *counts in cells:
        times[row, seat], offered[row, seat], even[row, seat] = counts
    table_of, actor_of = np.array(list(rows)).T
    players = seats[table_of, actor_of]
    targets = seats[table_of[:, None], (actor_of[:, None] + np.arange(1, size)) % size]
    model = AimModel(players, targets, times, even, strengths)
    for pair, met in meetings.items():
        ways: list[list[tuple[int, int]]] = [[], []]
        for number, first, second in zip(*map(np.ndarray.tolist, met), strict=True):
            for way, (actor, target) in zip(ways, ((first, second), (second, first)), strict=True):
                row, seat = rows.get((number, actor), -1), (target - actor) % size - 1
                if row >= 0 and offered[row, seat]:
                    way.append((row, seat))
        for order, used in ((pair, ways[0]), ((pair[1], pair[0]), ways[1]), (pair, ways[0] + ways[1])):
            if used:
                chosen, at = np.array(used).T
                share = model.share_left(chosen, at)
                excess = float(model.residuals[chosen, at].sum()) / share
                seen = float(times[chosen, at].sum())
                promised = max(0.0, seen - excess)  # by the habits of both, without what they do with each other
                dispersion = float(model.dispersion[players[chosen]].max()) / share
                p = _count_p(seen, promised, float(offered[chosen, at].sum()), dispersion)
                kind = PairFindingKind.LESS if excess < 0 else PairFindingKind.MORE
                is_mutual = len(used) > max(map(len, ways))
                yield PairFinding(kind, order, len(met.tables), verb, is_mutual, seen, promised, p)


def _count_p(seen: float, expected: float, offered: float, dispersion: float) -> float:
    """Return the two-sided p-value of a count, from the deviance of a binomial with this dispersion.

    In the tails the signed root of the deviance is much nearer to a normal distribution than the count itself.
    """
    share = min(max(expected / offered, 1e-3), 1 - 1e-3)
    observed = seen / offered
    deviance = 0.0
    for is_part, has_part in ((observed, share), (1 - observed, 1 - share)):
        if is_part > 0:
            deviance += is_part * math.log(is_part / has_part)
    return math.erfc(math.sqrt(max(0.0, offered * deviance / dispersion)))
