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


# Files run side by side, and each begins with other languages, so that they seldom wait for one build.
FIRST = {"test_choices.py": 0, "test_conduct.py": 2, "test_tls.py": 4}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Once with the bot of each language."""
    if "made" in metafunc.fixturenames:
        first = FIRST.get(metafunc.definition.path.name, 0)
        metafunc.parametrize("made", [*LANGUAGES[first:], *LANGUAGES[:first]], indirect=True, scope="module")


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, workshop: Path) -> Made:
    """The bot of each language, built."""
    return made_in(workshop, request.param)
