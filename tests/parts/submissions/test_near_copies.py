"""Near copies of submitted bots are found, however they are disguised; bots that only begin alike are not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.parts.submissions import archive_table, submissions
from cutpurse.server.parts.submissions.command import common_files
from cutpurse.server.parts.submissions.near_copies import NearCopy, Program, find_near_copies
from cutpurse.server.parts.submissions.source_tokens import source_tokens
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submissions import NewSubmission
from cutpurse.server.submitted_files import storage_beside
from tests.leaderboard.sample_results import result
from tests.parts.submissions.bad_archives import good
from tests.typed import run as cutpurse

FIVE = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "class_of_five").glob("*.txt"))}
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@cache
def common() -> dict[str, str]:
    return dict(common_files([]))


def program(owner: str, source: str, name: str = "bot.py", bot: str = "sneak") -> Program:
    return Program(owner, bot, "1", {name: source})


def compared(*programs: Program) -> list[NearCopy]:
    return find_near_copies(programs, common())


# -- the disguises
def renamed(source: str) -> str:
    for name, other in {
        "have": "mine",
        "option": "o",
        "best": "top",
        "score": "points_",
        "goal": "aim",
        "victim": "pick",
        "bust": "danger",
        "number": "n",
    }.items():
        source = re.sub(rf"\b(?<![\"'\w]){name}\b(?!_)", other, source)
    return source


def reordered(source: str) -> str:
    head, victim, bust = re.split(r"(?=    def victim|    def bust)", source)
    bust, tail = bust.split("\n\n\nif __name__")
    return f"{head}{bust}\n\n{victim.rstrip()}\n\n\nif __name__{tail}"


def half_copied(source: str) -> str:
    _, victim, _ = re.split(r"(?=    def victim|    def bust)", source)
    return FIVE["bob"].replace("    def look(", f"{victim.rstrip()}\n\n    def look(")


@pytest.mark.parametrize(("disguise", "least"), [(renamed, 0.9), (reordered, 0.9), (half_copied, 0.4)])
def test_a_copy_is_found_in_its_disguise(disguise: Callable[[str], str], least: float) -> None:
    other = disguise(FIVE["ann"])
    assert other != FIVE["ann"]
    compile(other, "bot.py", "exec")
    (pair,) = compared(program("ann", FIVE["ann"]), program("zoe", other))
    assert {pair.program.owner, pair.other.owner} == {"ann", "zoe"}
    assert max(pair.share, pair.other_share) >= least


def test_other_comments_change_nothing() -> None:
    source = FIVE["ann"]
    other = "\n".join(f"{line}  # line {number}" for number, line in enumerate(source.split('"""', 2)[2].splitlines()))
    tokens = [[token.text for token in source_tokens(text, ".py", ())] for text in (source, other)]
    assert tokens[0] == tokens[1]


def test_five_bots_that_began_with_the_starter_are_honest() -> None:
    assert len(FIVE) == 5
    assert compared(*[program(owner, source) for owner, source in FIVE.items()]) == []
    loose = find_near_copies([program(owner, source) for owner, source in FIVE.items()], common(), 0.05)
    assert [max(pair.share, pair.other_share) < 0.2 for pair in loose] == [True] * len(loose)


def test_without_the_common_files_the_starter_itself_is_a_copy() -> None:
    programs = [program(owner, f'"""{owner}"""\n{common()["starter/greed.txt.py"]}') for owner in ("ann", "bob")]
    assert compared(*programs) == []
    (pair,) = find_near_copies(programs, {})
    assert (pair.share, pair.other_share) == (1, 1)


def test_versions_of_one_owner_are_no_copies_and_what_many_have_is_common() -> None:
    assert compared(program("ann", FIVE["ann"]), program("ann", FIVE["ann"], bot="other")) == []
    assert compared(*[program(f"owner{number}", FIVE["ann"]) for number in range(9)]) == []
    assert len(compared(*[program(f"owner{number}", FIVE["ann"]) for number in range(3)])) == 3


def test_the_matching_lines_are_named() -> None:
    (pair,) = compared(program("ann", FIVE["ann"]), program("zoe", half_copied(FIVE["ann"]), "main.py"))
    longest = pair.lines[0]
    ours = FIVE["ann"].splitlines()[longest.first - 1 : longest.last]
    theirs = half_copied(FIVE["ann"]).splitlines()[longest.other_first - 1 :]
    assert len(ours) >= 10
    assert theirs[: len(ours) - 1] == ours[:-1]
    assert {longest.file, longest.other_file} == {"bot.py", "main.py"}


