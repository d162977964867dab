"""The builds of the engine: pure Python, and compiled by mypyc."""

from __future__ import annotations

from typing import Final

import pytest

from cutpurse.engine import zones

__all__ = ["is_compiled", "needs_pure"]

is_compiled: Final = not zones.__file__.endswith(".py")
# For a test that replaces Python code of the engine, or looks for it in the checkout. The compiled build skips it, and
# CI runs all of these on the pure one.
needs_pure: Final = pytest.mark.needs_pure
