"""The golden messages are what the server of today says, and can be read and written by anybody.

Renewed by `pytest tests/languages/test_golden.py --update-pages`.
"""

from __future__ import annotations

import re
import shutil

import pytest
from google.protobuf import json_format

from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2, game_pb2
from tests.languages.golden import FOLDER, TYPES, choice, conversation, files_of

RENEW = "if it is meant: pytest tests/languages/test_golden.py --update-pages"


@pytest.mark.parametrize("game", GAMES)
async def test_they_are_what_is_said_today(game: str, pytestconfig: pytest.Config) -> None:
    made = dict(files_of(game, await conversation(game)))
    if pytestconfig.getoption("--update-pages"):
        shutil.rmtree(FOLDER / game, ignore_errors=True)
        (FOLDER / game).mkdir(parents=True)
        for name, content in made.items():
            (FOLDER / name).write_bytes(content)
    kept = {str(file.relative_to(FOLDER)): file.read_bytes() for file in sorted((FOLDER / game).iterdir())}
    assert kept.keys() == made.keys(), RENEW
    assert [name for name in made if kept[name] != made[name]] == [], RENEW


@pytest.mark.parametrize("game", GAMES)
def test_bytes_and_json_are_the_same_messages(game: str) -> None:
    for number, (name, kind) in enumerate(TYPES.items(), 1):
        file = FOLDER / game / f"{number:02}_{name}"
        content = file.with_suffix(".binpb").read_bytes()
        message = kind.FromString(content)
        assert message.SerializeToString(deterministic=True) == content
        assert json_format.Parse(file.with_suffix(".json").read_text(encoding="utf-8"), kind()) == message


@pytest.mark.parametrize("game", GAMES)
def test_with_nothing_but_the_files_the_rule_gives_the_answers(game: str) -> None:
    read = {
        name: kind.FromString((FOLDER / game / f"{number:02}_{name}.binpb").read_bytes())
        for number, (name, kind) in enumerate(TYPES.items(), 1)
    }
    catalogue, asked, answers = (read[name] for name in ("catalogue", "decisions", "answers"))
    assert isinstance(catalogue, game_pb2.GetGameResponse)
    assert isinstance(asked, arena_pb2.PlayResponse)
    assert isinstance(answers, arena_pb2.PlayRequest)
    chosen = [choice(decision, catalogue.catalogue) for decision in asked.decisions]
    assert chosen == [answer.option for answer in answers.answers]
    assert len(set(chosen)) > 1
    assert [answer.decision for answer in answers.answers] == [decision.decision for decision in asked.decisions]


def test_the_page_beside_them_tells_every_file() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\d\d)_(\w+)` \| `(\w+)` \| (server|bot) \| .+ \|$", page, re.MULTILINE)
    told = [(f"{number:02}", name, kind.DESCRIPTOR.name) for number, (name, kind) in enumerate(TYPES.items(), 1)]
    assert [row[:3] for row in rows] == told
    assert all((who == "server") == kind.endswith("Response") for _, _, kind, who in rows)
