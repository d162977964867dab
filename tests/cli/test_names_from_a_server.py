"""What a server says becomes a part of files' names here: only what is none of a path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cutpurse.cli.commands import bot_logs
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import write_record
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2, ladder_pb2, submission_pb2
from cutpurse.wire import submission_client
from tests.typed import run


class Server:
    """One that says of a bot that was handed in what it likes."""

    def __init__(self, bot: str, version: str) -> None:
        self.shown = submission_pb2.SubmissionShown(bot=bot, version=version)

    def log(self, bot: str, version: str = "") -> submission_pb2.GetSubmissionLogResponse:
        return submission_pb2.GetSubmissionLogResponse(submission=self.shown)

    def archive(self, bot: str, version: str = "") -> bytes:
        return b"PK"


@pytest.mark.parametrize(
    ("bot", "version", "files"),
    [("sneak", "2", ["sneak-2.zip"]), ("../sneak", "2", ["sneak-2.zip"]), ("sneak", "/../../x", [])],
)
def test_an_archive_that_is_fetched_stays_in_the_folder(
    bot: str, version: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def submissions_at(*_: object) -> Iterator[Server]:
        yield Server(bot, version)

    monkeypatch.setattr(submission_client, "submissions_at", submissions_at)
    here = tmp_path / "here" / "sneak-"
    here.mkdir(parents=True)
    monkeypatch.chdir(here.parent)
    told = run("bot", "submitted", "sneak", "--fetch")
    assert sorted(path.name for path in tmp_path.rglob("*.zip")) == files
    assert [path.parent for path in tmp_path.rglob("*.zip")] == [here.parent for _ in files]
    assert told.exit_code == (0 if files else 1)
    if not files:
        assert "the server sent an invalid version: /../../x" in told.stderr


def test_tests_of_faults_stay_in_their_folder(tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["sneak", "random"], bytes(32), log=True)
    asked = match.decision()
    assert asked is not None
    match.fault(asked.seat, asked.number, EndCause.TIMEOUT, "")
    while (asked := match.decision()) is not None:
        match.answer(asked.seat, asked.number, 0)
    pieces = [ladder_pb2.GetRecordResponse(piece=f"{write_record(match)}\n".encode())]
    league: Any = SimpleNamespace(GetRecord=lambda request: pieces)
    fault = ladder_pb2.SeatFault(decision=1, at=0, cause=arena_pb2.END_CAUSE_TIMEOUT)
    log = ladder_pb2.SeatLog(course=ladder_pb2.SeatCourse(thinking_ms=[40], faults=[fault]))
    log.match.match = "a/../../whatever"
    written = bot_logs._tests(league, [log], tmp_path / "tests", "")
    assert list(written) == [tmp_path / "tests" / "test_a_______what_0.py"]
    assert list(tmp_path.rglob("*.py")) == [*written]
