"""kill -9 of a place and of its server in turn: nobody is faulted, what was cut off is void, and ratings are right."""

from __future__ import annotations

from pathlib import Path

from cutpurse.engine.match import EndCause
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.kill_loops import KillLoop
from tests.looking import until
from tests.parts.hosts.real_place import RealPlace
from tests.parts.submissions.desks import bot_folder
from tests.parts.submissions.servers import RealServer, cutpurse

MATCH_S = 300.0  # for a match after a kill, on a busy machine
LADDERS = """
[[ladder]]
name = "duel"
game = "greed"
seats = 2
clock = { base_ms = 20000, bank_ms = 20000 }
"""


def test_no_bot_is_faulted_for_a_kill_and_ratings_are_recomputed_equal(short: Path, kill_loop: KillLoop) -> None:
    rng, kills = kill_loop.rng, kill_loop.kills
    (short / "ladders.toml").write_text(LADDERS)
    server = RealServer(short, "--submissions", "process", "--places", "--ladders", "ladders.toml")
    place = RealPlace(short, server.address, "lab1", "--runner", "process", "--cores", "2")
    try:
        server.start()
        place.start()
        for name in ("sneak", "other"):
            folder = bot_folder(short, name=name)
            done = cutpurse(
                "bot", "submit", str(folder), "--ladder", "duel", folder=short, CUTPURSE_SERVER=server.address
            )
            assert done.returncode == 0, done.stderr
        for kill in kills:
            kill_loop.killed("place" if kill % 2 else "server")
            enough = server.growing.count('"match ended"') + rng.randint(1, 3)
            until(lambda: server.growing.count('"match ended"') >= enough, "matches are played", MATCH_S)  # noqa: B023
            victim: RealServer | RealPlace = place if kill % 2 else server
            victim.kill()
            victim.start()
        enough = server.growing.count('"match ended"') + 1
        until(lambda: server.growing.count('"match ended"') >= enough, "a match is played", MATCH_S)
        assert "broke" not in server.said()
        assert "taken off" not in server.said()
    except BaseException as problem:
        problem.add_note(server.said()[-3_000:])
        problem.add_note(place.said()[-1_000:])
        raise
    finally:
        place.stop()
        server.stop()
    with Store(short / "league.db") as store:
        matches = store.run(queries.matches, limit=100_000)
        (check,) = recompute(store)
    assert check.equal, check.differences
    assert [match.match for match in matches if any(seat.faults for seat in match.seats)] == []
    assert {match.void_cause for match in matches} == {None, EndCause.VOID_SERVER.value}
    assert sum(match.void_cause is None for match in matches) > len(kills)
    kill_loop.count(matches=len(matches), void_matches=sum(match.void_cause is not None for match in matches))
