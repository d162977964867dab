"""The kinds of boards. A board is one deal and the matches played on it; what is rated is always a board."""

from __future__ import annotations

from typing import Final

__all__ = ["BOARDS"]

BOARDS: Final = ("plain", "rotation", "duplicate")
