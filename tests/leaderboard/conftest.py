"""Databases for the tests of the leaderboard, of both kinds."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from tests.leaderboard.sample_results import prepare
from tests.postgresql_server import PostgresqlServer

__all__ = ["database", "new_database", "store", "versions"]

hooks_of_parts()  # declares the tables of all parts, which the schema has too


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Return a function that gives the address of a database by a name; it is empty at first."""
    if request.param == "sqlite":
        yield lambda name: str(tmp_path / f"{name}.db")
        return
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    made: dict[str, str] = {}

    def create(name: str) -> str:
        if name not in made:
            made[name] = server.create()
        return made[name]

    yield create
    for address in made.values():
        server.free(address)


@pytest.fixture
def database(new_database: Callable[[str], str]) -> str:
    """Return the address of an empty database."""
    return new_database("ladder")


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """Open a store of that database."""
    with Store(database) as opened:
        yield opened


@pytest.fixture
def versions(store: Store) -> list[Identity]:
    """Create a ladder and twelve bots in the store."""
    return prepare(store)
