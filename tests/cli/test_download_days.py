"""`cutpurse match download --ladder`: files by day with a manifest, and going on after a cut."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.cli.day_files import MANIFEST
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.server.ladder_config import Ladder
from tests.server.small_world import Manner, World
from tests.typed import run

LADDERS = (Ladder("cup", "greed", 3, matches_wanted=4), Ladder("other", "greed", 3, matches_wanted=0))
ENDS = [datetime(2027, 1, day, 23, 59, 59, tzinfo=UTC) for day in (1, 2, 2, 3)]


def download(*arguments: object) -> Result:
    return run("match", "download", *arguments, "--db", "league.db")


def ids(path: Path) -> list[str]:
    return [filed.head.match for filed in read_matches(path.read_bytes()) if filed.head is not None]


@pytest.fixture
def matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A database league.db with matches of three days on one ladder; their IDs."""
    monkeypatch.chdir(tmp_path)
    world = World([LADDERS[0]])
    for name in ("ann", "bob", "cid"):
        world.bot(name, manner=Manner(illegal=0.05))
    world.run(lambda: world.lobby.is_complete)
    results = [replace(result, finished=at) for result, at in zip(world.store.kept.values(), ENDS, strict=True)]
    with Store(tmp_path / "league.db") as store:
        for ladder in LADDERS:
            store.write(ensure_ladder, ladder.kept)
        for result in results:
            store.submit(result).result(240)
    return [result.match for result in results]


def test_a_ladder_comes_as_files_by_day_and_a_cut_download_goes_on(matches: list[str], tmp_path: Path) -> None:
    first, second, third, fourth = matches
    run = download("--ladder", "cup")
    assert run.exit_code == 0, run.output
    assert "4 matches in 3 files in cup; cup/manifest.json lists them" in run.stderr
    folder = tmp_path / "cup"
    days = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    assert {name: ids(folder / name) for name in sorted(days)} == {
        "2027-01-01.jsonl": [first],
        "2027-01-02.jsonl": [second, third],
        "2027-01-03.jsonl": [fourth],
    }
    manifest = (folder / MANIFEST).read_bytes()
    assert [(file["name"], file["matches"], file["sha256"]) for file in json.loads(manifest)["files"]] == [
        (name, len(ids(folder / name)), sha256(days[name]).hexdigest()) for name in sorted(days)
    ]

    # Killed while it wrote the second match of a day, before the manifest: the whole match stays, the rest comes again.
    whole = days["2027-01-02.jsonl"]
    for cut in (len(whole) - 1, len(whole) // 2 + 100, 10):
        (folder / "2027-01-02.jsonl").write_bytes(whole[:cut])
        (folder / MANIFEST).unlink()
        assert download("--ladder", "cup").exit_code == 0
        assert {path.name: path.read_bytes() for path in folder.glob("*.jsonl")} == days
        assert (folder / MANIFEST).read_bytes() == manifest

    newer = download("--ladder", "cup", "--since", "2027-01-02T20:00", "--out", "new")
    assert "3 matches in 2 files in new" in newer.stderr, "a day is whole"


def test_what_makes_no_sense_is_refused_in_a_line(matches: list[str], tmp_path: Path) -> None:
    assert download("--ladder", "cup").exit_code == 0
    for arguments, problem in (
        (("--ladder", "other", "--out", "cup"), "cup/manifest.json is of ladder 'cup'"),
        (("--ladder", "none"), "none"),
        (("--ladder", "cup", "--since", "soon"), "--since is 'soon'"),
        ((matches[0], "--since", "2027-01-01"), "--since is for --ladder"),
        ((), "name matches, or a ladder with --ladder"),
        ((matches[0], "--ladder", "cup"), "name matches, or a ladder with --ladder"),
    ):
        run = download(*arguments)
        assert (run.exit_code in (2, 4), problem in run.stderr) == (True, True), (arguments, run.stderr)
    (tmp_path / "cup" / MANIFEST).write_text("{}")
    assert "is no manifest of a download" in download("--ladder", "cup").stderr
