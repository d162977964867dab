"""Databases for the tests of signing in, of both kinds."""

from tests.leaderboard.conftest import database, new_database, store

__all__ = ["database", "new_database", "store"]
