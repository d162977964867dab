"""The fixtures of the tests of bots in other languages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.languages.workshop import LANGUAGES, Made, made_in


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "languages"


# Files run in parallel, and each begins with another language, so that they seldom wait for the same build.
FIRST = {"test_choices.py": 0, "test_conduct.py": 2, "test_tls.py": 4}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize tests with the bot of each language."""
    if "made" in metafunc.fixturenames:
        first = FIRST.get(metafunc.definition.path.name, 0)
        metafunc.parametrize("made", [*LANGUAGES[first:], *LANGUAGES[:first]], indirect=True, scope="module")


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, workshop: Path) -> Made:
    """Return the built bot of a language."""
    return made_in(workshop, request.param)
