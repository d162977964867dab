"""Every command that a page shows exists, and so does every option of it."""

from __future__ import annotations

import re
import shlex
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from cutpurse.cli.main import app
from tests.roots import CHECKOUT

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*/*.md"))]
ROOT = get_command(app)


def commands(text: str) -> list[list[str]]:
    """Return the words of each command line in the code blocks of a page, without its comment."""
    blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    shown = "".join(body for language, body in blocks if language in ("", "sh"))
    lines = re.findall(r"^ *(?:\$ )?cutpurse (.*)$", shown, re.MULTILINE)
    return [shlex.split(line.partition(" > ")[0], comments=True) for line in lines]


def spans(text: str) -> list[str]:
    """Return what a page marks as code within its sentences."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))


def all_options(command: Any, context: typer.Context) -> set[str]:
    """Return the options of a command and of those below it."""
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for name in command.list_commands(context) if isinstance(command, TyperGroup) else ():
        if found := command.get_command(context, name):
            options |= all_options(found, typer.Context(found, parent=context))
    return options


def unknown(words: list[str]) -> list[str]:
    """Return the words of a command line that are no command, or no option of the command."""
    command, context = ROOT, typer.Context(ROOT)
    rest = list(words)
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        if found is None and (default := getattr(command, "default_command", "")):
            rest.insert(0, default)
            continue
        if found is None:
            return [rest[0]]
        command, context = found, typer.Context(found, parent=context)
        rest.pop(0)
    known = {option for one in (*command.params, *ROOT.params) for option in (*one.opts, *one.secondary_opts)}
    named = {word.partition("=")[0] for word in rest if re.match(r"--[a-z]", word)}
    return sorted(named - known - {"--help"})


def test_every_command_of_a_page_exists() -> None:
    lines = [(page.stem, words) for page in PAGES for words in commands(page.read_text(encoding="utf-8"))]
    assert {(page, shlex.join(words)): wrong for page, words in lines if (wrong := unknown(words))} == {}


def test_every_option_within_a_sentence_exists() -> None:
    known = all_options(ROOT, typer.Context(ROOT)) | {"--help"}
    pages = [page for page in PAGES if page.stem != "run_in_containers"]  # which has options of docker
    named = {
        (page.stem, option)
        for page in pages
        if page.parent.name in ("tutorial", "how-to")
        for span in spans(page.read_text(encoding="utf-8"))
        if span.startswith(("--", "cutpurse ", "bot ", "ladder ", "match ", "serve "))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)
    }
    assert len(named) > 60
    assert {(page, option) for page, option in named if option not in known} == set()


def test_every_how_to_shows_a_command_that_the_test_sees() -> None:
    seen = {page.stem for page in PAGES if commands(page.read_text(encoding="utf-8"))}
    assert {"host_a_server", "first_league", "submissions", "manage_tokens", "README"} <= seen


def test_a_command_or_option_that_does_not_exist_is_found() -> None:
    assert unknown(["play", "greed", "--seed", "7", "--sed=7"]) == ["--sed"]
    assert unknown(["bot", "rum", "my_bot.py"]) == ["rum"]
    assert unknown(["bot", "run", "my_bot.py", "--game", "greed"]) == []
