"""Tournaments written down in TOML: what can be said is understood, and what cannot is told where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.lab.tournament.tournament_file import (
    Entrant,
    ServerTournament,
    check_rules,
    read_server_tournament,
    read_tournament,
)
from cutpurse.v1 import game_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound

WHOLE = """
name = "spring cup"
game = "greed"
seats = 3
seed = 7
settings = { specials = "none" }
boards = "plain"
deals = 2
bots = ["random", "bots/my_bot.py:Thief", "/there/other.py", "exec:node bot.py", { name = "mine", bot = "my_bot.py" }]

[format]
kind = "gauntlet"
challenger = "mine"
meetings = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cup.toml"


def test_everything_that_can_be_said(file: Path) -> None:
    file.write_text(WHOLE, encoding="utf-8")
    cup = read_tournament(file)
    assert (cup.name, cup.game, cup.seats, cup.seed, cup.boards, cup.deals) == (
        "spring cup",
        "greed",
        3,
        "7",
        "plain",
        2,
    )
    assert cup.settings == {"specials": "none"}
    assert cup.bots == (
        Entrant("random", "random"),
        Entrant("bots/my_bot.py:Thief", f"{file.parent}/bots/my_bot.py:Thief"),
        Entrant("/there/other.py", "/there/other.py"),
        Entrant("exec:node bot.py", "exec:node bot.py"),
        Entrant("mine", f"{file.parent}/my_bot.py"),
    )
    assert (cup.format.kind, cup.format.numbers, cup.format.challenger) == ("gauntlet", {"meetings": 3}, 4)


def test_what_is_not_said_is_as_usual(file: Path) -> None:
    file.write_text('game = "szmal"\nbots = ["random", "greedy", "first_option", "search"]', encoding="utf-8")
    cup = read_tournament(file)
    assert (cup.name, cup.seats, cup.seed, cup.boards, cup.deals) == ("cup", 4, "0", "rotation", 1)
    assert (cup.format.kind, cup.format.numbers) == ("round_robin", {"meetings": 1})
    assert read_tournament(file, "plain").boards == "plain"


