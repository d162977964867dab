"""A fake league whose answers a test defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cutpurse.wire import league
from cutpurse.wire.league import League

__all__ = ["play_league"]


def play_league(monkeypatch: pytest.MonkeyPatch, **answers: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
    """Let commands use a fake league with answers by name of the call; return the addresses they connect to."""
    dialled: list[tuple[Any, ...]] = []

    @contextmanager
    def league_at(*where: Any) -> Iterator[League]:
        dialled.append(where)
        yield League(lambda name, request: answers[name](request))

    monkeypatch.setattr(league, "league_at", league_at)
    return dialled
