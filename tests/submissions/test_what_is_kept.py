"""What a desk keeps of what is handed in, and for how many bots, without a server and with nothing that is run."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from cutpurse.leaderboard import errors
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import SubmissionEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.submissions import REFUSED
from cutpurse.server.access.owners import OpenGuard
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import logger
from cutpurse.server.runners.port import runner_named
from cutpurse.server.submissions import intake
from cutpurse.server.submissions import submission_desk as desk_module
from cutpurse.server.submissions.checking import SubmissionCheck
from cutpurse.server.submissions.hosted_bots import HostingSite
from cutpurse.server.submissions.process_tokens import ProcessTokens
from cutpurse.server.submissions.storage import Storage, storage_beside
from cutpurse.server.submissions.submission_desk import SubmissionDesk
from tests.submissions.bad_archives import zipped


def archive(bot: str, source: str = "", version: str = "1") -> bytes:
    """A bot that is never run."""
    manifest = f'name = "{bot}"\nversion = "{version}"\nrun = ["python", "bot.py"]\n'
    return zipped([("bot.toml", manifest.encode()), ("bot.py", source.encode())])


class Kept:
    """A desk that has not begun, so that nothing is taken up, and what it keeps."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.store = store
        self.paused: set[Identity] = set()
        self.storage = Storage(storage_beside(folder / "league.db"))
        self.desk = SubmissionDesk(
            HostingSite(
                runner_named("process"),
                self.storage,
                store,
                ProcessTokens(OpenGuard()),
                logger(sys.stderr),
                lambda: datetime.now(UTC),
            ),
            is_paused=lambda identity: identity in self.paused,
        )

    def hand_in(self, owner: str, content: bytes) -> SubmissionEntry:
        """As the service does."""
        return self.desk.hand_in(owner, self.desk.look(content), content, [])

    def refuse(self, entry: SubmissionEntry) -> None:
        """Its check failed."""
        self.store.set_submission(entry.id, REFUSED, datetime.now(UTC), "it did not play")

    def accept(self, entry: SubmissionEntry) -> None:
        """It was built and passed its check."""
        self.storage.tree(entry.digest).mkdir()
        self.store.accept(entry.id, datetime.now(UTC), "")

    def archives(self) -> set[str]:
        """The hashes of those on the disk."""
        return {path.name for path in self.storage.root.iterdir() if len(path.name) == 64}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with Store(tmp_path / "league.db") as store:
        yield Kept(tmp_path, store)


def test_no_program_is_handed_in_as_a_person(kept: Kept) -> None:
    with pytest.raises(
        CallRefused, match=r"^'person' is the name of people who play on the page; give the bot another"
    ):
        kept.hand_in("ann", archive("person"))
    assert kept.archives() == set()


def test_what_was_refused_is_gone_when_others_take_its_place(kept: Kept) -> None:
    for source in "abc":
        entry = kept.hand_in("ann", archive("sneak", source))
        kept.refuse(entry)
    assert kept.archives() == {entry.digest.hex()}


def test_who_is_to_play_and_paused_is_told_why_he_does_not(kept: Kept) -> None:
    for version in "12":
        kept.accept(kept.hand_in("ann", archive("sneak", version=version)))
    older, newer = (kept.desk.entry("ann", "sneak", version) for version in "12")
    assert [kept.desk.shown(entry).why for entry in (older, newer)] == ["", ""]
    kept.paused |= {Identity("ann", "sneak", version) for version in "12"}
    why = "ann/sneak:2 is paused: it was taken over in too many of its recent rated matches. "
    why += "Mend it, then: cutpurse bot check BOT --unpause"
    told = [(entry.is_active, kept.desk.shown(entry).why) for entry in (older, newer)]
    assert told == [(False, ""), (True, why)]


def test_what_was_refused_stays_where_it_is_somebody_elses_too(kept: Kept) -> None:
    for owner in ("ann", "bob"):
        mine = kept.hand_in(owner, archive("sneak", "a"))
        kept.refuse(mine)
    other = kept.hand_in("ann", archive("sneak", "b"))
    assert kept.archives() == {mine.digest.hex(), other.digest.hex()}


def test_other_bytes_of_a_version_leave_nothing(kept: Kept) -> None:
    entry = kept.hand_in("ann", archive("sneak", "a"))
    kept.accept(entry)
    with pytest.raises(errors.InvalidEntry, match="other bytes"):
        kept.hand_in("ann", archive("sneak", "b"))
    assert kept.archives() == {entry.digest.hex()}


def test_two_who_hand_in_the_same_bytes_at_once_are_both_taken(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    both, really = threading.Barrier(2), os.fsync

    def slowly(handle: int) -> None:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)  # as where the disk is slow: the other writes by now, if he may
        really(handle)

    monkeypatch.setattr(os, "fsync", slowly)
    content = archive("first_bot")
    with ThreadPoolExecutor(2) as threads:
        handed_in = list(threads.map(lambda owner: kept.hand_in(owner, content), ("ann", "bob")))
    assert [entry.owner for entry in handed_in] == ["ann", "bob"]
    assert kept.storage.archive(handed_in[0].digest) == content