GO = """
package main
// picks the dearest card
func pick(options []Option, view View) int {
    best, at := -1, 0
    for number, option := range options {
        worth := option.Card.Value * 2
        if option.Player != nil { worth += option.Player.Hand.Size }
        if worth > best { best, at = worth, number }
        if view.Round > 12 && option.Verb == "raid" { return number }
    }
    if best < 10 { return len(options) - 1 }
    for number := range options {
        if options[number].Zone == view.Me.Hand { at = number; break }
    }
    return at
}
"""


def test_other_languages_are_compared_too() -> None:
    other = GO.replace("best", "peak").replace("number", "i").replace("// picks", "/* takes */ // picks")
    other = other.replace("12", "15").replace("worth", "v")
    (pair,) = compared(program("ann", GO, "bot.go"), program("zoe", other, "main.go"))
    assert (pair.share, pair.other_share) == (1, 1)
    assert pair.lines[0].first == 2


def test_python_that_does_not_parse_is_compared_all_the_same() -> None:
    broken = FIVE["ann"] + "\n    )) odd\n"
    (pair,) = compared(program("ann", broken), program("zoe", renamed(broken)))
    assert pair.share > 0.9


# -- the command
@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A database with submissions of three owners; zoe copied ann's bot, and bob's archive is gone."""
    path = tmp_path / "league.db"
    files = Storage(storage_beside(path))
    with Store(path) as store:
        store.write(ensure_ladder, NewLadder("it", game="greed", seats=2, rating=TrueSkill(draw_probability=0.05)))
        for owner, source in (("ann", FIVE["ann"]), ("zoe", renamed(FIVE["ann"])), ("bob", FIVE["bob"])):
            archive = good(bot__py=source.encode(), test_bot__py=b"x = 1\n")
            digest = files.keep(archive)
            store.write(submissions.hand_in, NewSubmission(owner, "sneak", "1", digest, len(archive), []), NOW)
            if owner == "bob":
                files.remove(digest)
        for owner in ("ann", "bob"):
            store.write(ensure_version, owner, "sneak", "1")
        players = [Identity("ann", "sneak", "1"), Identity("bob", "sneak", "1")]
        store.submit(result("match0000", players, ladder="it")).result(240)
    return path


def test_the_host_sees_who_copied_and_where(league: Path) -> None:
    before = sorted(path.name for path in storage_beside(league).rglob("*"))
    run = cutpurse("db", "copies", league)
    assert run.exit_code == 0, run.stderr
    head, first, *_ = run.stdout.splitlines()
    assert head.split()[:4] == ["bots", "of", "the", "first"]
    assert first.startswith(("ann/sneak:1 and zoe/sneak:1", "zoe/sneak:1 and ann/sneak:1"))
    assert "100 %" in first
    assert "bot.py:" in first
    assert "left out, as the archive cannot be read: bob/sneak:1" in run.stderr
    assert "no proof" in run.stderr
    assert run.stdout.endswith("2 versions compared: 1 pair\n")
    assert sorted(path.name for path in storage_beside(league).rglob("*")) == before  # a server may be using it


def test_what_everybody_was_given_is_no_copy(league: Path, tmp_path: Path) -> None:
    handout = tmp_path / "handout.py"
    handout.write_text(FIVE["ann"])
    found = json.loads(cutpurse("db", "copies", league, "--json").stdout)
    (pair,) = found["pairs"]
    assert {bot["owner"] for bot in pair["bots"]} == {"ann", "zoe"}
    assert found["left_out"] == ["bob/sneak:1"]
    assert json.loads(cutpurse("db", "copies", league, "--common", handout, "--json").stdout)["pairs"] == []


def test_only_bots_of_a_ladder_are_compared_if_one_is_named(league: Path, tmp_path: Path) -> None:
    assert json.loads(cutpurse("db", "copies", league, "it", "--json").stdout) == {
        "bots": 1,
        "left_out": ["bob/sneak:1"],
        "pairs": [],
    }
    assert cutpurse("db", "copies", league, "nowhere").exit_code != 0
    assert cutpurse("db", "copies", tmp_path / "none.db").exit_code == 4
    run = cutpurse("db", "copies", league, "--common", tmp_path / "none")
    assert (run.exit_code, "there is no such file" in run.stderr) == (2, True)


def test_archives_that_several_servers_share_are_compared_too(league: Path) -> None:
    archive = good(bot__py=FIVE["bob"].encode(), test_bot__py=b"x = 1\n")
    with Store(league) as store:
        store.write_uncached(archive_table.put_archives, {sha256(archive).digest(): archive})
    assert json.loads(cutpurse("db", "copies", league, "it", "--json").stdout) == {
        "bots": 2,
        "left_out": [],
        "pairs": [],
    }
