"""Databases for the tests of notices, of both kinds."""

from tests.leaderboard.conftest import database, new_database

__all__ = ["database", "new_database"]
