"""Each part can be taken out: the server starts, plays and rates without it, and leaves its data alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import text

from cutpurse.leaderboard import tournaments
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.server.installed_parts import installed_parts
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver, add_receiver
from cutpurse.server.parts.people.people_ladders import people_ladders
from cutpurse.server.parts.sign_in.accounts import ProviderAccount, link_account
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.submissions import NewSubmission
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.work import NewWork
from tests.leaderboard.sample_results import add_version, result
from tests.roots import CHECKOUT

DAWN: Final = datetime(2026, 11, 28, 6, 0, tzinfo=UTC)


def add_a_receiver(store: Store) -> None:
    store.write(add_receiver, NewReceiver("ann", WEBHOOK, "https://ann.example/", b"key"), DAWN)


def link_an_account(store: Store) -> None:
    store.write(link_account, ProviderAccount("https://login.school.example", "ann"), "ann", DAWN)


def leave_people(store: Store) -> None:
    (ladder, *_) = people_ladders(("random",), ["greed"])
    store.write(ensure_ladder, ladder.kept, DAWN)
    person, house = add_version(store, PEOPLE, "person-1", "1"), add_version(store, HOUSE, "people.random", "1")
    store.submit(result("match0001", [person, house], ladder=ladder.name, is_rated=False)).result()


def submit_a_bot(store: Store) -> None:
    store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", bytes(32), 1), DAWN)


def deal_a_match(store: Store) -> None:
    store.write(work.put, [NewWork("m1", "0.2.0", "{}", bytes(32))], DAWN)


def start_a_tournament(store: Store) -> None:
    store.write(ensure_ladder, Ladder("greed", "greed", 2).kept, DAWN)
    store.write(tournaments.start, EventEntry("0123456789ab", "greed", "ann", "{}", DAWN), 1)


def leave_nothing(store: Store) -> None:
    pass


# What a server with the part has left in the database, and in which table of its own.
DATA: Final[dict[str, tuple[str, Callable[[Store], None]]]] = {
    "cluster": ("", leave_nothing),  # its leases are in PostgreSQL only
    "events": ("", start_a_tournament),
    "hosts": ("", leave_nothing),
    "notices": ("receivers", add_a_receiver),
    "people": ("", leave_people),
    "sign_in": ("accounts", link_an_account),
    "submissions": ("submissions", submit_a_bot),
    "workers": ("work", deal_a_match),
}
NEED_IT: Final = {"submissions": {"hosts", "workers"}}


def test_every_part_is_taken_out_here() -> None:
    assert [kind.name for kind in installed_parts().kinds] == [*DATA]


@pytest.mark.parametrize("part", DATA)
def test_a_server_without_a_part_starts_plays_and_rates(part: str, tmp_path: Path) -> None:
    table, leave = DATA[part]
    with Store(tmp_path / "league.db") as store:
        leave(store)
    run = subprocess.run(
        [sys.executable, "-m", "tests.parts.without_part", part, str(tmp_path)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert {*facts["parts"]} == DATA.keys() - {part} - NEED_IT.get(part, set())
    settings = {setting.name for kind in installed_parts().kinds if kind.name == part for setting in kind.settings}
    assert settings.isdisjoint(facts["settings"])
    assert (facts["matches"], len({*facts["skills"]})) == ([2, 2], 2), "rated matches move the ratings"
    assert 'cutpurse_matches_ended_total{end="normal",ladder="greed"} 2.0' in facts["metrics"]
    no_events = "cutpurse: there are no events here: the part `events` is not installed\n"
    assert facts["matches_of_events"] == (no_events if part == "events" else "")
    if not table:
        assert facts["warnings"] == []
        return
    (warning,) = facts["warnings"]
    assert (warning["event"], warning["tables"]) == ("tables left alone", [table])
    assert f"no installed part of the server knows ({table})" in facts["copy"]
    assert not (tmp_path / "copy.db").exists()
    with LeaderboardReader(tmp_path / "league.db") as reader, reader.reading() as connection:
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 1
