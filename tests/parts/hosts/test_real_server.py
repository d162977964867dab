"""A real server with TLS, owners and sandboxes, and a real place with a token: also when the server is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from tests.looking import until
from tests.parts.hosts.real_place import RealPlace
from tests.parts.submissions.desks import bot_folder
from tests.parts.submissions.servers import RealServer, cutpurse
from tests.ports import free_port

LADDERS = """
[[ladder]]
name = "duel"
game = "greed"
seats = 2
clock = { base_ms = 20000, bank_ms = 20000 }
"""


@dataclass
class League:
    """A folder with a database, tokens and certificates, and its server."""

    folder: Path
    server: RealServer
    address: str

    def token(self, owner: str, *flags: str) -> str:
        done = cutpurse("token", "create", owner, "--db", "league.db", "--json", *flags, folder=self.folder)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["token"])

    def run(self, *words: str, token: str = "") -> str:
        where = {"CUTPURSE_SERVER": self.address, "CUTPURSE_CA": str(self.folder / "ca.pem")}
        done = cutpurse(*words, folder=self.folder, **where, CUTPURSE_TOKEN=token)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def place(self, name: str, token: str, *flags: str) -> RealPlace:
        flags = ("--ca", str(self.folder / "ca.pem"), "--cores", "2", "--log-level", "info", *flags)
        return RealPlace(self.folder, self.address, name, *flags, CUTPURSE_TOKEN=token)


@pytest.fixture
def league(short: Path) -> Iterator[League]:
    port = free_port()
    ca = trustme.CA()
    made = ca.issue_cert("localhost", "127.0.0.1")
    ca.cert_pem.write_to_path(str(short / "ca.pem"))
    made.private_key_pem.write_to_path(str(short / "key.pem"))
    (short / "cert.pem").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
    (short / "ladders.toml").write_text(LADDERS)
    tls = ("--tls-cert", "cert.pem", "--tls-key", "key.pem")
    server = RealServer(short, "--submissions", "bubblewrap", "--places", "--ladders", "ladders.toml", *tls)
    server.address = f"127.0.0.1:{port}"
    yield League(short, server, f"https://127.0.0.1:{port}")
    server.stop()


def test_bots_play_in_sandboxes_at_a_place_over_tls_and_after_the_server_was_killed(league: League) -> None:
    ann, bob, lab = league.token("ann"), league.token("bob"), league.token("lab", "--scope", "place")
    league.server.start()
    place = league.place("lab1", lab)
    try:
        place.start()
        for owner, token in (("ann", ann), ("bob", bob)):
            folder = bot_folder(league.folder, name=f"sneak-{owner}")
            said = league.run("bot", "submit", str(folder), "--ladder", "duel", token=token)
            assert said == f"on the ladder as {owner}/sneak-{owner}:1\n"

        def matches() -> list[dict[str, object]]:
            told: list[dict[str, object]] = json.loads(league.run("match", "list", "--json", token=ann))["matches"]
            return told

        until(lambda: bool(matches()), "a match is played")
        league.server.kill()
        until(lambda: "no server for 2 s: 2 bots are stopped here" in place.said(), "the place stops its bots")
        before = len(league.server.said().splitlines())
        league.server.start()
        until(lambda: "again as lab1" in place.said(), "the place is back")

        def new() -> str:
            return "\n".join(league.server.said().splitlines()[before:])

        until(lambda: new().count("bot sent to a place") == 2, "the bots are sent again")
        until(lambda: new().count('"match ended"') > 0, "a match is played again")
        assert all(seat["faults"] == 0 for match in matches() for seat in match["seats"])  # type: ignore[attr-defined]
        assert "residents broke" not in league.server.said()
        assert "part broke" not in league.server.said()
        assert "league.db.bots" not in place.said()
    finally:
        place.stop()
    assert place.wait() == 0


def test_who_may_not_be_a_place_is_told_in_one_line(league: League) -> None:
    play, lab = league.token("ann"), league.token("lab", "--scope", "place")
    admin = league.token("root", "--scope", "admin")
    league.server.start()
    good = league.place("lab1", lab)
    try:
        good.start()
        unknown = "cutp_" + "0" * 38
        for token, flags, code, text in (
            (play, (), 6, "this token is good for play, read, not for place; ask for one that is"),
            (unknown, (), 6, "this token is not valid here: it is unknown, malformed, expired or revoked"),
            (lab, ("--name", "lab1"), 1, "a place called lab1 attends already; choose another name with --name"),
            (lab, ("--name", "Lab 1"), 1, "a place's name is 'Lab 1'; it can be 1 to 32 of a-z"),
            (lab, ("--runner", "process"), 1, "this server isolates bots: use --runner bubblewrap"),
            (lab, ("--cores", "0"), 2, "--cores 0: it is a number above 0"),
            (lab, ("--folder", str(good.folder)), 2, "another place uses it; choose another one"),
        ):
            place = league.place(f"other{code}", token, *flags)
            place.spawn()
            assert place.wait() == code, place.said()
            last = place.said().splitlines()[-1]
            assert text in last
        token_id = lab.removeprefix("cutp_")[:8]
        league.run("token", "revoke", token_id, "--server", league.address, token=admin)
        assert good.wait() == 6
        assert "this token is not valid here" in good.said().splitlines()[-1]
    finally:
        good.stop()
