"""A server with tokens, a private ladder and two inner ones, whose commands run in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from typer.testing import Result

from cutpurse.leaderboard.ladders import create_ladders
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.people.people_ladders import people_ladders
from tests.leaderboard.sample_results import add_version, result
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in
from tests.typed import run_beside

__all__ = ["Hosted", "hosted", "league"]

LADDERS: Final = [
    Ladder("duel", "greed", 2),
    Ladder("class", "greed", 2, terms=LadderTerms(owners=("ann",), is_private=True)),
    *people_ladders(("random", "greedy"), ["greed"]),
]


class Hosted(NamedTuple):
    """A server with tokens and the league in its folder."""

    folder: Path
    tokens: dict[str, str]

    async def typed(self, line: str, who: str = "") -> Result:
        """Run a command, on a thread, since the server runs here."""
        words = line.replace("FOLDER", str(self.folder)).split()
        environment = {"CUTPURSE_TOKEN": self.tokens[who]} if who else {}
        return await run_beside(*words, **environment)


def league(folder: Path) -> dict[str, str]:
    """Make a public, a private and two inner ladders, and a match on each but the private one; return the tokens."""
    tokens = tokens_in(folder / "test.db", "ann", root=("admin", "play", "read"))
    with Store(folder / "test.db") as store:
        store.write(create_ladders, [ladder.kept for ladder in LADDERS], datetime.now(UTC))
        ann, bob = add_version(store, "ann", "sneak", "1"), add_version(store, "bob", "thug", "1")
        person, house = add_version(store, PEOPLE, "person-1", "1"), add_version(store, HOUSE, "people.random", "1")
        store.submit(result("match0000", [ann, bob], ladder="duel")).result()
        played = result("match0001", [person, house], ladder="people.greed.2", is_rated=False, requested_by=PEOPLE)
        store.submit(played).result()
    return tokens


@pytest.fixture
async def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosted]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tokens = league(tmp_path)
    async with running_arena(tmp_path, LADDERS) as arena:
        monkeypatch.setenv("CUTPURSE_SERVER", arena.address)
        yield Hosted(tmp_path, tokens)
