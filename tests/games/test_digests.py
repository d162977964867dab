"""The same random matches as before the rules were rewritten: options, views, events, saves and places."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from tests.games.digests import MATCHES, digest_of_match, stored_digests

STORED = stored_digests()


@pytest.mark.parametrize("game", GAMES)
def test_random_matches_are_what_they_were(game: str, soak: bool) -> None:
    played = [digest_of_match(GAMES[game], number) for number in range(MATCHES if soak else 6)]
    assert played == STORED[game][: len(played)]


def test_every_game_has_digests_that_differ() -> None:
    assert STORED.keys() == GAMES.keys()
    assert {len(set(digests)) for digests in STORED.values()} == {MATCHES}
