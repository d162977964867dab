"""`cutpurse ladder` and `match list` from a database file; the same from a server is in test_ladder_service."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import add_version, result
from tests.typed import run as cutpurse


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with two ladders, and three matches of Greed for two that are estimated."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "league.db"
    with Store(path) as store:
        for name in ("duel", "other"):
            store.write(ensure_ladder, NewLadder(name, game="greed", seats=2, rating=TrueSkill(draw_probability=0.05)))
        ann = add_version(store, "ann", "sneak", "1.0")
        bob = add_version(store, "local", "thug", "2")
        for number in range(3):
            store.submit(result(f"match{number}", [ann, bob], ladder="duel")).result()
        store.write(put_estimates, store.run(ladder_results, "duel").estimates(), datetime(2026, 11, 21, tzinfo=UTC))
    return path


def test_ladders_are_listed(league: Path) -> None:
    run = cutpurse("ladder", "list", "--db", league)
    assert run.exit_code == 0
    assert [line.split()[:4] for line in run.stdout.splitlines()[1:]] == [
        ["duel", "greed", "2", "3"],
        ["other", "greed", "2", "0"],
    ]
    listed = json.loads(cutpurse("ladder", "list", "--db", league, "--json").stdout)
    assert [(row["ladder"], row["matches"], row["private"]) for row in listed] == [
        ("duel", 3, False),
        ("other", 0, False),
    ]


def test_a_ladder_is_made_for_a_class(tmp_path: Path) -> None:
    students = [f"s{number:02}" for number in range(1, 31)]
    (tmp_path / "class.csv").write_text("owner,label\n" + "".join(f"{name},Label\n" for name in students), "utf-8")
    (tmp_path / "half.csv").write_text("owner\n" + "\n".join(students[:15]), "utf-8")
    (tmp_path / "gap.csv").write_text("owner,label\ns01,One\n,Two\n", "utf-8")
    to = ("--db", tmp_path / "league.db")

    def owners() -> list[str]:
        (row,) = json.loads(cutpurse("ladder", "list", *to, "--json").stdout)
        return list(row["owners"])

    create = ("ladder", "create", "class", "--game", "greed")
    gap = cutpurse(*create, "--class", tmp_path / "gap.csv", *to)
    assert (gap.exit_code, gap.stderr) == (2, f"cutpurse: {tmp_path}/gap.csv, line 3: it names no owner\n")
    assert cutpurse(*create, "--class", tmp_path / "no.csv", *to).exit_code == 4
    made = cutpurse(*create, "--private", "--owner", "teacher", "--class", tmp_path / "class.csv", *to)
    assert (made.exit_code, made.stderr) == (0, "ladder class is made\n")
    assert owners() == ["teacher", *students]
    change = ("ladder", "change", "class", "--class", tmp_path / "half.csv")
    assert cutpurse(*change, *to).exit_code == 0
    assert owners() == students[:15]
    assert "--owner or --class, --any-owner, or" in cutpurse(*change, "--add-owner", "zoe", *to).stderr
    both = cutpurse("ladder", "create", "--from", tmp_path / "x.toml", "--class", tmp_path / "half.csv", *to)
    assert "--class is for one ladder; the ladders of --from FILE have owners = [...]" in both.stderr


def test_rankings_as_a_table_a_document_and_a_sheet(league: Path) -> None:
    table = cutpurse("ladder", "rankings", "duel", "--db", league)
    assert [line.split()[:2] for line in table.stdout.splitlines()[1:]] == [["-", "ann/sneak:1.0"], ["-", "thug:2"]]
    assert table.stdout.count("not placed yet") == 2
    assert table.stderr == (
        "ratings are from all results up to board 3 of 3; intervals and ranks hold with a probability of 95 %\n"
    )
    document = json.loads(cutpurse("ladder", "rankings", "duel", "--db", league, "--json").stdout)
    first, second = document["rankings"]
    assert (first["owner"], first["bot"], first["version"], first["place"]) == ("ann", "sneak", "1.0", None)
    assert first["low"] < first["rating"] < first["high"]
    assert (document["boards"], document["estimated"], document["placed"]) == (3, 3, 0)
    sheet = cutpurse("ladder", "rankings", "duel", "--db", league, "--csv").stdout_bytes
    assert sheet.count(b"\r\n") == sheet.count(b"\n") == 3
    rows = list(csv.DictReader(io.StringIO(sheet.decode(), newline="")))
    assert [(row["place"], row["owner"], float(row["rating"])) for row in rows] == [
        ("", "ann", first["rating"]),
        ("", "local", second["rating"]),
    ]


def test_the_labels_of_a_class_stand_in_the_sheet_of_marks(league: Path) -> None:
    words = ("ladder", "rankings", "duel", "--db", league)
    Path("class.csv").write_text("\ufeffOwner;Label\r\nzoe;Zoë Zander\r\nann;Ann Archer\r\n", encoding="utf-8")
    run = cutpurse(*words, "--csv", "--class", "class.csv")
    rows = list(csv.DictReader(io.StringIO(run.stdout_bytes.decode(), newline="")))
    assert [(row["owner"], row["bot"], row["label"], row["matches"]) for row in rows] == [
        ("ann", "sneak", "Ann Archer", "3"),
        ("local", "thug", "", "3"),
        ("zoe", "", "Zoë Zander", ""),  # who has no bot has no mark, and is in the sheet all the same
    ]
    plain = list(csv.DictReader(io.StringIO(cutpurse(*words, "--csv").stdout_bytes.decode(), newline="")))
    assert [{**row, "label": ""} for row in plain] == [{**row, "label": ""} for row in rows[:2]]
    run = cutpurse(*words, "--class", "class.csv")
    assert (run.exit_code, "--class adds labels to the sheet of --csv" in run.stderr) == (2, True)
    run = cutpurse(*words, "--csv", "--class", "classes.csv")
    assert (run.exit_code, "no file classes.csv with a class" in run.stderr) == (4, True)


def test_the_first_of_the_rankings(league: Path) -> None:
    table = cutpurse("ladder", "rankings", "duel", "--db", league, "--limit", 1)
    assert [line.split()[:2] for line in table.stdout.splitlines()[1:]] == [["-", "ann/sneak:1.0"]]
    run = cutpurse("ladder", "rankings", "duel", "--db", league, "--limit", 0)
    assert run.exit_code == 2
    assert "--limit" in run.stderr


def test_rankings_that_are_estimated_have_ranks_and_say_from_what(league: Path) -> None:
    with Store(league) as store:
        ann, bob = add_version(store, "ann", "sneak", "1.0"), add_version(store, "local", "thug", "2")
        for number in range(30):
            seated = [ann, bob] if number % 3 else [bob, ann]
            store.submit(result(f"more{number}", seated, ladder="duel")).result()
        store.write(put_estimates, store.run(ladder_results, "duel").estimates(), datetime(2026, 11, 22, tzinfo=UTC))
        new = add_version(store, "cid", "new", "1")
        store.submit(result("later", [add_version(store, "ann", "sneak", "1.0"), new], ladder="duel")).result()
    run = cutpurse("ladder", "rankings", "duel", "--db", league)
    assert run.stderr == (
        "ratings are from all results up to board 33 of 34; intervals and ranks hold with a probability of 95 %\n"
    )
    head, *rows = [line.split() for line in run.stdout.splitlines()]
    assert head[:4] == ["place", "rank", "bot", "rating"]
    assert [row[:3] for row in rows[:2]] == [["1", "1", "ann/sneak:1.0"], ["2", "2", "thug:2"]]
    assert "provisional" not in run.stdout  # from 30 boards on no place is
    assert rows[2] == ["-", "cid/new:1", "1", "0", "0", "2", "not", "placed", "yet"]
    document = json.loads(cutpurse("ladder", "rankings", "duel", "--db", league, "--json").stdout)
    assert [(row["best"], row["worst"], row["estimated"]) for row in document["rankings"]] == [
        (1, 1, 33),
        (2, 2, 33),
        (None, None, None),
    ]
    sheet = cutpurse("ladder", "rankings", "duel", "--db", league, "--csv").stdout
    assert [(row["best"], row["worst"]) for row in csv.DictReader(io.StringIO(sheet, newline=""))] == [
        ("1", "1"),
        ("2", "2"),
        ("", ""),
    ]


def test_a_step_says_why_it_was_made(league: Path) -> None:
    run = cutpurse("ladder", "history", "duel", "local/thug", "--db", league, "--explain")
    assert run.exit_code == 0
    assert run.stdout.splitlines()[0].split() == ["number", "match", "version", "why"]
    last = run.stdout.splitlines()[-1]
    assert last.split()[:3] == ["1", "match0", "2"]
    assert re.search(r"-\d\.\d\d for 2nd of 2: behind ann/sneak:1.0 \(50 % likely\)$", last)
    document = json.loads(cutpurse("ladder", "history", "duel", "ann/sneak", "--db", league, "--json").stdout)
    newest, *_, oldest = document["steps"]
    ((one,), (other,)) = (newest["opponents"], oldest["opponents"])
    assert (one["owner"], one["bot"], one["version"], one["outcome"]) == ("local", "thug", "2", "ahead")
    assert other["likely"] == pytest.approx(0.5)
    assert one["likely"] > 0.6
    assert (newest["matches"], oldest["matches"]) == (["match2"], ["match0"])


def test_matches_come_in_pages(league: Path) -> None:
    first = cutpurse("match", "list", "--db", league, "--limit", 2)
    assert [line.split()[0] for line in first.stdout.splitlines()[1:]] == ["match2", "match1"]
    assert first.stderr == "there are more: --before 2\n"
    rest = cutpurse("match", "list", "--db", league, "--limit", 2, "--before", 2)
    assert ([line.split()[0] for line in rest.stdout.splitlines()[1:]], rest.stderr) == (["match0"], "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ladder", "rankings", "dule"], 4, "called 'dule' here (did you mean 'duel'?); there are: duel, other"),
        (["ladder", "rankings", "d\x1b[31m" * 2_000], 4, "no ladder is called 'd?[31m"),
        (["ladder", "rankings", "duel", "--csv", "--json"], 2, "--csv and --json: name one of them"),
        (["ladder", "list", "--server", "127.0.0.1:1"], 2, "--db reads a database"),
        (["match", "list", "--limit", "0"], 2, "--limit 0: it is a number from 1"),
        (["match", "list", "--limit", "-5"], 2, "--limit -5: it is a number from 1"),
        (["match", "list", "--ladder", "🂡"], 4, "no ladder is called '🂡' here; there are: duel, other"),
    ],
)
def test_what_is_wrong_is_told(league: Path, arguments: list[str], code: int, said: str) -> None:
    run = cutpurse(*arguments, "--db", league)
    assert (run.exit_code, run.stdout) == (code, "")
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert len(run.stderr) < 300


def test_no_database(tmp_path: Path) -> None:
    run = cutpurse("ladder", "list", "--db", tmp_path / "none.db")
    assert (run.exit_code, "none.db: it does not exist" in run.stderr) == (4, True)
