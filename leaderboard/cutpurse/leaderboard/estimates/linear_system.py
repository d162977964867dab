"""A sparse symmetric linear system, weighted by pairs of players.

It is plain Python without numpy: `solve` takes time in the number of edges, and only `cholesky_of_inverse` takes
n ** 3 steps. This module knows no skill and no result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Final

__all__ = ["LinearSystem"]

STEPS: Final = 200  # maximum steps of conjugate gradients
ENOUGH: Final = 1e-10  # squared norm of the residual to reach, relative to that of the right-hand side


class LinearSystem:
    """The matrix of a weighted graph of players 0, 1, ....

    An off-diagonal entry is minus the weight of the edge. A diagonal entry is the player's own weight plus the weights
    of its edges.
    """

    def __init__(self, players: int, one: Sequence[int], other: Sequence[int]) -> None:
        """Create edges from `one[i]` to `other[i]`; two players may have several edges."""
        self.players = players
        self._ends: list[tuple[int, ...]] = []
        self._edges: list[tuple[int, ...]] = []
        neighbours: list[list[int]] = [[] for _ in range(players)]
        edges: list[list[int]] = [[] for _ in range(players)]
        for edge, (first, second) in enumerate(zip(one, other, strict=True)):
            neighbours[first].append(second)
            neighbours[second].append(first)
            edges[first].append(edge)
            edges[second].append(edge)
        self._ends = [tuple(of) for of in neighbours]
        self._edges = [tuple(of) for of in edges]
        self.diagonal: list[float] = []
        self._rows: list[list[float]] = []

    def set_weights(self, edges: Sequence[float], alone: Sequence[float]) -> None:
        """Set the weight of each edge, and each player's own weight.

        At least one player of each connected group needs a positive own weight.
        """
        self._rows = [[edges[edge] for edge in of] for of in self._edges]
        self.diagonal = [own + sum(row) for own, row in zip(alone, self._rows, strict=True)]

    def solve(self, forces: Sequence[float]) -> list[float]:
        """Solve A x = forces by conjugate gradients, preconditioned by the diagonal, and return x."""
        moved = [0.0] * self.players
        left = list(forces)
        turned = [force / held for force, held in zip(left, self.diagonal, strict=True)]
        way = turned
        square = sum(map(mul, left, turned))
        enough = ENOUGH * square
        for _ in range(STEPS):
            if square <= enough:
                break
            against = self._times(way)
            length = square / sum(map(mul, way, against))
            moved = [at + length * by for at, by in zip(moved, way, strict=True)]
            left = [at - length * by for at, by in zip(left, against, strict=True)]
            turned = [force / held for force, held in zip(left, self.diagonal, strict=True)]
            before, square = square, sum(map(mul, left, turned))
            way = [at + square / before * by for at, by in zip(turned, way, strict=True)]
        return moved

    def _times(self, way: Sequence[float]) -> list[float]:
        at = way.__getitem__
        return [
            held * mine - sum(map(mul, row, map(at, ends)))
            for held, mine, row, ends in zip(self.diagonal, way, self._rows, self._ends, strict=True)
        ]

    def cholesky_of_inverse(self) -> list[list[float]]:
        """Return the lower triangular matrix R with R' R the inverse, in about n ** 3 / 3 steps.

        Returns:
            The columns of R, each from its diagonal down.
        """
        root: list[list[float]] = []
        for player, held in enumerate(self.diagonal):
            row = [0.0] * player
            for end, edge in zip(self._ends[player], self._rows[player], strict=True):
                if end < player:
                    row[end] -= edge
            done: list[float] = []
            for at, above in zip(row, root, strict=True):
                done.append((at - sum(map(mul, done, above))) / above[-1])
            done.append(math.sqrt(held - sum(map(mul, done, done))))
            root.append(done)
        columns = []
        for player in range(self.players):
            column = [1 / root[player][player]]
            for row in root[player + 1 :]:
                column.append(-sum(map(mul, column, row[player:])) / row[-1])
            columns.append(column)
        return columns

    def approximate_inverse_diagonal(self) -> list[float]:
        """Approximate the diagonal of the inverse, ignoring closed paths of more than two edges."""
        return [
            (1 + sum(edge * edge / self.diagonal[end] for end, edge in zip(ends, row, strict=True)) / held) / held
            for held, ends, row in zip(self.diagonal, self._ends, self._rows, strict=True)
        ]
