"""A league whose server is killed repeatedly, and which must not lose any result that a bot was sent.

    python -m tests.faults.league --minutes 10 --kill-every 60 --seed 1

Twelve bots of four owners play on one ladder of a real `cutpurse serve`. The bots of each owner run in their own
process with the owner's token. The server is killed with SIGKILL and started again at the same address. At the end it
is stopped, and the database is compared with the bots' own logs. The exit code is 0, or 1 with a list of errors.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from typing import Final

from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.faults.processes import Herd, Server, herd, server
from tests.looking import until

__all__ = ["LeagueRun", "Plan", "Verdict", "main", "owners_of", "tokens_of"]

OWNERS: Final = ("ann", "bob", "cid", "dan")
LAST_KILL_S: Final = 0.5  # maximum random delay of a kill, so that it can hit any point of a match
TROUBLE: Final = ("match broke down", "stream broke", "lobby broke", "result not stored", "call broke", "Traceback")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: `kills` kills, each after `matches` more finished matches and `seconds` seconds."""

    kills: int = 3
    matches: int = 12
    seconds: float = 0.0
    bots: int = 12
    tables: int = 2
    game: str = "greed"
    seed: int = 1
    think_ms: tuple[int, int] = (2, 10)


@dataclass(slots=True)
class Verdict:
    """The result of a run: `wrong` is empty if there is no error."""

    wrong: list[str] = field(default_factory=list)
    told: int = 0  # matches that bots were sent as rated
    counted: int = 0  # stored matches that are not void
    void: int = 0


def owners_of(bots: int) -> dict[str, list[str]]:
    """Distribute the bots evenly among the owners."""
    return {owner: [f"{owner}s_{number}" for number in range(at, bots, 4)] for at, owner in enumerate(OWNERS)}


def tokens_of(folder: Path, owners: Sequence[str]) -> dict[str, str]:
    """Create a token for each owner with the command line, as an administrator does."""
    (folder / "class.csv").write_text("owner\n" + "".join(f"{owner}\n" for owner in owners), encoding="utf-8")
    words = ("token", "create", "--from", "class.csv", "--out", "tokens.csv", "--db", "league.db")
    subprocess.run([sys.executable, "-m", "cutpurse.cli", *words], check=True, cwd=folder, capture_output=True)
    with (folder / "tokens.csv").open(encoding="utf-8", newline="") as file:
        return {row["owner"]: row["token"] for row in csv.DictReader(file)}


