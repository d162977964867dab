"""What tests of bots in other languages share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.languages.workshop import LANGUAGES, Made, made_in


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "languages"


@pytest.fixture(scope="session", params=LANGUAGES)
def made(request: pytest.FixtureRequest, workshop: Path) -> Made:
    """The bot of each language, built."""
    return made_in(workshop, request.param)
