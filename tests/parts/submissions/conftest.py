"""The fixtures of the tests of submissions."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.leaderboard.conftest import database, new_database

__all__ = ["database", "new_database", "short"]


@pytest.fixture
def short() -> Iterator[Path]:
    """Create a folder with a short path, because paths of sockets are limited."""
    folder = Path(tempfile.mkdtemp(prefix="cut-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # a process of a killed server may still write there for a moment
