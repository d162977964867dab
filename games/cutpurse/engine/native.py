"""Hints about a class for the compiler; Python does not need them.

`acyclic=True` promises that no object of the class refers to itself by any way round, so that the garbage collector of
Python need not look for it. Such a class holds no table, and no step that holds a view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["mypyc_attr"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**hints):
        """Return the class as it is."""
        return lambda cls: cls
