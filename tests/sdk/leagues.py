"""A league that answers as a test tells it to, in place of a server's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cutpurse.sdk import league
from cutpurse.sdk.league import League

__all__ = ["play_league"]


def play_league(monkeypatch: pytest.MonkeyPatch, **answers: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
    """Commands ask this league from now on, whose calls are answered by name.  Returns where they have dialled."""
    dialled: list[tuple[Any, ...]] = []

    @contextmanager
    def league_at(*where: Any) -> Iterator[League]:
        dialled.append(where)
        yield League(lambda name, request: answers[name](request))

    monkeypatch.setattr(league, "league_at", league_at)
    return dialled
