"""The fixture of a server for conversations without I/O."""

from __future__ import annotations

import pytest

from tests.server.session.house import House

__all__ = ["house"]


@pytest.fixture
def house() -> House:
    """Return a server with default limits."""
    return House()
