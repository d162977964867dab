"""A sparse symmetric linear system, weighted by pairs of players.

`solve` takes time in the number of edges, and only `cholesky_of_inverse` takes n ** 3 steps. This module knows no skill
and no result.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import cg

__all__ = ["FloatArray", "IntArray", "LinearSystem"]

STEPS: Final = 200  # maximum steps of conjugate gradients
PRECISION: Final = 1e-5  # norm of the residual to reach, relative to that of the right-hand side

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


class LinearSystem:
    """The matrix of a weighted graph of players 0, 1, ....

    An off-diagonal entry is minus the weight of the edge. A diagonal entry is the player's own weight plus the weights
    of its edges.

    Attributes:
        diagonal: Diagonal entry by player.
    """

    def __init__(self, players: int, first: IntArray, other: IntArray) -> None:
        """Create edges from `first[i]` to `other[i]`; two players may have several edges."""
        self.players = players
        self._one, self._other = first, other
        self._edges: FloatArray = np.zeros(len(first))
        self.diagonal: FloatArray = np.zeros(players)

    def set_weights(self, edges: FloatArray, alone: FloatArray) -> None:
        """Set the weight of each edge, and each player's own weight.

        At least one player of each connected group needs a positive own weight.
        """
        self._edges = edges
        self.diagonal = alone + self._sum(edges, edges)
        every = np.arange(self.players)
        rows = np.concatenate([every, self._one, self._other])
        columns = np.concatenate([every, self._other, self._one])
        entries = np.concatenate([self.diagonal, -edges, -edges])
        self._matrix = coo_array((entries, (rows, columns)), shape=(self.players, self.players)).tocsr()

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solve A x = rhs by conjugate gradients with a diagonal preconditioner."""
        x: FloatArray
        x, _ = cg(self._matrix, rhs, rtol=PRECISION, maxiter=STEPS, M=diags_array(1 / self.diagonal))
        return x

    def cholesky_of_inverse(self) -> FloatArray:
        """Return the lower triangular matrix R with R' R the inverse."""
        root = cholesky(self._matrix.toarray(), lower=True)
        inverse: FloatArray = solve_triangular(root, np.eye(self.players), lower=True)
        return inverse

    def approximate_inverse_diagonal(self) -> FloatArray:
        """Approximate the diagonal of the inverse, ignoring closed paths of more than two edges."""
        squares = self._edges**2
        paths = self._sum(squares / self.diagonal[self._other], squares / self.diagonal[self._one])
        return (1 + paths / self.diagonal) / self.diagonal

    def _sum(self, of_one: FloatArray, of_other: FloatArray) -> FloatArray:
        """Sum values of edges by player: the values for the first end and those for the second."""
        sums = np.bincount(self._one, of_one, self.players) + np.bincount(self._other, of_other, self.players)
        return sums.astype(np.float64, copy=False)  # which it is; numpy's types say integers
