"""The fixtures of the tests of the server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.league_world import LeagueWorld, league_world

__all__ = ["world"]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    """Run a server whose league has owners with tokens, and ladders of every kind."""
    async with league_world(tmp_path) as running:
        yield running
