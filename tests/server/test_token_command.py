"""`cutpurse token`: for one owner or a class, from a database that a server may have open."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import new_token, read_token
from tests.typed import run as cutpurse


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; the database is league.db."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTPURSE_DB", "league.db")
    return tmp_path


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where this machine stands."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def entries() -> dict[str, tuple[tuple[str, ...], str]]:
    with Store("league.db") as store:
        return {entry.owner: (entry.scopes, entry.label) for entry in store.run(queries.tokens)}


# -- one owner
def test_a_token_is_printed_once_and_good() -> None:
    run = cutpurse("token", "create", "ann", "--label", "laptop")
    assert run.exit_code == 0
    token = read_token(run.stdout.removesuffix("\n"))
    assert token is not None
    assert f"token {token.id} of ann for league.db, good for play, read; it is not shown again:" in run.stderr
    assert entries() == {"ann": (("play", "read"), "laptop")}
    listed = cutpurse("token", "list")
    assert listed.exit_code == 0
    assert token.id in listed.stdout
    assert token.reveal()[13:] not in listed.output + run.stderr


def test_a_database_that_is_made_is_named_once() -> None:
    said = "database league.db was not there, and is made"
    first = cutpurse("token", "create", "ann", "--json")
    assert first.stderr.splitlines() == [said]
    assert json.loads(first.stdout)["owner"] == "ann"
    assert said not in cutpurse("token", "create", "bob").stderr


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be set here")
@pytest.mark.usefixtures("tokyo")
def test_a_date_is_in_this_machines_zone_as_for_ladders() -> None:
    for given, meant in (
        ("2099-03-01", "2099-02-28T15:00:00+00:00"),
        ("2099-03-01T18:00", "2099-03-01T09:00:00+00:00"),
        ("2099-03-01T18:00+01:00", "2099-03-01T17:00:00+00:00"),
    ):
        run = cutpurse("token", "create", "ann", "--expires", given, "--json")
        assert (run.exit_code, json.loads(run.stdout)["expires"]) == (0, meant)
    run = cutpurse("token", "create", "bob", "--expires", "2099-03-01")
    assert "good for play, read until 2099-03-01 00:00 JST; it is not shown again" in run.stderr
    run = cutpurse("token", "list", "bob")
    assert "2099-03-01 00:00 JST" in run.stdout


@pytest.mark.parametrize("command", [("create", "ann"), ("list",), ("revoke", "3fXq0aZ9")])
def test_a_server_of_the_environment_is_asked_and_no_database_made(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_SERVER", f"unix:{folder}/nobody.sock")
    monkeypatch.setenv("CUTPURSE_TOKEN", new_token().reveal())
    run = cutpurse("token", *command)
    assert (run.exit_code, run.stdout) == (5, ""), run.stderr
    assert f"the server at unix:{folder}/nobody.sock" in run.stderr
    assert not Path("league.db").exists()


def test_a_database_that_is_named_counts_more_than_a_server_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_SERVER", f"unix:{folder}/nobody.sock")
    assert cutpurse("token", "create", "ann", "--db", "league.db").exit_code == 0
    assert "ann" in cutpurse("token", "list", "--db", "league.db").stdout
    both = cutpurse("token", "list", "--db", "league.db", "--server", "127.0.0.1:1")
    assert (both.exit_code, "--db and --server" in both.stderr) == (2, True)


def test_a_token_as_json() -> None:
    run = cutpurse("token", "create", "ann", "--scope", "admin", "--expires", "90d", "--json")
    made = json.loads(run.stdout)
    assert read_token(made.pop("token")) is not None
    assert (made["owner"], made["scopes"], made["state"]) == ("ann", ["admin"], "good")
    expires = datetime.fromisoformat(made["expires"])
    assert timedelta(days=89.9) < expires - datetime.now(UTC) < timedelta(days=90.1)
    assert json.loads(cutpurse("token", "list", "--json").stdout) == [made]


def test_a_token_is_made_for_a_place_which_may_do_nothing_else() -> None:
    run = cutpurse("token", "create", "lab", "--scope", "place", "--json")
    assert run.exit_code == 0, run.stderr
    assert json.loads(run.stdout)["scopes"] == ["place"]


def test_a_token_is_revoked() -> None:
    secret = cutpurse("token", "create", "ann").stdout.strip()
    run = cutpurse("token", "revoke", secret[5:13])
    assert (run.exit_code, run.stdout) == (0, "")
    assert f"token {secret[5:13]} of ann is revoked" in run.stderr
    (row,) = json.loads(cutpurse("token", "list", "ann", "--json").stdout)
    assert row["state"] == "revoked"
    assert "revoked" in cutpurse("token", "list").stdout


def test_tokens_are_listed_by_owner_then_by_date() -> None:
    begins = datetime(2026, 11, 28, tzinfo=UTC)
    with Store("league.db") as store:
        for day, owner in enumerate(("zoe", "ann", "bob", "ann", "zoe")):
            store.write(create_tokens, [NewToken(owner, f"{day}")], begins + timedelta(days=day))
    rows = json.loads(cutpurse("token", "list", "--json").stdout)
    assert [(row["owner"], row["label"]) for row in rows] == [
        *(("ann", "1"), ("ann", "3"), ("bob", "2"), ("zoe", "0"), ("zoe", "4"))
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["create", "Ann"], 2, "the name of an owner is 'Ann'; it can be 1 to 32 of a-z"),
        (["create", "a" * 10_000], 2, "it can be 1 to 32 of a-z"),
        (["create", "<b>ann</b>"], 2, "it can be 1 to 32 of a-z"),
        (["create", "local"], 2, "reserved for bots without a token"),
        (["create", "ann", "--scope", "fly"], 2, "there is no scope 'fly'; there are: admin, place, play, read"),
        (
            ["create", "ann", "--expires", "soon"],
            2,
            "--expires 'soon': it is as 90d, 12h, 2027-03-01 or 2027-03-01T18:00+01:00",
        ),
        (["create", "ann", "--expires", "2020-01-01"], 2, "--expires 2020-01-01: that is in the past"),
        (["create"], 2, "name one OWNER, or a class"),
        (["create", "ann", "--out", "x.csv"], 2, "--from and --out belong together"),
        (["create", "--from", "none.csv", "--out", "x.csv"], 4, "no file none.csv with a class: it does not exist"),
        (["create", "--from", ".", "--out", "x.csv"], 2, ". cannot be read: Is a directory"),
        (["list", "--db", "none.db"], 4, "no database none.db"),
        (["revoke", "nonesuch", "--db", "none.db"], 4, "no database none.db"),
    ],
)
def test_what_is_wrong_is_told_and_leaves_nothing(folder: Path, arguments: list[str], code: int, said: str) -> None:
    run = cutpurse("token", *arguments)
    assert run.exit_code == code
    assert said in run.stderr
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert not list(folder.iterdir())


def test_what_is_not_there_is_told() -> None:
    cutpurse("token", "create", "ann")
    for arguments, said in ((["revoke", "nonesuch"], "no token 'nonesuch'"), (["list", "bob"], "no owner 'bob'")):
        run = cutpurse("token", *arguments)
        assert (run.exit_code, said in run.stderr) == (4, True)


def test_every_command_has_help_with_an_example() -> None:
    for command in ([], ["create"], ["list"], ["revoke"]):
        run = cutpurse("token", *command, "--help")
        assert run.exit_code == 0
        assert "Example: cutpurse token" in run.stdout


# -- a class
def test_a_class_gets_a_file_that_nobody_else_can_read(folder: Path) -> None:
    students = [f"student{number}" for number in range(60)]
    lines = "".join(f'{student},"Seat {number}, Müller"\r\n' for number, student in enumerate(students))
    Path("class.csv").write_text("\ufeffOwner,Label\r\n" + lines, encoding="utf-8")
    before = os.umask(0)
    try:
        run = cutpurse("token", "create", "--from", "class.csv", "--out", "tokens.csv", "--expires", "120d")
    finally:
        os.umask(before)
    assert (run.exit_code, run.stdout) == (0, "")
    assert "60 tokens for league.db are in tokens.csv, which only you can read" in run.stderr
    assert stat.S_IMODE((folder / "tokens.csv").stat().st_mode) == 0o600
    with (folder / "tokens.csv").open(encoding="utf-8", newline="") as file:
        made = list(csv.DictReader(file))
    assert [line["owner"] for line in made] == students
    assert made[7]["label"] == "Seat 7, Müller"  # by which the teacher knows whose line it is
    tokens = [read_token(line["token"]) for line in made]
    assert all(tokens)
    kept = entries()
    assert kept["student7"] == (("play", "read"), "Seat 7, Müller")
    with Store("league.db") as store:
        assert {entry.digest for entry in store.run(queries.tokens)} == {token.digest for token in tokens if token}


def test_a_class_with_semicolons_as_a_spreadsheet_writes_it(folder: Path) -> None:
    Path("class.csv").write_text('\ufeffowner;label\r\nann;"Archer; Ann, A"\r\n', encoding="utf-8")
    run = cutpurse("token", "create", "--from", "class.csv", "--out", "tokens.csv")
    assert run.exit_code == 0
    assert "1 token for league.db is in tokens.csv, which only you can read" in run.stderr
    assert entries() == {"ann": (("play", "read"), "Archer; Ann, A")}
    with (folder / "tokens.csv").open(encoding="utf-8", newline="") as file:
        assert [(line["owner"], line["label"]) for line in csv.DictReader(file)] == [("ann", "Archer; Ann, A")]


def test_a_file_is_not_written_over() -> None:
    Path("class.csv").write_text("owner\nann\n", encoding="utf-8")
    Path("tokens.csv").write_text("dear", encoding="utf-8")
    run = cutpurse("token", "create", "--from", "class.csv", "--out", "tokens.csv")
    assert (run.exit_code, "already exists; name another file" in run.stderr) == (2, True)
    assert Path("tokens.csv").read_text(encoding="utf-8") == "dear"
    assert entries() == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"owner\nann\nBob\n", "class.csv, line 3: the name of an owner is 'Bob'"),
        (b"owner,label\nann\n,nobody\n", "class.csv, line 3: the name of an owner is ''"),
        (b"name\nann\n", "class.csv has no column owner; its first line is to be: owner,label"),
        (b"", "class.csv has no column owner"),
        (b"owner\n", "class.csv names no owner"),
        (b"owner\n\xff\n", "class.csv is no CSV in UTF-8"),
        (b'owner\n"ann\n', "class.csv is no CSV in UTF-8: unexpected end of data"),
        (b"owner,label\nann,\x1b[31m\n", "class.csv, line 2: the label '\\x1b[31m' can be 200 printable"),
        (b"owner\n" + b"a" * 10_000 + b"\n", "class.csv, line 2: the name of an owner is 'aaaa"),
    ],
)
def test_a_class_with_a_fault_gets_no_token_at_all(text: bytes, said: str) -> None:
    Path("class.csv").write_bytes(text)
    run = cutpurse("token", "create", "--from", "class.csv", "--out", "tokens.csv")
    assert (run.exit_code, said in run.stderr) == (2, True), run.stderr
    assert not Path("tokens.csv").exists()
    assert not Path("league.db").exists()


def test_tokens_that_cannot_be_written_down_are_good_for_nothing() -> None:
    Path("class.csv").write_text("owner\nann\nbob\n", encoding="utf-8")
    run = cutpurse("token", "create", "--from", "class.csv", "--out", "no/such/folder.csv")
    assert (run.exit_code, "cannot be written: No such file" in run.stderr) == (2, True)
    Path("full.csv").symlink_to("/dev/full")
    assert cutpurse("token", "create", "--from", "class.csv", "--out", "full.csv").exit_code == 2
    assert entries() == {}


# -- while a server has it open
def test_a_server_that_has_the_database_open_is_named_and_tokens_can_be_listed() -> None:
    with Store("league.db") as store:
        ((token, _),) = store.write(create_tokens, [NewToken("ann")], datetime.now(UTC))
        for arguments in (["create", "bob"], ["revoke", token.id]):
            run = cutpurse("token", *arguments)
            assert run.exit_code == 1
            assert f"a server (process {os.getpid()}) has league.db open, and only one process" in run.stderr
            assert "ask it with --server" in run.stderr
        assert token.id in cutpurse("token", "list").stdout


def test_a_database_of_another_version_is_told() -> None:
    cutpurse("token", "create", "ann")
    file = sqlite3.connect("league.db")
    for schema, said in (("99", "has schema 99; this version knows"), ("22", "cutpurse db upgrade ")):
        file.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        file.commit()
        run = cutpurse("token", "list")
        assert (run.exit_code, said in run.stderr) == (1, True), run.stderr
    file.close()


# -- as people use it
def test_from_the_first_token_on_a_server_asks_for_one(folder: Path) -> None:
    """Each a process of its own: a token, a server, a bot without it, with it, and with it in a file."""
    secret = cutpurse("token", "create", "ann").stdout.strip()
    command = [sys.executable, "-m", "cutpurse.cli"]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config")}
    for name in ("CUTPURSE_TOKEN", "CUTPURSE_SERVER", "CUTPURSE_CA"):
        environment.pop(name, None)
    server = subprocess.Popen(
        [*command, "serve", "--address", "127.0.0.1:0", "--game", "greed", "--drain", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert server.stderr is not None
    try:
        said: list[str] = []
        while not said or (said[-1] and not said[-1].startswith("accepted: ")):
            said.append(server.stderr.readline())
        assert said[-1] == "accepted: bots with a token\n"
        address = next(found[1] for line in said if (found := re.match(r"bots dial in at (\S+);", line)))
        bot = [*command, "bot", "run", "random", "--game", "greed", "--server", address]
        without = subprocess.run(bot, capture_output=True, text=True, env=environment, check=False)
        assert without.returncode == 6
        assert "lets bots in by token, and there is none: put it into CUTPURSE_TOKEN, or into " in without.stderr
        assert str(folder / "config" / "cutpurse" / "token") in without.stderr
        kept = folder / "config" / "cutpurse" / "token"
        kept.parent.mkdir(parents=True)
        kept.write_text(secret, encoding="ascii")
        kept.chmod(0o644)
        loose = subprocess.run(bot, capture_output=True, text=True, env=environment, check=False)
        assert (loose.returncode, "others can read the token" in loose.stderr) == (6, True)
        kept.chmod(0o600)
        with subprocess.Popen(bot, stderr=subprocess.PIPE, text=True, env=environment) as playing:
            assert playing.stderr is not None
            assert playing.stderr.readline().startswith(f"ann/random (version 1) plays at {address} ")
            playing.terminate()
    finally:
        server.terminate()
        rest = server.communicate()[1]
    assert server.returncode == 0
    assert secret[13:] not in "".join(said) + rest + without.stderr + loose.stderr
