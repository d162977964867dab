"""Ladders written down in TOML: what can be said comes out as a message, and what cannot is told where it stands."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.cli.ladder_file import moment_ms, read_ladders
from cutpurse.engine.errors import UsageError
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import bot_name, format_bot_name

WHOLE = """
[[ladder]]
name = "greed-duel"
game = "greed"
seats = 2
settings = { max_rounds = 3, specials = false, mode = "single" }
clock = { base_ms = 500, bank_ms = 0 }
owners = ["ann", "bob"]
private = true
max_bots = 60
max_per_owner = 1
pause_failed = 0
title = "Greed for two"
pause_window = 12
on_outage = "void"
results_hidden_until = 2027-02-01T12:30:00
names_hidden_until = 2027-02-01
memory_kib = 64
frozen = 2027-01-31T18:00:00+01:00
house = ["random"]

[[ladder]]
name = "plain"
game = "szmal"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ladders.toml"


def test_everything_that_can_be_said(file: Path) -> None:
    file.write_text(WHOLE, encoding="utf-8")
    whole, plain = read_ladders(file)
    assert (whole.name, whole.game, whole.seats) == ("greed-duel", "greed", 2)
    assert {one.name: one.value for one in whole.settings} == {"max_rounds": "3", "specials": "false", "mode": "single"}
    assert (whole.clock.base_ms, whole.clock.bank_ms, whole.clock.HasField("bank_ms")) == (500, 0, True)
    assert not whole.clock.HasField("grace_ms")
    terms = whole.terms
    assert (list(terms.owners), list(terms.house), terms.private, terms.most_bots) == (
        ["ann", "bob"],
        ["random"],
        True,
        60,
    )
    assert (terms.title, plain.terms.title) == ("Greed for two", "")
    assert terms.most_per_owner == 1
    assert (terms.HasField("pause_failed"), terms.pause_failed, terms.pause_window) == (True, 0, 12)
    assert not plain.terms.HasField("pause_failed")
    assert (terms.voids_outages, plain.terms.voids_outages) == (True, False)
    assert datetime.fromtimestamp(terms.frozen_ms / 1_000, UTC) == datetime(2027, 1, 31, 17, tzinfo=UTC)
    hidden_until = datetime.fromtimestamp(terms.results_hidden_until_ms / 1_000, UTC)
    assert hidden_until == datetime(2027, 2, 1, 12, 30, tzinfo=UTC)  # in UTC on every machine
    hidden_until = datetime.fromtimestamp(terms.names_hidden_until_ms / 1_000, UTC)
    assert hidden_until == datetime(2027, 2, 1, tzinfo=UTC)
    assert terms.memory_kib == 64
    assert plain == ladder_pb2.LadderDefined(name="plain", game="szmal", terms=ladder_pb2.LadderTerms())
    assert not plain.HasField("clock")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no ladder; each is a table [[ladder]]"),
        ("ladder = 3", "has no ladder; each is a table [[ladder]]"),
        ("[ladder]\nname = 'x'", "has no ladder; each is a table [[ladder]]"),
        ("[[ladder", "is no TOML"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\non_outage = true", "on_outage is True; it is one of: void, play"),
        ("[[ladders]]\nname = 'x'", "there is no key 'ladders'"),
        ("[[ladder]]\nname = 'x'", "ladder 1 has no game"),
        ("[[ladder]]\ngame = 'greed'", "ladder 1 has no name"),
        ("[[ladder]]\nname = 3\ngame = 'greed'", "ladder 1: name is 3; it is a text"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nseat = 2", "ladder 1: there is no key 'seat'; is seats meant?"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nseats = -2", "seats is -2; it is a number, 0 or more"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nseats = true", "seats is True; it is a number, 0 or more"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nprivate = 1", "private is 1; it is true or false"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nowners = 'ann'", "owners is 'ann'; it is a list of texts"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nfrozen = 'soon'", "frozen is 'soon'; it is as 2027-01-31"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nfrozen = 5", "frozen is 5; it is a date"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nresults_hidden_until = 5", "results_hidden_until is 5; it is a date"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nnames_hidden_until = 5", "names_hidden_until is 5; it is a date"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nsettings = 5", "settings is 5; it is a table"),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\nsettings = { a = [] }", "settings.a is []; it is a text, a number"),
        (
            "[[ladder]]\nname = 'x'\ngame = 'greed'\nclock = { base = 5 }",
            "there is no key 'clock.base'; is clock.base_ms meant?",
        ),
        ("[[ladder]]\nname = 'x'\ngame = 'greed'\n" * 2, "has the ladder 'x' twice"),
    ],
)
def test_what_it_does_not_say(file: Path, text: str, said: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as told:
        read_ladders(file)
    assert said in str(told.value)
    assert str(file) in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def test_what_is_no_file(file: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        read_ladders(file)
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_ladders(tmp_path)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no TOML"):
        read_ladders(file)


def test_a_moment_without_a_zone_is_in_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert moment_ms("2027-01-31", "it", UTC) == moment_ms("2027-01-31T00:00:00Z", "it")
        assert moment_ms("2027-01-31T09:00+09:00", "it", UTC) == moment_ms("2027-01-31T00:00:00Z", "it")
        assert moment_ms("2027-01-31", "it") == moment_ms("2027-01-31T00:00:00+09:00", "it")
        assert moment_ms(datetime(2027, 1, 31).date(), "it") == moment_ms("2027-01-30T15:00Z", "it")  # noqa: DTZ001
    finally:
        monkeypatch.undo()
        time.tzset()
    for wrong in ("1969-12-31", "9999-12-31T23:59:59-12:00", "tomorrow"):
        with pytest.raises(UsageError, match="it is "):
            moment_ms(wrong, "it")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sneak", ("", "sneak", "")),
        ("ann/sneak", ("ann", "sneak", "")),
        ("ann/sneak:1.0", ("ann", "sneak", "1.0")),
        ("sneak:1.0", ("", "sneak", "1.0")),
    ],
)
def test_a_bot_is_read_as_it_is_shown(text: str, named: tuple[str, str, str]) -> None:
    bot = bot_name(text)
    assert (bot.owner, bot.bot, bot.version) == named
    assert format_bot_name(bot) == text


@pytest.mark.parametrize("text", ["", "/", ":", "ann/", "/sneak", "sneak:", "a/b/c", "a:b:c", ":1"])
def test_what_names_no_bot(text: str) -> None:
    with pytest.raises(UsageError, match="names no bot: write name, owner/name, or owner/name:version"):
        bot_name(text)


def test_any_bot_of_an_owner_where_that_is_enough() -> None:
    assert bot_name("ann/", is_owner_enough=True) == ladder_pb2.BotName(owner="ann")
    assert format_bot_name(ladder_pb2.BotName(owner="local", bot="sneak", version="1")) == "sneak:1"
    assert format_bot_name(ladder_pb2.BotName(owner="a\x1b[1m", bot="b\nc")) == "a [1m/b c"
