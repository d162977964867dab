"""A pytest plugin that disables one step of a game: it happens or is answered, but has no effect.

CUTPURSE_WITHOUT_STEP=greed:GoBust python -m pytest -p tests.without_a_step tests/games/greed
"""

from __future__ import annotations

import os
from typing import Final

import pytest

from cutpurse.engine.agenda import Choice, Poll, Step
from cutpurse.games import GAMES

__all__ = ["VARIABLE", "pytest_configure", "what_follows"]

VARIABLE: Final = "CUTPURSE_WITHOUT_STEP"


def pytest_configure(config: pytest.Config) -> None:
    """Disable the step that the environment names, if any."""
    if named := os.environ.get(VARIABLE):
        game, _, step = named.partition(":")
        take_out(GAMES[game].steps()[step])


def take_out(step: type[Step]) -> None:
    setattr(step, what_follows(step), lambda *given: None)


def what_follows(step: type[Step]) -> str:
    """Return the name of the method that executes a step."""
    return "closed" if issubclass(step, Poll) else "chosen" if issubclass(step, Choice) else "run"
