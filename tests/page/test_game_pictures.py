"""The pictures of the games in a minute are those that the script draws, of what their captions say."""

from __future__ import annotations

import pytest

from scripts.game_pictures import MOMENTS, PICTURES, pictures_of
from tests.properties.random_play import EVERY_GAME


def test_every_game_has_pictures() -> None:
    assert set(MOMENTS) == set(EVERY_GAME)


@pytest.mark.parametrize("game", MOMENTS)
def test_the_pictures_of_a_game_are_up_to_date(game: str) -> None:
    """Renew them by `python -m scripts.game_pictures`, and see whether the captions still say what they show."""
    for number, (drawn, _) in enumerate(pictures_of(game), 1):
        assert (PICTURES / f"{game}-{number}.svg").read_text(encoding="utf-8") == drawn
