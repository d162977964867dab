"""What a desk keeps of what is handed in, and for how many bots, without a server and with nothing that is run."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from cutpurse.check.findings import CheckStatus, Finding
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.access.owners import OpenGuard
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions import intake, submission_queries, submissions
from cutpurse.server.parts.submissions import submission_desk as desk_module
from cutpurse.server.parts.submissions.checking import SubmissionCheck, _result
from cutpurse.server.parts.submissions.hosted_bots import HostingSite
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submission_desk import SubmissionDesk
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.submissions import REFUSED
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.submitted_files import storage_beside
from tests.leaderboard.store_calls import replace_call
from tests.parts.submissions.bad_archives import zipped


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
        self.store.write(submissions.set_state, entry.id, REFUSED, datetime.now(UTC), "it did not play")

    def accept(self, entry: SubmissionEntry) -> None:
        """It was built and passed its check."""
        self.storage.tree(entry.digest).mkdir()
        self.store.write(submissions.accept, entry.id, datetime.now(UTC), "")

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
            both.wait(0.5)  # as where the disk is slow: the other writes by now, if it may
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
    again, taken = threading.Event(), threading.Semaphore(0)

    def refused(*facts: Any, **more: Any) -> SubmissionEntry:
        told = cast("SubmissionEntry", really(*facts, **more))
        if told.state == REFUSED and not again.is_set():  # its author was told, and is quick
            again.set()
            kept.hand_in("ann", content)
        return told

    def take_up(entry: SubmissionEntry) -> None:
        taken.release()
        kept.refuse(entry)

    really = replace_call(monkeypatch, kept.store, submissions.set_state, refused)
    monkeypatch.setattr(kept.desk.intake, "take_up", take_up)
    kept.hand_in("ann", content)
    kept.desk.intake.begin()
    assert taken.acquire(timeout=240)
    assert taken.acquire(timeout=240)
    kept.desk.intake.close()


def test_plain_processes_are_for_one_owner_also_if_another_comes_later(kept: Kept) -> None:
    now = datetime.now(UTC)
    kept.store.write(create_tokens, [NewToken("ann"), NewToken("root", scopes=("admin",))], now)
    kept.hand_in("ann", archive("sneak"))
    kept.store.write(create_tokens, [NewToken("bob")], now)
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
    is_broken = True

    def listed(*facts: Any) -> list[SubmissionEntry]:
        if is_broken and not facts:
            raise errors.StoreError("disk I/O error")
        return cast("list[SubmissionEntry]", really(*facts))

    really = replace_call(monkeypatch, kept.store, submission_queries.submissions, listed)
    assert not kept.desk.retire("ann", "sneak").is_active
    kept.desk.residents.look(1.0)
    assert told == []
    is_broken = False
    kept.desk.residents.look(2.0)
    kept.desk.residents.look(3.0)
    assert told == [[]]


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("fails_at", [submissions.set_state, submissions.accept])
def test_what_the_store_does_not_write_down_is_taken_up_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, fails_at: Callable[..., SubmissionEntry], is_written: bool
) -> None:
    failures, running = itertools.count(), threading.Event()

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
    really = replace_call(monkeypatch, kept.store, fails_at, fails)
    monkeypatch.setattr(kept.desk.residents, "set", run)
    kept.hand_in("ann", archive("sneak"))
    kept.desk.intake.begin()
    assert running.wait(240)
    kept.desk.intake.close()
    assert [(one.state, one.is_active) for one in kept.store.run(submission_queries.submissions, "ann")] == [
        ("accepted", True)
    ]


BUSY = "the machine was busy: it gave no processor for 60.0 of 70.0 s; it is not the bot's fault: submit it again"


@pytest.mark.parametrize(("busy", "state", "why"), [(2, "accepted", ""), (3, "refused", BUSY)])
def test_a_submission_is_checked_again_if_the_machine_was_busy_and_the_machine_is_named(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, busy: int, state: str, why: str
) -> None:
    checks = iter([*[SubmissionCheck((), BUSY, is_busy=True)] * busy, SubmissionCheck(())])
    monkeypatch.setattr(intake, "build", lambda _, storage, digest, *__: storage.tree(digest).mkdir() or [])
    monkeypatch.setattr(intake, "check_apart", lambda *_: next(checks))
    kept.hand_in("ann", archive("sneak"))
    (entry,) = kept.store.run(submission_queries.submissions, "ann")
    kept.desk.intake.take_up(entry)
    assert [(one.state, one.why) for one in kept.store.run(submission_queries.submissions, "ann")] == [(state, why)]


@pytest.mark.parametrize(
    ("findings", "busy", "is_late", "why", "is_busy"),
    [
        ([], "the machine was busy", True, "the machine was busy; it is not the bot's fault: submit it again", True),
        ([], "", True, "its check was not over in 420 s", False),
        (
            [Finding("nonce", CheckStatus.FAILED, "2")],
            "the machine was busy",
            True,
            "its check failed at nonce: 2",
            False,
        ),
    ],
)
def test_a_check_that_is_cut_off_names_the_bot_or_the_machine(
    findings: list[Finding], busy: str, is_late: bool, why: str, is_busy: bool
) -> None:
    assert _result(tuple(findings), -9, busy, is_late) == SubmissionCheck(tuple(findings), why, is_busy)


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
    assert tried.wait(240)
    kept.desk.intake.close()
    assert [one.state for one in kept.store.run(submission_queries.submissions, "ann")] == ["received"]
