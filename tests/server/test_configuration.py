"""Each setting by flag, environment, file or default, in that order; and what is wrong is told where it was written."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cutpurse.cli.main import app
from cutpurse.engine.errors import UsageError
from cutpurse.server import settings
from cutpurse.server.commands.serve import serve
from cutpurse.server.hosting import configuration
from cutpurse.server.hosting.configuration import Value, check_values, mistyped
from cutpurse.server.hosting.part import parts_to_serve
from cutpurse.wire.errors import NotFound
from tests.typed import run

OF_PARTS = [setting for kind in parts_to_serve(settings.SETTINGS).kinds for setting in kind.settings]
SETTINGS = [*settings.SETTINGS, *OF_PARTS]
configured = partial(configuration.configured, more=OF_PARTS)
NAMES = [setting.name for setting in SETTINGS]
# A value of each setting as a flag, in the environment, in the file; and how it is then read.
GIVEN: dict[str, tuple[Any, tuple[str, Any], tuple[str, Any]]] = {
    "db": (Path("a.db"), ("b.db", Path("b.db")), ('"c.db"', Path("etc/c.db"))),
    "games": (("greed",), ("szmal, greed", ("szmal", "greed")), ('["bag_o_loot"]', ("bag_o_loot",))),
    "ladders": (Path("a"), ("b.toml", Path("b.toml")), ('"c.toml"', Path("etc/c.toml"))),
    "house": (("random",), ("random, greedy", ("random", "greedy")), ('["search"]', ("search",))),
    "test_share": (0.2, ("0.3", 0.3), ("0.5", 0.5)),
    "address": ("a:1", ("b:2", "b:2"), ('"c:3"', "c:3")),
    "tls_cert": (Path("a"), ("/b", Path("/b")), ('"/c"', Path("/c"))),
    "tls_key": (Path("a"), ("b", Path("b")), ('"../c"', Path("etc/../c"))),
    "insecure": (True, ("Yes", True), ("true", True)),
    "web": ("a:1", ("b:2", "b:2"), ('"c:3"', "c:3")),
    "watch_delay": (1.0, ("2.5", 2.5), ("3", 3.0)),
    "metrics": ("a:1", ("b:2", "b:2"), ('"c:3"', "c:3")),
    "drain": (1.0, ("2.5", 2.5), ("3", 3.0)),
    "log_level": ("debug", ("error", "error"), ('"warning"', "warning")),
    "arena_address": ("a:1", ("b:2", "b:2"), ('"c:3"', "c:3")),
    "arena_ladders": (("greed",), ("x, y", ("x", "y")), ('["z"]', ("z",))),
    "places": (True, ("Yes", True), ("true", True)),
    "notify": (("webhook",), ("webhook, mailto", ("webhook", "mailto")), ('["discord"]', ("discord",))),
    "notify_networks": (("10.0.0.0/8",), ("::1/128", ("::1/128",)), ('["a", "b"]', ("a", "b"))),
    "page_url": ("http://a", ("http://b", "http://b"), ('"http://c"', "http://c")),
    "people": (4, ("2", 2.0), ("3", 3.0)),
    "people_per_address": (4, ("2", 2.0), ("3", 3.0)),
    "sign_in": (Path("a"), ("b.toml", Path("b.toml")), ('"c.toml"', Path("etc/c.toml"))),
    "submissions": ("bubblewrap", ("process", "process"), ('"bubblewrap"', "bubblewrap")),
    "runner_image": ("a", ("b:2", "b:2"), ('"c"', "c")),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "etc").mkdir()
    return tmp_path


def write(text: str, name: str = "etc/our.toml") -> Path:
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def test_every_setting_is_tried_here_and_is_a_flag_of_serve() -> None:
    assert GIVEN.keys() == {*NAMES}
    assert inspect.signature(serve).parameters.keys() == {*NAMES, "config", "show_config", "as_json"}
    command: Any = get_command(app)
    options = {option for param in command.commands["serve"].params for option in param.opts}
    assert {setting.option for setting in SETTINGS} < options


def test_a_setting_is_written_once_and_its_help_names_its_default_and_its_group() -> None:
    assert [setting.name for setting in SETTINGS if not setting.help or setting.group == settings.OTHERS] == []
    assert [setting.name for setting in SETTINGS if "[default" in setting.help] == []
    text = " ".join(run("serve", "--help").stdout.split())
    for setting in SETTINGS:
        default = f" [default: {setting.shown_default}]" if setting.shown_default else ""
        assert f"{setting.option} {setting.metavar}".strip() + f" {setting.help}{default}" in text
        assert f"{setting.group}: " in text


@pytest.mark.parametrize(
    ("name", "flag", "problem"),
    [
        ("drain", -1.0, "--drain -1: a number of seconds is 0 or more"),
        ("watch_delay", float("nan"), "--watch-delay nan: a number of seconds is 0 or more"),
        ("test_share", 1.5, "--test-share 1.5: it is a share from 0 to 1"),
        ("log_level", "loud", "--log-level 'loud': there are: debug, info, warning, error"),
        ("submissions", "docker", "--submissions 'docker': there are: bubblewrap, container, process, off"),
    ],
)
def test_a_value_that_its_setting_does_not_allow(name: str, flag: object, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        check_values(SETTINGS, configured({name: flag}, {}))
    check_values(SETTINGS, configured({}, {}))


@pytest.mark.parametrize("address", ["POSTGRESQL://h/x", "host=h dbname=x"])
def test_an_address_of_postgresql_is_no_path(address: str) -> None:
    assert configured({}, {}, write(f"db = '{address}'"))["db"].value == address
    assert configured({}, {"CUTPURSE_DB": address})["db"].value == address


@pytest.mark.parametrize("name", NAMES)
def test_flag_before_environment_before_file_before_default(name: str) -> None:
    (setting,) = [one for one in SETTINGS if one.name == name]
    flag, (text, in_environment), (toml, in_file) = GIVEN[name]
    file, variables, flags = write(f"{name} = {toml}\n"), {setting.variable: text}, {name: flag}
    assert configured({}, {})[name] == Value(setting.default, "default")
    assert configured({}, {}, file)[name] == Value(in_file, f"{name} in etc/our.toml")
    assert configured({}, variables, file)[name] == Value(in_environment, setting.variable)
    assert configured(flags, variables, file)[name] == Value(flag, setting.option)
    assert configured({name: None}, {setting.variable: ""}, file)[name].where == f"{name} in etc/our.toml"


def test_the_file_is_named_or_lies_in_the_working_folder() -> None:
    write("drain = 1", "cutpurse.toml")
    assert configured({}, {})["drain"] == Value(1.0, "drain in cutpurse.toml")
    other = write("drain = 2")
    assert configured({}, {"CUTPURSE_CONFIG": str(other)})["drain"].value == 2.0
    third = write("drain = 3", "etc/third.toml")
    assert configured({}, {"CUTPURSE_CONFIG": str(other)}, third)["drain"].value == 3.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "drian = 3",
            "there is no key 'drian'; is drain meant?",
        ),
        ("[serve]\ndrain = 3", "there is no key 'serve'; there are: "),
        ("drain = '3'", "drain in etc/our.toml is '3'; it is a number"),
        ("drain = true", "drain in etc/our.toml is True; it is a number"),
        ("insecure = 1", "insecure in etc/our.toml is 1; it is true or false"),
        ("games = 'greed'", "games in etc/our.toml is 'greed'; it is a list of names"),
        ("games = [1]", r"games in etc/our.toml is \[1\]; it is a list of names"),
        ("db = 7", "db in etc/our.toml is 7; it is the name of a file"),
        ("address = []", r"address in etc/our.toml is \[\]; it is a text"),
        ("drain = ", "etc/our.toml is no TOML: "),
        ("drain = " + "9" * 5_000, r"etc/our.toml: a number is too long \(at line 1\)"),
    ],
)
def test_what_is_wrong_in_the_file(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        configured({}, {}, write(text))


def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(NotFound, match=r"no file etc/none\.toml with settings: it does not exist"):
        configured({}, {}, Path("etc/none.toml"))
    with pytest.raises(UsageError, match="etc cannot be read: Is a directory"):
        configured({}, {"CUTPURSE_CONFIG": "etc"})
    Path("cutpurse.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"cutpurse\.toml is no TOML: "):
        configured({}, {})


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("CUTPURSE_DRAIN", "soon", "CUTPURSE_DRAIN is 'soon'; it is a number"),
        ("CUTPURSE_INSECURE", "perhaps", "CUTPURSE_INSECURE is 'perhaps'; it is true or false"),
    ],
)
def test_what_is_wrong_in_the_environment(variable: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        configured({}, {variable: text})


def test_a_variable_that_was_mistyped_is_told_and_those_of_bots_are_not() -> None:
    others = [
        "SERVER",
        "TOKEN",
        "CA",
        "CONFIG",
        "RECONNECT_TIMEOUT",
        "BOT",
        "NAME",
        "PLAYOUTS",
        "PROTO",
        "ANSWER_TIMES",
    ]
    wrong = ["CUTPURSE_DRIAN", "CUTPURSE_GAME", "CUTPURSE_TLS_CERTS", "DRIAN"]
    names = [*wrong, *(f"CUTPURSE_{name}" for name in others), *(setting.variable for setting in SETTINGS)]
    environment = dict.fromkeys(names, "x")
    assert mistyped(environment) == [
        ("CUTPURSE_DRIAN", "CUTPURSE_DRAIN"),
        ("CUTPURSE_GAME", "CUTPURSE_GAMES"),
        ("CUTPURSE_TLS_CERTS", "CUTPURSE_TLS_CERT"),
    ]


def test_serve_shows_what_it_would_do_and_starts_nothing(folder: Path) -> None:
    write('drain = 7\ndb = "there.db"', "cutpurse.toml")
    run = subprocess.run(
        [sys.executable, "-m", "cutpurse.cli", "serve", "--show-config", "--json", "--game", "greed"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CUTPURSE_LOG_LEVEL": "error", "CUTPURSE_DRIAN": "1"},
    )
    shown = json.loads(run.stdout)
    assert list(shown) == NAMES
    assert shown["drain"] == {"value": 7.0, "from": "drain in cutpurse.toml"}
    assert shown["games"] == {"value": ["greed"], "from": "--game"}
    assert shown["log_level"] == {"value": "error", "from": "CUTPURSE_LOG_LEVEL"}
    assert shown["metrics"] == {"value": "", "from": "default"}
    assert "CUTPURSE_DRIAN is no setting, and is passed over; is CUTPURSE_DRAIN meant?" in run.stderr
    assert not (folder / "there.db").exists()


def test_a_byte_order_mark_is_no_part_of_the_file() -> None:
    Path("etc/marked.toml").write_text("drain = 7\n", encoding="utf-8-sig")
    assert configured({}, {}, Path("etc/marked.toml"))["drain"].value == 7
