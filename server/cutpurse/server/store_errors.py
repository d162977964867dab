"""Leaderboard errors as errors of the command line, with its exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard import errors
from cutpurse.wire.errors import NotFound

__all__ = ["plain_trouble"]


@contextmanager
def plain_trouble() -> Iterator[None]:
    """Convert leaderboard errors in this block to NotFound, UsageError or CutpurseError with the same text."""
    try:
        yield
    except errors.NoSuchEntry as problem:
        raise NotFound(str(problem)) from None
    except errors.InvalidEntry as problem:
        raise UsageError(str(problem)) from None
    except errors.LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
