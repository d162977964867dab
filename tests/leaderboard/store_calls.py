"""Replace what a store does when it is called with one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cutpurse.leaderboard.store import Store

__all__ = ["replace_call"]


def replace_call(
    monkeypatch: pytest.MonkeyPatch, store: Store, function: Callable[..., Any], instead: Callable[..., Any]
) -> Callable[..., Any]:
    """Let `store.run` and `store.write` call `instead`, on the caller's thread, where they are given `function`.

    Returns:
        What the store did before, to be called without `function`.
    """

    def replaced(really: Callable[..., Any]) -> Callable[..., Any]:
        return lambda called, /, *args, **kwargs: (
            instead(*args, **kwargs) if called is function else really(called, *args, **kwargs)
        )

    before = store.run if function.__module__.startswith("cutpurse.leaderboard.queries") else store.write
    for name in ("run", "write"):
        monkeypatch.setattr(store, name, replaced(getattr(store, name)))
    return lambda *args, **kwargs: before(function, *args, **kwargs)
