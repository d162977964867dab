"""The page of bots in other languages: its tables are those of the check, of the folders and of the rule."""

from __future__ import annotations

import re

from cutpurse.check.local_match import DIAL_IN_S
from cutpurse.check.scenarios import BACK_S, LEAVE_S, SCENARIOS
from cutpurse.sdk.starter.languages import LANGUAGES
from tests.languages.rule import GIVES_AWAY, STOPS
from tests.languages.workshop import FOUND
from tests.roots import CHECKOUT

PAGE = (CHECKOUT / "docs" / "how-to" / "write_a_bot_in_any_language.md").read_text(encoding="utf-8")


def rows(marker: str) -> list[list[str]]:
    """The cells of the table after this marker, without its head."""
    table = PAGE.partition(f"<!-- {marker} -->\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_page_of_the_check_has_every_scenario_with_its_times() -> None:
    page = (CHECKOUT / "docs" / "reference" / "bot_check.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| ([^|]+) \| (.*) \|$", page, re.MULTILINE)[2:])
    names = [name for name, _ in SCENARIOS]
    assert list(told) == [names[0], "GAME, a match", *names[1:]]
    assert f"within {DIAL_IN_S:g} seconds" in told["handshake"]
    assert f"within {BACK_S:g} seconds" in told["lost stream"]
    assert f"within {LEAVE_S:g} seconds" in told["leaving"]


def test_every_language_is_told() -> None:
    assert [row[0].strip("`") for row in rows("languages")] == list(LANGUAGES)
    for name, read, *_ in rows("languages")[1:]:
        folder = CHECKOUT / "sample_bots" / name.strip("`")
        assert all((folder / file).is_file() for file in re.findall(r"`([^`]+)`", read)), read
    assert set(LANGUAGES) - {"python"} == FOUND


def test_the_packages_that_the_page_names_are_those_of_the_folders() -> None:
    for name, _, _, packages, _ in rows("languages")[1:]:
        wanted = (CHECKOUT / "sample_bots" / name.strip("`") / "debian.txt").read_text(encoding="utf-8").split()
        named = set(re.findall(r"`([^`]+)`", packages))
        assert named <= set(wanted), name


def test_the_rule_is_told_as_it_is() -> None:
    section = PAGE.partition("## The rule to begin with")[2].partition("\n## ")[0]
    given = re.search(r"for the verbs (.*?) the worth", section, re.DOTALL)
    stops = re.search(r"^\* (.*) are worth -1", section, re.MULTILINE)
    assert given is not None
    assert stops is not None
    assert set(re.findall(r"`(\w+)`", given[1])) == GIVES_AWAY
    assert set(re.findall(r"`(\w+)`", stops[1])) == STOPS
