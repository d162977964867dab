"""Processes that write results without end, and say the ID of each match as soon as its result is acknowledged."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from cutpurse.leaderboard import leases
from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError
from cutpurse.leaderboard.results import StoreOutcome
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, PLAYERS, prepare, random_result
from tests.leaderboard.test_announced import announcement

__all__ = ["play_as_an_arena", "write", "write_through_trouble"]

Say = Callable[[str], None]

AT_ONCE: Final = 30  # results that are submitted together
LEASE_S: Final = 1.0  # of an arena, and the time before another takes a ladder that it does not prefer
RENEW_S: Final = 0.3


def write(say: Say, database: str, number: int) -> None:
    """Write results to a database, from a number on."""
    store = Store(database)
    versions = prepare(store)
    while True:
        results = [random_result(n, versions) for n in range(number, number + AT_ONCE)]
        futures = [store.submit(result) for result in results]
        for result, future in zip(results, futures, strict=True):
            future.add_done_callback(partial(_say_match, say, result.match))
        for future in futures:
            future.result()
        number += AT_ONCE


def _say_match(say: Say, match: str, future: Future[StoreOutcome]) -> None:
    future.result()
    say(match)


def write_through_trouble(say: Say, database: str, number: int) -> None:
    """Write results as `write` does, and submit each result again whose writing fails."""
    store = Store(database)
    versions = prepare(store)
    while True:
        waiting = set(range(number, number + AT_ONCE))
        while waiting:
            futures = {n: store.submit(random_result(n, versions)) for n in sorted(waiting)}
            for n, future in futures.items():
                try:
                    future.result()
                except LedgerCorrupt:
                    raise
                except StoreError:  # it is submitted once more
                    continue
                waiting.discard(n)
                say(f"m{n}")
        number += AT_ONCE


def play_as_an_arena(say: Say, database: str, own: str, number: int) -> None:
    """Announce and end matches on the ladders that this arena has leased, and leave two of each round open for a while.

    Args:
        say: Says "begun" and `number`, and later the ladder and the ID of each match that was acknowledged.
        database: Address of the league.
        own: Ladder that this arena prefers.
        number: Number of its first match.
    """
    leases.LEASE_S = leases.DELAY_S = LEASE_S  # type: ignore[misc]  # in this process only
    store = None
    while store is None:
        with suppress(StoreError):  # another arena opens it at this moment, and takes long on a busy machine
            store = ArenaStore(database, own, games=["greed", "szmal"], preferred=[own])
    say(f"begun {number}")
    renewed = -1.0
    ladders: list[str] = []
    while True:
        if time.monotonic() - renewed > RENEW_S:
            try:
                tended = store.tend(DAWN + timedelta(days=1))
            except StoreError:
                continue
            renewed, ladders = tended.began_at, [*tended.epochs]
        results = [
            replace(random_result(n, PLAYERS), ladder=ladder)
            for at, ladder in enumerate(ladders)
            for n in range(number + 9 * at, number + 9 * at + 9)
        ]
        number += len(results)
        futures = [(store.announce(announcement(result)), store.submit(result)) for result in results[:-2]]
        left_open = [store.announce(announcement(result)) for result in results[-2:]]
        for result, (_, future) in zip(results[:-2], futures, strict=True):
            try:
                future.result()
            except LedgerCorrupt:
                raise
            except (InvalidEntry, StoreError):
                continue
            say(f"{result.ladder} {result.match}")
        for result, announced in zip(results[-2:], left_open, strict=True):
            if announced.exception() is None:  # it is over later, unless this arena is lost
                store.submit(result)
