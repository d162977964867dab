"""Shared files of submitted bots go when neither a version nor a worker's match needs them, and no sooner."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.parts.submissions import archive_table, submissions
from cutpurse.server.parts.submissions.stored_archives import SWEEP_S, ArchiveSweep, StoredArchives
from cutpurse.server.parts.submissions.submissions import ACCEPTED, NewSubmission
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.match_task import MatchTask, TaskSeat
from cutpurse.server.parts.workers.work import NewWork
from tests.leaderboard.sample_results import DAWN, LADDER, prepare, result
from tests.leaderboard.test_announced import announcement


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "league.db", hooks=hooks_of_parts()) as store:
        yield store


def built(store: Store, tmp_path: Path, text: str) -> tuple[bytes, set[bytes]]:
    """A stored archive with built files: its SHA-256, and all keys of it."""
    archives, before = StoredArchives(store), store.run(archive_table.archive_keys)
    digest = sha256(text.encode()).digest()
    tree = tmp_path / text
    tree.mkdir()
    (tree / "bot.py").write_text(text)
    archives.put(digest, text.encode())
    archives.put_built(digest, tree)
    return digest, store.run(archive_table.archive_keys) - before


def test_what_nothing_needs_at_two_looks_is_removed(store: Store, tmp_path: Path) -> None:
    digest, keys = built(store, tmp_path, "sneak")
    kept = store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", digest, 1, ()), DAWN)
    store.write(submissions.set_state, kept.id, ACCEPTED, DAWN, "")
    _, unneeded = built(store, tmp_path, "orphan")
    assert (len(keys), len(unneeded)) == (3, 3)
    sweep = ArchiveSweep(store)
    sweep.look(1.0)
    sweep.look(2.0)  # too early
    assert store.run(archive_table.archive_keys) == keys | unneeded
    late = sha256(b"late").digest()
    StoredArchives(store).put(late, b"late")  # its submission is about to be stored
    sweep.look(1.0 + SWEEP_S)
    assert store.run(archive_table.archive_keys) == keys | {late}
    sweep.look(1.0 + 2 * SWEEP_S)
    assert store.run(archive_table.archive_keys) == keys


def test_packed_files_stay_for_an_open_match_and_for_a_version_that_came_again(store: Store, tmp_path: Path) -> None:
    digest, keys = built(store, tmp_path, "sneak")
    archives, sweep = StoredArchives(store), ArchiveSweep(store)
    archives.drop(digest)  # no version needs it any more
    (packed,) = store.run(archive_table.archive_keys)
    players = prepare(store)[:4]
    match = result("open", players)
    store.announce(announcement(match)).result()
    seats = tuple(TaskSeat(player, packed.hex()) for player in match.players)
    facts: tuple[Any, ...] = (
        match.rules,
        {},
        {},
        match.deal.board,
        match.deal.commitment,
        match.deal.params,
        DAWN,
        "",
        seats,
    )
    task = MatchTask("open", LADDER, "greed", *facts)
    store.write_uncached(work.put, [NewWork("open", "0", task.to_json(), bytes(32))], DAWN)
    for number in range(1, 4):
        sweep.look(number * SWEEP_S)
    assert store.run(archive_table.archive_keys) == {packed}
    store.write_uncached(work.remove, ["open"])
    sweep.look(4 * SWEEP_S)
    archives.put(digest, b"sneak")
    archives.put_built(digest, tmp_path / "sneak")
    store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", digest, 1, ()), DAWN)
    sweep.look(5 * SWEEP_S)
    assert store.run(archive_table.archive_keys) == keys
