"""A server that stops, is hurried, or is killed, with bots at its tables: no match is lost without a word."""

from __future__ import annotations

import signal
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.faults.processes import Herd, Server, herd, server
from tests.looking import until
from tests.sdk.programs import wait_until_gone

VOID = "void_server"
# A bot that is slow for a shorter clock takes fewer tables, as every bot may be on a busy machine.
LADDER = '[[ladder]]\nname = "{game}"\ngame = "{game}"\nseats = 4\nclock = {{ base_ms = 20000, bank_ms = 20000 }}\n'


def words_for(folder: Path, game: str, drain_s: float) -> tuple[str, ...]:
    """Return the options of a server that plays a game."""
    (folder / "ladders.toml").write_text(LADDER.format(game=game), encoding="utf-8")
    return "--ladders", str(folder / "ladders.toml"), "--game", game, "--drain", str(drain_s)


def tables_of(stack: ExitStack, folder: Path, host: Server, bots: int, tables: int = 4) -> list[Herd]:
    """Bots in two processes, once they sit at `tables` tables each."""
    herds = []
    for number in range(2):
        names = [f"bot{number}_{one}" for one in range(bots // 2)]
        herds.append(stack.enter_context(herd(folder, host.address, names, tables, (60, 100), f"book{number}")))
    until(lambda: len(host.open_matches()) >= bots * tables // 4 - 3, "nearly all bots sit at all their tables")
    return herds


def all_are_told(host: Server, herds: list[Herd]) -> Counter[bool]:
    """Each match that began for a bot ended for it once, as the database has it; how many seats were void or not."""
    stored = host.stored()

    def heard() -> Counter[tuple[str, str]]:
        return Counter((bot, match) for one in herds for bot, match, _, _ in one.heard())

    # What the server said last may still lie unread before a bot when the server has ended.
    until(lambda: all(one.has_heard_all for one in herds), "every bot has heard of each end")
    assert set(heard().values()) == {1}
    for one in herds:
        for _, match, voided, rated in one.heard():
            assert stored[match] == (VOID if voided else None)
            assert rated == (not voided)
    begun = {line["match"] for line in host.events("match started")}
    assert begun <= set(stored)
    assert {stored[match] for match in set(stored) - begun} <= {VOID}  # it still waited for nonces
    return Counter(voided for one in herds for _, _, voided, _ in one.heard())


def test_a_hundred_tables_are_played_to_their_ends_at_the_first_signal(tmp_path: Path) -> None:
    with server(tmp_path, *words_for(tmp_path, "szmal", 3_600)) as host, ExitStack() as stack:
        herds = tables_of(stack, tmp_path, host, 100)
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        assert all_are_told(host, herds)[True] == 0
        assert set(host.stored().values()) == {None}


def test_what_is_open_when_the_time_is_up_is_void_and_told(tmp_path: Path) -> None:
    with server(tmp_path, *words_for(tmp_path, "greed", 0.5)) as host, ExitStack() as stack:
        herds = tables_of(stack, tmp_path, host, 40)
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        assert all_are_told(host, herds)[True] > 100


def test_a_second_signal_hurries(tmp_path: Path) -> None:
    with server(tmp_path, *words_for(tmp_path, "greed", 3_600)) as host, ExitStack() as stack:
        herds = tables_of(stack, tmp_path, host, 12)
        host.signal(signal.SIGTERM)
        until(lambda: bool(host.events("draining")), "it drains")
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        assert all_are_told(host, herds)[True] > 20


def test_after_a_kill_every_result_that_was_told_is_there_and_bots_come_back(tmp_path: Path) -> None:
    with ExitStack() as stack:
        words = words_for(tmp_path, "szmal", 3_600)
        first = stack.enter_context(server(tmp_path, *words))
        herds = tables_of(stack, tmp_path, first, 12)
        until(lambda: sum(len(one.heard()) for one in herds) > 20, "some matches are over")
        first.signal(signal.SIGKILL)
        first.ends()
        lost = first.open_matches()
        assert lost
        second = stack.enter_context(server(tmp_path, *words, address=first.address, name="second"))
        bots = {bot for one in herds for bot, _ in one.begun()}
        until(lambda: len(_back(second)) == len(bots) == 12, "every bot is back")
        until(lambda: len(second.events("match ended")) > 5, "they play again")
        second.signal(signal.SIGTERM)
        assert second.ends() == 0, second.said
        stored = second.stored()
        heard = Counter((bot, match) for one in herds for bot, match, _, _ in one.heard())
        assert set(heard.values()) == {1}
        for one in herds:
            assert all(rated and stored[match] is None for _, match, _, rated in one.heard())
        for seat in {seat for one in herds for seat in one.begun()} - set(heard):
            # Its bot was told that it is lost, when it came back; or it was stored, and the kill came before that.
            assert seat[1] in lost or seat[1] in stored
        for number in range(2):
            assert "as a new session: " in (tmp_path / f"book{number}.err").read_text(encoding="utf-8")
        with Store(second.database) as store:
            assert [check.differences for check in recompute(store)] == [()]


def _back(host: Server) -> set[str]:
    return {line["bot"] for line in host.events("stream opened")}


def test_signals_after_the_end_do_not_cut_short_what_is_tidied_up(tmp_path: Path) -> None:
    with server(tmp_path, "--house", "random", "--game", "greed") as host:
        until(lambda: bool(host.events("house bot started")), "a house bot is started")
        host.signal(signal.SIGINT)
        until(lambda: bool(host.events("stopped")), "the server stops")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            host.signal(number)
        assert host.ends() == 0
        (bot,) = host.events("house bot started")
        wait_until_gone([bot["pid"]])
        assert "interrupted" not in host.said
