"""The builds of the engine: pure Python, and compiled by mypyc."""

from __future__ import annotations

from typing import Final

import pytest

from cutpurse.engine import zones

__all__ = ["is_compiled", "needs_pure"]

is_compiled: Final = not zones.__file__.endswith(".py")
needs_pure = pytest.mark.skipif(
    is_compiled, reason="replaces Python code of the engine, or looks for it in the checkout; the pure build runs it"
)
