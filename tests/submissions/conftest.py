"""What tests of bots that are handed in share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short name, for sockets' names have an end."""
    folder = Path(tempfile.mkdtemp(prefix="cut-"))
    yield folder
    shutil.rmtree(folder)
