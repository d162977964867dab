"""Parts of other packages: those that do not work are named in one line, and the rest goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_hooks import WriteHooks
from cutpurse.server import installed_parts
from cutpurse.server.commands import serve  # before any test installs other parts, which have other flags
from cutpurse.server.hosting.configuration import configured
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.hosting.part import Core, Part, PartKind, PartWithSettings, parts_to_serve, read_settings
from cutpurse.server.league.file import local
from cutpurse.server.league.league_queries import Answers
from cutpurse.server.logs import logger
from cutpurse.server.settings import SETTINGS, Setting
from cutpurse.v1 import ladder_pb2
from tests.leaderboard.sample_results import RATING
from tests.typed import typed

assert serve
HERE = "tests.parts.test_installed_parts"


def kind(name: str, **more: Any) -> PartKind:
    return PartKind(name=name, read=lambda values: None, open=lambda settings, core: Part(), **more)


def breaks(hooks: WriteHooks) -> None:
    raise ImportError("no module\nnamed x")


def reads(reader: LeaderboardReader, answers: Answers) -> dict[str, Any]:
    answer = ladder_pb2.ListOpenMatchesResponse(
        matches=[ladder_pb2.OpenMatch(ladder=reader.run(queries.ladders)[0].name)]
    )
    return {"ListOpenMatches": lambda request, caller, presence: answer}


GOOD = kind("good", settings=[Setting("number", "number", 0.0)], reads=reads)
SAME_FLAG = kind("same_flag", settings=[Setting("numbers", "list", ())])
OURS = kind("ours", settings=[Setting("drain", "number", 0.0)])
NEEDS = kind("needs", needs=["missing"])
BREAKS = kind("breaks", listen=breaks)


def install(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Let parts of this module be the installed ones, by the names of their entry points and values."""
    pairs = [name.partition("=") for name in names]
    entries = [
        EntryPoint(name, value if ":" in value else f"{HERE}:{value}", installed_parts.GROUP)
        for name, _, value in pairs
    ]
    patch.setattr(installed_parts, "entry_points", lambda group: entries)


@pytest.mark.parametrize(
    ("entries", "working", "problems"),
    [
        (["good=GOOD"], ["good"], []),
        (
            ["good=GOOD", "lost=no_such_module:PART"],
            ["good"],
            [
                "part lost of an unknown package does not load (ModuleNotFoundError: No module named 'no_such_module')",
            ],
        ),
        (["other=GOOD"], [], ["(TypeError: it calls itself 'good')"]),
        (["other=HERE"], [], ["part other of an unknown package does not load (AttributeError: "]),
        (["good=GOOD", "good=GOOD"], ["good"], ["a second part is called good, that of an unknown package: remove"]),
        (["needs=NEEDS"], [], ["part needs needs part missing, which is not installed"]),
        (["ours=OURS"], [], ["part ours has a setting drain, and so has the server: remove the part"]),
        (
            ["good=GOOD", "same_flag=SAME_FLAG"],
            ["good"],
            ["part same_flag has a setting --number, and so has part good: remove the part"],
        ),
    ],
)
def test_a_part_that_does_not_work_is_named_and_the_others_work(
    entries: Sequence[str], working: Sequence[str], problems: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, *entries)
    parts = parts_to_serve(SETTINGS)
    assert [kind.name for kind in parts.kinds] == working
    assert len(parts.problems) == len(problems)
    assert all(text in problem for text, problem in zip(problems, parts.problems, strict=True))


def test_serve_refuses_what_the_commands_on_a_database_only_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "league.db"):
        pass
    broken = "part breaks does not load (ImportError: no module named x): install its package again, or remove it"
    install(monkeypatch, "breaks=BREAKS", "lost=no_such_module:PART")
    on = [PartWithSettings(BREAKS, None)]
    with (
        pytest.raises(UsageError) as refused,
        open_arena("127.0.0.1:0", tmp_path / "new.db", [], logger(sys.stderr), parts=on),
    ):
        pass
    assert str(refused.value) == broken
    assert not (tmp_path / "new.db").exists()

    run = typed("db", "copy", "league.db", "copy.db", folder=tmp_path)
    assert (run.returncode, broken in run.stderr, "part lost of an unknown" in run.stderr) == (0, True, True)
    run = typed("serve", "--db", "new.db", folder=tmp_path)
    assert (run.returncode, run.stderr.count("\n"), "part lost of an unknown" in run.stderr) == (2, 1, True)