class LeagueRun:
    """One run in an empty folder."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.chance = Random(plan.seed)
        self.verdict = Verdict()
        self.herds: dict[str, Herd] = {}
        self.servers: list[Server] = []
        self.killed: list[float] = []  # times by the clock of the bots' logs

    def run(self) -> Verdict:
        """Run the whole plan."""
        tokens = tokens_of(self.folder, OWNERS)
        with ExitStack() as stack:
            self._start(stack)
            plan = self.plan
            for owner, names in owners_of(plan.bots).items():
                self.herds[owner] = stack.enter_context(
                    herd(
                        self.folder,
                        self.servers[0].address,
                        names,
                        plan.tables,
                        plan.think_ms,
                        f"book_{owner}",
                        tokens[owner],
                    )
                )
            for _ in range(plan.kills):
                self._play(plan.matches, plan.seconds)
                Event().wait(self.chance.uniform(0.0, LAST_KILL_S))
                self.servers[-1].signal(signal.SIGKILL)
                self.servers[-1].ends()
                self.killed.append(time.monotonic())
                self._start(stack)
            self._play(plan.matches, plan.seconds)
            everybody = {name for names in owners_of(plan.bots).values() for name in names}
            until(lambda: self._played_since(self.killed[-1]) == everybody, "every bot plays again")
            self.servers[-1].signal(signal.SIGTERM)
            if (code := self.servers[-1].ends()) != 0:
                self.verdict.wrong.append(f"the last server ended with exit code {code}")
            self.verdict.wrong += [
                f"the bots of {owner} have ended" for owner, one in self.herds.items() if one.process.poll() is not None
            ]
        self._judge()
        return self.verdict

    def _start(self, stack: ExitStack) -> None:
        address = self.servers[0].address if self.servers else ""
        words = ("--game", self.plan.game, "--drain", "3600")
        name = f"server{len(self.servers)}"
        self.servers.append(stack.enter_context(server(self.folder, *words, address=address, name=name)))

    def _play(self, matches: int, seconds: float) -> None:
        """Wait until `matches` matches have ended and `seconds` have passed."""
        ends_at = time.monotonic() + seconds
        host = self.servers[-1]
        until(lambda: len(host.events("match ended")) >= matches, f"{matches} more matches")
        Event().wait(max(0.0, ends_at - time.monotonic()))

    def _played_since(self, moment: float) -> set[str]:
        """Return the bots that received the end of a match that began after `moment`."""
        told = set()
        for one in self.herds.values():
            begun = {(line["bot"], line["match"]) for line in one.book() if line.get("began", 0.0) > moment}
            told |= {bot for bot, match, _, _ in one.heard() if (bot, match) in begun}
        return told

    # -- the verdict
    def _judge(self) -> None:
        wrong = self.verdict.wrong
        for number, host in enumerate(self.servers):
            wrong += [f"server {number} says {text!r}" for text in TROUBLE if text in host.said]
        wrong += [
            f"{line['bot']}: {line['stopped']}"
            for one in self.herds.values()
            for line in one.book()
            if "stopped" in line
        ]
        with closing(sqlite3.connect(self.folder / "league.db")) as connection:
            stored = dict(connection.execute("SELECT id, void_cause FROM matches").fetchall())
            wrong += self._wrong_with_the_database(connection, stored)
        wrong += self._wrong_with_the_books(stored)
        with Store(self.folder / "league.db") as store:
            wrong += [f"ladder {one.ladder}: {text}" for one in recompute(store) for text in one.differences]
        self.verdict.counted = sum(cause is None for cause in stored.values())
        self.verdict.void = len(stored) - self.verdict.counted

    def _wrong_with_the_database(self, connection: sqlite3.Connection, stored: dict[str, str | None]) -> list[str]:
        (rows,) = connection.execute("SELECT count(*) FROM matches").fetchone()
        wrong = [f"{rows - len(stored)} matches are stored twice"] if rows != len(stored) else []
        open_boards = connection.execute("SELECT id FROM boards WHERE id NOT IN (SELECT board_id FROM matches)")
        wrong += [f"board {board} was announced, and is neither stored nor void" for (board,) in open_boards]
        together = connection.execute(
            "SELECT matches.id, owners.name, count(*) FROM seats JOIN matches ON matches.number = match_number "
            "JOIN versions ON versions.id = version_id JOIN bots ON bots.id = bot_id "
            "JOIN owners ON owners.id = owner_id GROUP BY matches.id, owners.name HAVING count(*) > 1"
        )
        return wrong + [f"{count} bots of {owner} met in match {match}" for match, owner, count in together]

    def _wrong_with_the_books(self, stored: dict[str, str | None]) -> list[str]:
        heard = Counter((bot, match) for one in self.herds.values() for bot, match, _, _ in one.heard())
        wrong = [f"{bot} heard {count} times of match {match}" for (bot, match), count in heard.items() if count > 1]
        rated = {match for one in self.herds.values() for _, match, _, is_rated in one.heard() if is_rated}
        wrong += [f"match {match} was told as rated and is not stored" for match in rated if match not in stored]
        wrong += [f"match {match} was told as rated and is void" for match in rated if stored.get(match)]
        began = {line["match"] for one in self.herds.values() for line in one.book() if "began" in line}
        wrong += [f"match {match} was begun and is nowhere" for match in began if match not in stored]
        self.verdict.told = len(rated)
        return wrong


def main(words: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description="Kill the server of a league again and again, and see what is lost.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kill-every", type=float, default=60.0, metavar="S")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the child processes are ended
    kills = max(1, round(60 * given.minutes / given.kill_every))
    plan = Plan(kills=kills, seconds=given.kill_every, seed=given.seed, think_ms=(5, 50))
    with tempfile.TemporaryDirectory(prefix="league-") as folder:
        verdict = LeagueRun(plan, Path(folder)).run()
    sys.stdout.write(
        f"{kills} kills; {verdict.counted} matches count, {verdict.told} were told as rated, {verdict.void} are void\n"
        + "".join(f"WRONG: {text}\n" for text in verdict.wrong)
    )
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