def test_an_older_version_does_not_come_back_beside_as_many_as_may_play(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "MOST_BOTS", 2)
    for bot in ("first", "second"):
        kept.accept(kept.hand_in("ann", archive(bot)))
    kept.desk.retire("ann", "first")
    third = kept.hand_in("ann", archive("third"))  # and waits for its check
    with pytest.raises(CallRefused, match=r"2 bots of ann play already \(second, third\), as many as may: retire one"):
        kept.desk.activate("ann", "first", "1")
    kept.refuse(third)
    assert kept.desk.activate("ann", "first", "1").is_active


def test_what_comes_again_as_soon_as_it_is_refused_is_taken_up(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    content = archive("sneak")
    really, again, taken = kept.store.set_submission, threading.Event(), threading.Semaphore(0)

    def refused(*facts: Any, **more: Any) -> SubmissionEntry:
        told = really(*facts, **more)
        if told.state == REFUSED and not again.is_set():  # its author was told, and is quick
            again.set()
            kept.hand_in("ann", content)
        return told

    def take_up(entry: SubmissionEntry) -> None:
        taken.release()
        kept.refuse(entry)

    monkeypatch.setattr(kept.store, "set_submission", refused)
    monkeypatch.setattr(kept.desk.intake, "take_up", take_up)
    kept.hand_in("ann", content)
    kept.desk.intake.begin()
    assert taken.acquire(timeout=60)
    assert taken.acquire(timeout=5)
    kept.desk.intake.close()


def test_plain_processes_are_for_one_owner_also_if_another_comes_later(kept: Kept) -> None:
    now = datetime.now(UTC)
    kept.store.create_tokens([NewToken("ann"), NewToken("root", scopes=("admin",))], now)
    kept.hand_in("ann", archive("sneak"))
    kept.store.create_tokens([NewToken("bob")], now)
    for owner in ("ann", "bob"):
        with pytest.raises(CallRefused, match="2 owners have tokens here, and bots are run as plain processes"):
            kept.hand_in(owner, archive("other"))
    assert len(kept.archives()) == 1


def test_who_was_retired_ends_though_the_store_could_not_be_asked_who_is_to_run(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = kept.hand_in("ann", archive("sneak"))
    kept.accept(entry)
    told: list[list[str]] = []
    monkeypatch.setattr(kept.desk.residents, "set", lambda wanted: told.append([one.bot for one, _ in wanted]))
    really, is_broken = kept.store.submissions, True

    def submissions(*facts: Any) -> list[SubmissionEntry]:
        if is_broken and not facts:
            raise errors.StoreError("disk I/O error")
        return really(*facts)

    monkeypatch.setattr(kept.store, "submissions", submissions)
    assert not kept.desk.retire("ann", "sneak").is_active
    kept.desk.residents.look(1.0)
    assert told == []
    is_broken = False
    kept.desk.residents.look(2.0)
    kept.desk.residents.look(3.0)
    assert told == [[]]


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("fails_at", ["set_submission", "accept"])
def test_what_the_store_does_not_write_down_is_taken_up_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, fails_at: str, is_written: bool
) -> None:
    really, failures, running = getattr(kept.store, fails_at), itertools.count(), threading.Event()

    def fails(*facts: Any, **more: Any) -> SubmissionEntry:
        if next(failures):
            return cast("SubmissionEntry", really(*facts, **more))
        if is_written:
            really(*facts, **more)
        raise errors.Unsure("disk I/O error")

    def build(_runner: object, storage: Storage, digest: bytes, *_: object) -> list[str]:
        storage.tree(digest).mkdir(exist_ok=True)
        return ["built"]

    def run(wanted: Sequence[tuple[SubmissionEntry, object]]) -> None:
        if wanted:
            running.set()

    monkeypatch.setattr(intake, "FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(intake, "build", build)
    monkeypatch.setattr(intake, "check_apart", lambda *_: SubmissionCheck(()))
    monkeypatch.setattr(kept.store, fails_at, fails)
    monkeypatch.setattr(kept.desk.residents, "set", run)
    kept.hand_in("ann", archive("sneak"))
    kept.desk.intake.begin()
    assert running.wait(60)
    kept.desk.intake.close()
    assert [(one.state, one.is_active) for one in kept.store.submissions("ann")] == [("accepted", True)]


def test_a_server_stops_though_the_store_never_writes_down_what_was_handed_in(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def fails(entry: SubmissionEntry) -> None:
        tried.set()
        raise errors.StoreError("disk I/O error")

    monkeypatch.setattr(kept.desk.intake, "take_up", fails)
    kept.hand_in("ann", archive("sneak"))
    kept.desk.intake.begin()
    assert tried.wait(60)
    kept.desk.intake.close()
    assert [one.state for one in kept.store.submissions("ann")] == ["received"]
