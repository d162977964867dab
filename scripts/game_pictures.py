"""The script that draws the pictures of the games in a minute: docs/pictures/GAME-1.svg to GAME-3.svg.

    python -m scripts.game_pictures

Each is the table of one match of house bots, with all cards open, just after something that the text speaks of. A test
compares the pictures with what this script draws.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cutpurse.engine.record import read_record
from cutpurse.page.match_view.picture import picture
from cutpurse.page.match_view.replay_path import Moment, Replayed
from cutpurse.sdk.local import play
from tests.roots import CHECKOUT

__all__ = ["MOMENTS", "PICTURES", "pictures_of"]

PICTURES: Final = CHECKOUT / "docs" / "pictures"
NAMES: Final = ("Ann", "Bob", "Cid", "Dan")
EARLIEST: Final = 14  # moments, so that something lies on the table
MOMENTS: Final = {  # what happened just before, as the log says it
    "greed": (r"plays", r"goes on", r"stops"),
    "steal_and_plunder": (r"forms a pack", r"attacks", r"wins the battle"),
    "stolen_treasure": (r"buries", r"stakes", r"the coin falls"),
    "szmal": (r"reveals", r"pays", r"gives up|puts markers"),
    "bag_o_loot": (r"opens a set", r"steals set", r"bags set"),
}


def pictures_of(game: str) -> list[tuple[str, str]]:
    """Return the pictures of a game, each with the sentence about what happened just before."""
    moments = _moments(game)
    pictures, at = [], EARLIEST
    for pattern in MOMENTS[game]:
        at, text = next(
            (moment.index, line.text)
            for moment in moments[at:]
            for line in moment.frame.lines
            if line.weight == "act" and re.search(rf"^(seat \d )?({pattern})", line.text)
        )
        pictures.append((picture(moments[at].frame), _named(text)))
    return pictures


def _moments(game: str) -> list[Moment]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "match.jsonl"
        play(game, ["greedy"] * len(NAMES), seed=7, record=file)
        replayed = Replayed(read_record(file.read_text(encoding="utf-8")), NAMES)
    return list(replayed.moments(None, 0, 400))


def _named(text: str) -> str:
    return re.sub(r"seat (\d)", lambda match: NAMES[int(match[1])], text)


def main() -> None:
    """Draw all pictures, and print what happened before each."""
    for game in MOMENTS:
        for number, (drawn, text) in enumerate(pictures_of(game), 1):
            file = PICTURES / f"{game}-{number}.svg"
            file.write_text(drawn, encoding="utf-8")
            print(f"{file.name}: {text}")


if __name__ == "__main__":
    main()
