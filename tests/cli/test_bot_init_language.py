"""The folder to begin with in another language: what is written; that it builds and plays is in tests/languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutpurse.sdk.starter.languages import LANGUAGES, PYTHON, source_of
from cutpurse.wire.manifest import read_manifest
from cutpurse.wire.toml_file import read_toml
from tests.builds import needs_pure
from tests.roots import CHECKOUT
from tests.typed import run

OTHERS = [language for language in LANGUAGES if language != PYTHON]


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("language", OTHERS)
def test_the_folder_of_a_language_gets_the_bots_name(language: str) -> None:
    shown = run("bot", "init", "sneak", "--language", language)
    assert (shown.exit_code, shown.stderr) == (0, "")
    *files, last = shown.stdout.splitlines()
    assert last == "cd sneak, and go on with what README.md says"
    assert set(files) == {str(path) for path in Path("sneak").rglob("*") if path.is_file()}
    assert read_manifest(Path("sneak/bot.toml").read_bytes()).name == "sneak"
    page = Path("sneak/README.md").read_text(encoding="utf-8")
    assert page.startswith("# sneak, a bot in ")
    assert set(re.findall(r"CUTPURSE_BOT=(\w+)", page)) <= {"sneak"}
    for proto in ("arena", "game"):
        of_checkout = CHECKOUT / f"proto/cutpurse/v1/{proto}.proto"
        assert Path(f"sneak/proto/cutpurse/v1/{proto}.proto").read_bytes() == of_checkout.read_bytes()
    assert [name for name in files if re.search(r"/(node_modules|out|target)/", name)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_commands_of_its_page_exist(language: str) -> None:
    run("bot", "init", "sneak", "--language", language)
    page = Path("sneak/README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ cutpurse (bot \w+|play) (.*)$", page, re.MULTILINE)
    assert {name for name, _ in commands} >= {"play", "bot check", "bot submit"}
    for name, arguments in commands:
        options = re.findall(r"--[a-z-]+", arguments)
        help_text = run(*name.split(), "--help").stdout
        assert all(option in help_text for option in options), arguments


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("my_bot --language ruby", "no bot is written in 'ruby' here; there are: python, javascript, typescript, go"),
        ("my_bot --language ruby --game greed", "no bot is written in 'ruby' here"),
        ("my_bot --language java --game greed", "a bot in java plays every game, so --game says nothing: leave it out"),
        ("My_Bot --language java", "is no name for a bot: it has 1 to 32 of a-z, 0-9 and _, the first a letter"),
        ("../bot --language java", "is no name for a bot"),
    ],
)
def test_what_cannot_be_written_leaves_no_folder(typed: str, said: str, tmp_path: Path) -> None:
    shown = run("bot", "init", *typed.split())
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert said in shown.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten() -> None:
    run("bot", "init", "my_bot")
    shown = run("bot", "init", "my_bot", "--language", "java")
    assert shown.exit_code == 2
    assert "my_bot already exists" in shown.stderr
    assert not Path("my_bot/build.sh").exists()


def test_a_word_of_python_names_a_bot_in_another_language() -> None:
    assert run("bot", "init", "random", "--language", "java").exit_code == 0


def test_the_wheel_takes_every_language_to_where_it_is_looked_for() -> None:
    wheel = read_toml(CHECKOUT / "pyproject.toml", "no project")["tool"]["hatch"]["build"]["targets"]
    taken = {f"sample_bots/{language}" for language in OTHERS}
    packages, sources = wheel["wheel"]["packages"], wheel["wheel"]["sources"]
    assert {folder for folder in packages if not folder.endswith("/cutpurse")} == taken
    named = {f"sample_bots/{language}": f"cutpurse/bots/{language}" for language in OTHERS}
    assert sources == named | {"sample_bots/cutpurse": "cutpurse"}
    assert {folder.parent.name for folder in (CHECKOUT / "sample_bots").glob("*/bot.toml")} == set(OTHERS)


@needs_pure
def test_of_a_checkout_the_bots_are_those_of_the_checkout() -> None:
    assert source_of("javascript") == CHECKOUT / "sample_bots" / "javascript"