def test_a_part_whose_need_is_off_is_refused() -> None:
    needed = kind("missing")
    values = configured({}, {})
    on = PartKind(name="needs", read=lambda values: 1, open=lambda settings, core: Part(), needs=["missing"])
    with pytest.raises(UsageError, match="part needs needs part missing, which is off: see cutpurse serve --help"):
        read_settings([needed, on], values)
    assert read_settings([needed, NEEDS], values) == [PartWithSettings(needed, None), PartWithSettings(NEEDS, None)]


def test_a_part_comes_after_those_that_it_needs_and_none_needs_itself() -> None:
    values = configured({}, {})
    on = [
        PartKind(name=name, read=lambda values: 1, open=lambda settings, core: Part(), needs=needs)
        for name, needs in (("a", ["c"]), ("b", []), ("c", ["b"]))
    ]
    assert [part.kind.name for part in read_settings(on, values)] == ["b", "c", "a"]
    with pytest.raises(UsageError, match="parts need each other: x, x; remove one of them"):
        read_settings([kind("x", needs=["x"])], values)


@pytest.mark.parametrize("breaks_at", ["open", "close"])
def test_every_part_is_closed_also_where_another_breaks(breaks_at: str, tmp_path: Path) -> None:
    closed = []

    class Closing(Part):
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)
            if self.name == "bad" and breaks_at == "close":
                raise ValueError("closing")

    def opens(settings: str, core: Core) -> Part:
        if (settings, breaks_at) == ("bad", "open"):
            raise ValueError("opening")
        return Closing(settings)

    parts = [
        PartWithSettings(PartKind(name=name, read=lambda values: None, open=opens), name)
        for name in ("first", "bad", "last")
    ]
    opening = open_arena("127.0.0.1:0", tmp_path / "league.db", [], logger(sys.stderr), parts=parts)
    with pytest.raises(ValueError, match=breaks_at.removesuffix("e")), opening as opened:
        assert [*opened.parts] == ["first", "bad", "last"]
    assert closed == (["first"] if breaks_at == "open" else ["last", "bad", "first"])
    with Store(tmp_path / "league.db"):  # nobody has it open any more
        pass


def test_a_part_answers_calls_from_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "league.db") as store:
        store.write(ensure_ladder, NewLadder("greed-main", game="greed", seats=2, rating=RATING))
    install(monkeypatch, "good=GOOD")
    with local(tmp_path / "league.db") as league:
        assert league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest()).matches[0].ladder == "greed-main"


def test_the_help_of_serve_has_the_flags_of_parts_and_names_those_that_do_not_work(tmp_path: Path) -> None:
    """In a process of its own, with a package that brings both kinds."""
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[cutpurse.server_parts]\ncounting = other_part:PART\nnotices = other_part:PART\nlost = no_such_module:PART\n"
    )
    (tmp_path / "other_part.py").write_text(
        "from cutpurse.server.settings import Setting\n"
        "from cutpurse.server.hosting.part import Part, PartKind\n"
        "PART = PartKind(name='counting', read=lambda values: None, open=lambda settings, core: Part(),\n"
        "    settings=[Setting('count_to', 'number', 0.0, metavar='N', help='Count to this.')])\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "cutpurse.cli", "serve", "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = " ".join(run.stdout.split())
    assert "--count-to N Count to this." in text
    assert "--notify KIND Send notices" in text, "a part of this distribution goes before one of another"
    assert "It does not start now: part lost of other does not load (ModuleNotFoundError" in text
    assert "It does not start now: a second part is called notices, that of other: remove one of the two." in text
