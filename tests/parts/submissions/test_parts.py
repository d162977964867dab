"""The parts that a bot which the server runs is let in and measured by, each alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cutpurse.leaderboard.results import NORMAL, FinishedMatch, FinishedSeat, Identity
from cutpurse.leaderboard.tokens import new_token
from cutpurse.server.access.owners import ANYBODY, Grant, HostedBotIdentity, OpenGuard, TokenRefused
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.lobby import OpenMatch
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.resource_meters import ResourceMeters
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submission_desk import requested_ladders
from cutpurse.server.runners.port import ResourceUse
from cutpurse.server.streams.hello import introduction
from cutpurse.server.submitted_files import storage_beside
from cutpurse.v1 import arena_pb2
from cutpurse.wire.manifest import Manifest

OFFERED = {"greed": ["greed", "duel"], "szmal": ["szmal"]}
SNEAK = HostedBotIdentity("sneak", "3", ("duel", "szmal"), 4)


def bearer(secret: str) -> list[tuple[str, str | bytes]]:
    return [("authorization", f"Bearer {secret}")]


def test_a_pass_lets_in_one_bot_as_long_as_it_lives() -> None:
    passes = ProcessTokens(OpenGuard())
    token = passes.give("ann", SNEAK)
    grant = passes.enter(bearer(token.reveal()), "unix:", "play", 0.0)
    assert grant == Grant("ann", token.id, ("play",), resident=SNEAK)
    assert passes.recognise(bearer(token.reveal()), "unix:", 0.0) is None  # elsewhere it is a stranger
    assert passes.is_good(token.id)
    with pytest.raises(TokenRefused, match="good for play, not for admin"):
        passes.enter(bearer(token.reveal()), "unix:", "admin", 0.0)
    assert passes.look(0.0) is False
    passes.take_back(token)
    assert passes.look(0.0) is True  # so that its stream is ended
    assert passes.look(0.0) is False
    assert passes.enter(bearer(token.reveal()), "unix:", "play", 0.0) == ANYBODY  # what the others say of it


@pytest.mark.parametrize("shown", [[], bearer("cutp_x"), bearer(new_token().reveal()), [("authorization", b"x")]])
def test_what_is_no_pass_is_another_guards_business(shown: list[tuple[str, str | bytes]]) -> None:
    passes = ProcessTokens(OpenGuard())
    passes.give("ann", SNEAK)
    assert passes.enter(shown, "unix:", "play", 0.0) == ANYBODY


def met(resident: HostedBotIdentity, **hello: Any) -> Any:
    said = arena_pb2.Hello(protocol_major=1, bot="whoever", version="9", max_tables=60, **hello)
    return introduction(said, Grant("ann", "t", ("play",), resident=resident), OFFERED, ServerLimits())


def test_whatever_a_resident_says_it_is_who_was_handed_in() -> None:
    told = met(SNEAK)
    assert told.identity == Identity("ann", "sneak", "3")
    assert (told.max_tables, told.most_tables) == (4, 4)
    assert told.wanted == {"greed": ("duel",), "szmal": ("szmal",)}
    assert met(SNEAK._replace(ladders=())).wanted == {}


def test_a_resident_plays_what_it_wants_of_what_it_was_handed_in_for() -> None:
    greed = arena_pb2.GameWanted(game="greed")
    assert met(SNEAK, games=[greed]).wanted == {"greed": ("duel",)}
    other = arena_pb2.GameWanted(game="greed", ladders=["greed"])
    with pytest.raises(CallRefused, match="sneak was submitted for duel, szmal, and wants to play elsewhere"):
        met(SNEAK, games=[other])


def test_ladders_are_looked_at_when_a_bot_is_handed_in() -> None:
    plays = Manifest("sneak", "1", ("greed",), "python", ("python", "a.py"))
    assert requested_ladders(plays, ["duel", "duel"], OFFERED) == {"greed": ("duel",)}
    assert requested_ladders(plays, [], OFFERED) == {"greed": ()}
    with pytest.raises(CallRefused, match=r"ladder szmal plays szmal; by its bot\.toml it plays greed only"):
        requested_ladders(plays, ["szmal"], OFFERED)
    with pytest.raises(CallRefused, match="no ladder is called 'x'; there are: duel, greed, szmal"):
        requested_ladders(plays, ["x"], OFFERED)
    with pytest.raises(CallRefused, match="greed is not played here; there are: szmal"):
        requested_ladders(plays, [], {"szmal": ["szmal"]})


@dataclass
class Process:
    """One whose use is told."""

    used: ResourceUse

    def use(self) -> ResourceUse:
        return self.used


ANN, BOB, EVE = (Identity(owner, "bot", "1") for owner in ("ann", "bob", "eve"))


def finished(*seats: Identity) -> FinishedMatch:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return FinishedMatch(
        match="m1",
        ladder="duel",
        rules="1",
        deal=cast("Any", None),
        started=now,
        finished=now,
        seats=tuple(FinishedSeat(seat, 1, 0, NORMAL) for seat in seats),
        decisions=0,
    )


def test_what_a_process_used_between_begin_and_end_is_on_its_seat() -> None:
    ann, bob = Process(ResourceUse(1.0, 100)), Process(ResourceUse(5.0, 300))
    running = {ANN: ann.use, BOB: bob.use}
    meters = ResourceMeters(lambda: running)
    now = datetime(2026, 11, 21, tzinfo=UTC)
    table: Any = SimpleNamespace(name="m1")
    meters.started(OpenMatch(table, (), Seating(Ladder("duel", "greed", 3), ()), now, (ANN, BOB, EVE)))
    ann.used, bob.used = ResourceUse(1.25, 200), ResourceUse(6.0, 400)
    running[BOB] = Process(ResourceUse(0.1, 50)).use  # it was started anew meanwhile
    measured = meters.measured(finished(ANN, BOB, EVE))
    assert [(seat.cpu_ms, seat.peak_bytes) for seat in measured.seats] == [(250, 200), (None, None), (None, None)]
    untouched = finished(ANN, BOB, EVE)
    assert meters.measured(untouched) is untouched  # it was told of once


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    root = storage_beside(tmp_path / "league.db")
    storage = Storage(root)
    digest = storage.keep(b"archive")
    assert storage.keep(b"archive") == digest
    assert storage.archive(digest) == b"archive"
    part = storage.part(digest)
    part.mkdir()
    (part / "bot.py").write_text("half")
    storage.close()
    storage = Storage(root)  # killed in the middle of it
    assert not storage.tree(digest).exists()
    assert [path.name for path in (root / digest.hex()).iterdir()] == ["bot.zip"]
    part = storage.part(digest)
    part.mkdir()
    (part / "bot.py").write_text("whole")
    assert (storage.built(digest) / "bot.py").read_text() == "whole"
    (root / digest.hex() / "bot.zip").write_bytes(b"something else")
    with pytest.raises(FileNotFoundError, match="damaged"):
        storage.archive(digest)
    other = storage.keep(b"other")
    assert storage.remove_others([other]) == 1
    assert storage.archive(other) == b"other"
    assert {path.stat().st_mode & 0o777 for path in (root, storage.run, storage.talk)} == {0o700}


def test_what_a_build_left_behind_is_removed_whatever_it_is(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "league.db.bots")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("kept")
    digest = storage.keep(b"archive")
    part = storage.part(digest)
    part.mkdir()
    (part / "link").symlink_to(tmp_path / "precious")
    (part / "broken").symlink_to("nowhere")
    (part / "locked").mkdir()
    (part / "locked" / "file").write_text("x")
    (part / "locked" / "link").symlink_to(tmp_path / "precious", target_is_directory=True)
    (part / "locked").chmod(0)
    at = os.open(part, os.O_RDONLY)
    for _ in range(3_000):  # far beyond the length of a path, and the depth of Python's calls
        os.mkdir("a" * 50, dir_fd=at)
        inner = os.open("a" * 50, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    Storage(tmp_path / "league.db.bots")  # the next start
    assert not part.with_name("tree.part").exists()
    assert [path.name for path in part.parent.iterdir()] == ["bot.zip"]
    assert (tmp_path / "precious" / "file").read_text() == "kept"
