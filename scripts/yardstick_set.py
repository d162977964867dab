"""Make a new set of a yardstick: plays its boards with `random` and `expert`, and writes the file of the set.

    CUTPURSE_PLAYOUTS=20 .venv/bin/python -m scripts.yardstick_set NAME --boards 48 --into FOLDER

Every board is a line of FOLDER/random.jsonl or FOLDER/expert.jsonl, and the same command goes on after the last line. A
file of a set that exists is never written again: change `GROUPS` and take another name.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from cutpurse.games import game_named
from cutpurse.lab.yardstick.yardstick_board import BoardGroup, YardstickTable
from cutpurse.sdk.bot import load_bot
from tests.roots import CHECKOUT

SETS: Final = CHECKOUT / "sdk/cutpurse/lab/yardstick/sets"
QUICK: Final = 24  # boards of each group
PROBES: Final = 2  # boards of each group that show how the opponents play
STRONG, MIXED = ["greedy"], ["greedy", "greedy", "random"]
GROUPS: Final[list[dict[str, Any]]] = [
    {"game": "greed", "field": STRONG, "luck": 1},
    {"game": "greed", "field": MIXED, "luck": 1},
    {"game": "szmal", "field": STRONG, "luck": 1},
    {"game": "szmal", "field": MIXED, "luck": 1},
    {"game": "stolen_treasure", "field": STRONG, "luck": 1},
    {"game": "stolen_treasure", "field": MIXED, "luck": 1},
    {"game": "steal_and_plunder", "field": [*STRONG, *STRONG], "luck": 1},
    {"game": "steal_and_plunder", "field": MIXED, "luck": 1},
    {"game": "bag_o_loot", "field": [*STRONG, *STRONG, *STRONG], "luck": 0},
    {"game": "bag_o_loot", "field": [*STRONG, *STRONG, *STRONG], "luck": 0, "settings": {"advanced": True}},
]


def groups() -> list[dict[str, Any]]:
    """Return the groups with the rules of this version."""
    return [{"settings": {}, **group, "rules": game_named(group["game"]).words.version} for group in GROUPS]


def play(name: str, bot: str, boards: int, file: Path) -> list[dict[str, Any]]:
    """Play the boards that the file lacks, and return all: the points and the digest of the answers of each."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    table = YardstickTable(name, tuple(BoardGroup.from_json(group) for group in groups()), load_bot(bot), ())
    with file.open("a") as out:
        for number in range(len(rows), boards * len(GROUPS)):
            board = table.board(number)
            if board.faults:
                sys.exit(f"{bot} failed on board {number}: {board.failure}")
            rows.append({"points": board.points, "answers": board.answers})
            out.write(json.dumps(rows[-1]) + "\n")
            out.flush()
    return rows[: boards * len(GROUPS)]


def by_group(rows: list[dict[str, Any]]) -> list[list[float]]:
    """Return the points by group and board."""
    return [[row["points"] for row in rows[group :: len(GROUPS)]] for group in range(len(GROUPS))]


def main() -> None:
    """Measure the ends of the scale and write the set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--boards", type=int, default=48, help="boards of each group")
    parser.add_argument("--into", type=Path, required=True, help="folder for the boards played")
    options = parser.parse_args()
    file = SETS / f"{options.name}.json"
    if file.exists():
        sys.exit(f"{file} exists, and a set never changes: take another name")
    options.into.mkdir(exist_ok=True)
    zero, hundred = (
        play(options.name, bot, options.boards, options.into / f"{bot}.jsonl") for bot in ("random", "expert")
    )
    playouts = os.environ.get("CUTPURSE_PLAYOUTS", "")
    document = {
        "name": options.name,
        "made_with": version("cutpurse"),
        "quick": QUICK,
        "groups": groups(),
        "probes": [row["answers"] for row in zero[: PROBES * len(GROUPS)]],
        "zero": {"bot": "random", "points": by_group(zero)},
        "hundred": {"bot": "expert", "playouts": playouts, "points": by_group(hundred)},
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