MANY = ", ".join(f"{{ name = 'b{number}', bot = 'random' }}" for number in range(65))
BOTS = "game = 'greed'\nseats = 2\nbots = ['random', 'greedy', 'search', 'first_option']\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no game"),
        ("game = 'poker'", "poker"),
        ("game = 'greed'", "has no bots; it is to have: bots = ["),
        ("game = 'greed'\nbots = 'random'", "has no bots"),
        ("game = 'greed'\nbots = [3]", "bot 1 is 3; it is a text, or {"),
        ("game = 'greed'\nbots = [{ name = 'x' }]", "bot 1 has no bot"),
        ("game = 'greed'\nbots = [{ bot = 'x', at = 3 }]", "bot 1: there is no key 'at'; there are: name, bot"),
        (
            "game = 'greed'\nbots = [\"a\\nb\"]",
            "bot 1 is called 'a\\nb'; a name has 1 to 64 characters and no control characters",
        ),
        (
            "game = 'greed'\nbots = ['random', 'random']",
            "bot 2: 'random' is there twice; give one another name: {",
        ),
        ("game = 'greed'\nseats = 3\nbots = ['random', 'greedy']", "has 2 bots for 3 seats"),
        ("game = 'greed'\nseats = 99\nbots = ['random']", "99"),
        ("game = 'greed'\nseats = true\nbots = ['random']", "seats is True; it is a number from 2"),
        ("game = 'greed'\nsettings = { nothing = 3 }\nbots = ['random']", "nothing"),
        ("game = 'greed'\nsettings = { specials = [] }\nbots = ['random']", "settings.specials is []"),
        (f"{BOTS}boards = 'duplicate'", "boards is 'duplicate'; it is one of: rotation, plain"),
        (f"{BOTS}deals = 0", "deals is 0; it is a number from 1 to 100,000"),
        (f"{BOTS}deal = 3", "there is no key 'deal'; is deals meant?"),
        (f"{BOTS}format = 3", "format is 3; it is a table"),
        (
            f"{BOTS}[format]\nkind = 'knockout'",
            "format.kind is 'knockout'; it is one of: round_robin, gauntlet, swiss, groups, elim",
        ),
        (f"{BOTS}[format]\nrounds = 3", "there is no key 'format.rounds'; there are: format.kind, format.meetings"),
        (f"{BOTS}[format]\nkind = 'swiss'\nrounds = 'many'", "rounds is 'many'; it is a number from 1"),
        (
            f"{BOTS}[format]\nkind = 'gauntlet'\nchallenger = 'me'",
            "challenger is 'me', which is none of the bots:",
        ),
        (f"{BOTS}[format]\nkind = 'groups'\ngroups = 3", "4 bots in 3 groups leave 1 in one, and a match has 2"),
        (f"{BOTS}[format]\nkind = 'groups'\nadvance = 3", "advance is 3, and a group has only 2 bots"),
        (
            f"{BOTS.replace('2', '4', 1)}[format]\nkind = 'groups'\ngroups = 1\nadvance = 2",
            "2 of each of 1 groups are too few for 4 seats",
        ),
        (f"{BOTS}[format]\nkind = 'elimination'\nbest_of = 4", "best_of is 4; it is an odd number from 1 to 99"),
        (f"{BOTS}[format]\nkind = 'elimination'\nbest_of = 101", "best_of is 101"),
        (f"{BOTS}[format]\nkind = 'elimination'\nfill = ['random']", "the other seats, 0 here"),
        (
            f"{BOTS.replace('2', '3', 1)}[format]\nkind = 'elimination'",
            "fill is []; two bots play a duel, and fill is a list of the bots in the other seats, 1 here",
        ),
        (
            f"{BOTS.replace('2', '3', 1)}[format]\nkind = 'elimination'\nfill = ['me']",
            "fill has 'me'; it has bots of the list, each once",
        ),
        (f"deals = 2\n{BOTS}[format]\nkind = 'double_elimination'", "format.best_of sets the boards of a duel"),
        (
            f"game = 'greed'\nseats = 2\nbots = [{MANY}]\n[format]\nkind = 'double_elimination'",
            "65 bots for a bracket; it has 2 to 64",
        ),
        (f"{BOTS}[format]\nbest_of = 3", "best_of is for duels, which round_robin has on a server only"),
        ("game = ", "is no TOML"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(file: Path, text: str, said: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CutpurseError) as refused:
        read_tournament(file)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="it does not exist"):
        read_tournament(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_tournament(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no TOML"):
        read_tournament(tmp_path / "bytes.toml")


def test_a_byte_order_mark_is_no_part_of_it(file: Path) -> None:
    file.write_text(WHOLE, encoding="utf-8-sig")
    assert read_tournament(file).name == "spring cup"


def test_a_knock_out_names_the_bots_that_only_fill_seats(file: Path) -> None:
    text = BOTS.replace("2", "3", 1) + "[format]\nkind = 'double_elimination'\nbest_of = 5\nfill = ['greedy']\n"
    file.write_text(text, encoding="utf-8")
    cup = read_tournament(file)
    assert (cup.format.kind, cup.format.numbers, cup.format.fill) == ("double_elimination", {"best_of": 5}, (1,))
    assert cup.as_json()["format"] == {"kind": "double_elimination", "best_of": 5, "fill": ["greedy"]}


def test_a_tournament_of_a_server_in_a_file(file: Path) -> None:
    file.write_text("ladder = 'class'\nbots = ['ann/sneak', 'bob/thug:2']\n", encoding="utf-8")
    bots = ("ann/sneak", "bob/thug:2")
    assert read_server_tournament(file) == ServerTournament("class", "round_robin", 1, bots, 0)
    text = "ladder = 'class'\ntop = 8\n[format]\nkind = 'double_elimination'\nbest_of = 3\n"
    file.write_text(text, encoding="utf-8")
    assert read_server_tournament(file) == ServerTournament("class", "double_elimination", 3, (), 8)


BOTH = """
name = "spring cup"
ladder = "class"
game = "greed"
seats = 2
settings = { specials = "none" }
boards = "plain"
bots = ["ann/sneak", "bob/thug.py"]
[format]
kind = "elimination"
best_of = 3
"""


def test_one_file_is_read_by_run_and_by_start(file: Path) -> None:
    file.write_text(BOTH, encoding="utf-8")
    played = read_tournament(file)
    assert (played.name, played.ladder, played.game, played.boards) == ("spring cup", "class", "greed", "plain")
    bots = ("ann/sneak", "bob/thug.py")
    assert tuple(bot.bot for bot in played.bots) == bots  # of a server, and so no paths
    rules = {"game": "greed", "seats": 2, "settings": {"specials": "none"}}
    assert read_server_tournament(file) == ServerTournament("class", "elimination", 3, bots, 0, rules)
    file.write_text(BOTH.replace('ladder = "class"', "").replace('boards = "plain"', ""), encoding="utf-8")
    assert read_tournament(file, "class").boards == "plain"
    assert read_tournament(file).boards == "rotation"
    file.write_text("ladder = 'class'\nbots = ['ann/sneak', 'bob/thug']", encoding="utf-8")
    with pytest.raises(UsageError, match="has no game; `tournament run` needs it on a ladder too"):
        read_tournament(file)
    file.write_text(BOTH.replace("bots", "top = 3 #"), encoding="utf-8")
    with pytest.raises(UsageError, match="only `cutpurse event start` reads top; remove it"):
        read_tournament(file)


def test_a_ladder_has_the_rules_of_the_file() -> None:
    settings = [game_pb2.Setting(name="specials", value="none")]
    ladder = ladder_pb2.LadderDefined(name="class", game="greed", seats=2, settings=settings)
    check_rules({"game": "greed", "seats": 2, "settings": {"specials": "none"}}, ladder)
    check_rules({}, ladder)
    with pytest.raises(UsageError, match="seats is 3, and ladder class has 2"):
        check_rules({"game": "greed", "seats": 3, "settings": {}}, ladder)
    with pytest.raises(UsageError, match=r"settings is \{\}, and ladder class has \{'specials': 'none'\}"):
        check_rules({"game": "greed", "seats": 2, "settings": {}}, ladder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("top = 3", "has no ladder, where a server plays; without one, cutpurse tournament run plays it"),
        ("ladder = ''", "has no ladder"),
        ("ladder = 'class'", "is to have bots = ['ann/sneak', 'bob/thug'] or top = 8: one of them"),
        ("ladder = 'class'\ntop = 3\nbots = ['a']", "one of them"),
        ("ladder = 'class'\nbots = [3]", "bot 1 is 3; it is a text"),
        ("ladder = 'class'\nbots = [{name = 'x', bot = 'a/b'}]", "bot 1: only `tournament run` renames bots"),
        ("ladder = 'class'\ntop = 0", "top is 0; it is a number from 1"),
        ("ladder = 'class'\nladders = 3", "there is no key 'ladders'; is ladder meant?"),
        ("ladder = 'class'\ntop = 3\nformat = 3", "format is 3; it is a table"),
        ("ladder = 'class'\ntop = 3\n[format]\nkind = 'swiss'", "kind is 'swiss'; a server plays elimination, round"),
        ("ladder = 'class'\ntop = 3\n[format]\nbest_of = 'x'", "best_of is 'x'; it is a number from 1 to 100,000"),
        ("ladder = 'class'\ntop = 3\n[format]\nbest = 3", "there is no key 'format.best'; is format.best_of meant?"),
        ("ladder = 'class'\ntop = 3\nseed = 1", "only `cutpurse tournament run` reads seed; remove it"),
        ("ladder = 'class'\ntop = 3\nluck_adjusted = true", "only `cutpurse tournament run` reads luck_adjusted"),
        ("ladder = 'class'\ntop = 3\n[format]\nmeetings = 2", "only `cutpurse tournament run` reads format.meetings"),
        ("ladder = 'class'\ntop = 3\nboards = 'rotation'", "boards is 'rotation'; on a ladder they are 'plain'"),
        ("ladder = 'class'\ntop = 3\nseats = 3", "has seats but no game; leave it out, or name the game too"),
        ("ladder = 'class'\ntop = 3\ngame = 'chess'", "chess"),
    ],
)
def test_a_file_that_a_server_cannot_play_is_refused_in_one_line(file: Path, text: str, said: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CutpurseError) as refused:
        read_server_tournament(file)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
