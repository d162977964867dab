"""Seasons of a simulated ladder: the schemes, the server's own pairing among them, and the program."""

import json
from dataclasses import replace
from random import Random
from statistics import NormalDist

import pytest

from benchmarks.ladder import __main__ as program
from benchmarks.ladder.figures import document, gained, lines, row_of
from benchmarks.ladder.schemes import SCHEMES, Informed, Ours, Window, scheme_named
from benchmarks.ladder.season import BOARDS, Look, Plan, Season, mixed, season
from benchmarks.ladder.synthetic_bots import Nature
from cutpurse.leaderboard.parameter_fit import RankedMatch
from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate
from cutpurse.server.matches import matchmaking, opponents

LIBRARY = TrueSkill(draw_probability=0.10)
SMALL = Plan(Nature(bots=12, seats=3), "ours", LIBRARY, "small", games=12, every=4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_season_is_played_whole_and_the_same_again(scheme: str) -> None:
    plan = replace(SMALL, scheme=scheme)
    found = season(plan)
    assert found == season(plan)
    assert found != season(replace(plan, seed="another"))
    assert len(found.outcomes) == 12 * 12 // 3
    assert [look.games for look in found.looks] == [4, 8, 12]
    assert sum(map(sum, found.turns)) == 12 * 12
    for outcome in found.outcomes:
        assert len(set(outcome.players)) == 3
        assert min(outcome.places) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nobody_sits_at_two_tables_at_once(scheme: str) -> None:
    paired = scheme_named(scheme, 12, 3, LIBRARY, "tables", at_once=3)
    open_tables: list[tuple[int, ...]] = []
    begun = 0
    for _ in range(60):
        while len(open_tables) < 3 and (bots := paired.next()) is not None:
            begun += 1
            open_tables.append(bots)
            seated = [bot for table in open_tables for bot in table]
            assert len(set(seated)) == len(seated)
        ended = open_tables.pop(0)
        paired.ended(ended)
        paired.rated({bot: Skill(20.0 + bot, 2.0) for bot in ended})
    assert begun >= 60


def test_ours_is_the_servers_own_company_with_what_is_believed_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[dict[str, float], int, float]] = []

    def watched(free, seats, beta, chance):  # type: ignore[no-untyped-def]
        asked.append(({entry.player.identity.owner: entry.mu for entry in free}, seats, beta))
        return opponents.choose_opponents(free, seats, beta, chance)

    monkeypatch.setattr(matchmaking, "choose_opponents", watched)
    ours = Ours(6, 3, LIBRARY, "plugged in")
    ours.rated({2: Skill(31.0, 1.0)})
    bots = ours.next()
    assert bots is not None
    expected = {f"owner{number}": 31.0 if number == 2 else LIBRARY.mu for number in range(6)}
    assert asked == [(expected, 3, LIBRARY.beta)]


def test_ours_gives_seats_in_turn_and_games_to_all() -> None:
    found = season(replace(SMALL, games=60, every=60))
    assert max(max(turns) - min(turns) for turns in found.turns) <= 3
    games = [sum(turns) for turns in found.turns]
    assert max(games) - min(games) <= 4


def test_ours_is_for_as_many_seats_as_some_game_has() -> None:
    with pytest.raises(ValueError, match="99 seats"):
        Ours(200, 99, LIBRARY, "many")
    with pytest.raises(ValueError, match="no scheme best; there are random, near, window, informed, ours"):
        scheme_named("best", 12, 3, LIBRARY, "none")


def test_the_window_is_mostly_narrow_and_now_and_then_takes_in_all() -> None:
    window = Window(200, 4, LIBRARY, "window")
    window.mus = [float(bot) for bot in range(200)]
    widths = [
        max(abs(bot - 100) for bot in window.around(100, [bot for bot in range(200) if bot != 100])) for _ in range(500)
    ]
    assert sum(width <= 10 for width in widths) > 350
    assert 1 <= sum(width >= 40 for width in widths) < 50
    assert min(widths) >= 2


def test_informed_company_is_uncertain_and_near_and_has_not_played_much_more() -> None:
    informed = Informed(6, 2, LIBRARY, "informed")
    informed.rated({bot: Skill(25.0 + 4 * bot, 2.0) for bot in range(6)})
    others = [1, 2, 3, 4, 5]
    assert informed.around(0, others) == [1]
    informed.rated({4: Skill(41.0, 8.0)})
    assert informed.around(3, [0, 1, 2, 4, 5]) == [4]
    informed.matches[4] = 3
    assert informed.around(3, [0, 1, 2, 4, 5]) == [2]


def test_what_a_duel_tells_is_what_rating_takes_off_on_average() -> None:
    steady = replace(LIBRARY, draw_probability=1e-6, tau=0.0)
    informed = Informed(2, 2, steady, "told")
    for skills in ([Skill(25.0, 3.0), Skill(25.0, 3.0)], [Skill(30.0, 2.0), Skill(24.0, 5.0)]):
        informed.rated(dict(enumerate(skills)))
        spread = (2 * steady.beta**2 + sum(skill.sigma**2 for skill in skills)) ** 0.5
        ahead = NormalDist().cdf((skills[0].mu - skills[1].mu) / spread)
        less = 0.0
        for places, likely in (([1, 2], ahead), ([2, 1], 1 - ahead)):
            after = rate(places, skills, steady)
            less += likely * sum(old.sigma**2 - new.sigma**2 for old, new in zip(skills, after, strict=True))
        assert informed.told(0, 1) == pytest.approx(less, rel=1e-3)


@pytest.mark.parametrize("boards", BOARDS)
def test_boards_count_all_their_games(boards: str) -> None:
    plan = Plan(Nature(bots=16, seats=4), "ours", LIBRARY, boards, games=8, every=8, boards=boards)
    found = season(plan)
    played = sum(map(sum, found.turns))
    assert played == 16 * 8
    rated = {"plain": played // 4, "rotation": played // 16, "duplicate": played // 4}
    assert len(found.outcomes) == rated[boards]
    if boards == "rotation":
        assert all(max(turns) == min(turns) for turns in found.turns)


def test_tables_of_a_duplicate_board_are_mixed_so_that_none_is_harder(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = TrueSkill(draw_probability=0.3, beta=6.0, tau=0.01)
    plan = Plan(Nature(bots=32, luck=0.5), "near", numbers, "a", games=60, every=60, boards="duplicate")
    found = season(plan)
    assert mixed([(1, 2), (3, 4), (5, 6)], Random(2)) != [(1, 2), (3, 4), (5, 6)]
    assert [sorted(bots) for bots in zip(*mixed([(1, 2), (3, 4)], Random(2)), strict=True)] == [[1, 3], [2, 4]]
    monkeypatch.setattr("benchmarks.ladder.season.mixed", lambda tables, chance: tables)
    assert found.looks[-1].tau > season(plan).looks[-1].tau + 0.05


def test_more_tables_than_there_are_bots_for_are_refused() -> None:
    with pytest.raises(ValueError, match="12 bots cannot sit at 5 tables of 3"):
        replace(SMALL, at_once=5)
    with pytest.raises(ValueError, match="12 bots cannot sit at 4 tables of 4"):
        Plan(Nature(bots=12), "ours", LIBRARY, "few", games=1, boards="duplicate")
    with pytest.raises(ValueError, match="no boards round; there are plain"):
        replace(SMALL, boards="round")


def test_an_estimated_ladder_is_played_as_any_other_and_looked_at_otherwise() -> None:
    plan = replace(SMALL, games=40, every=20)
    running, estimated = season(plan), season(replace(plan, is_estimated=True))
    assert running.outcomes == estimated.outcomes
    assert running.looks != estimated.looks
    assert estimated.looks[-1].tau > 0.2
    assert estimated.looks[-1].covered > 0.5


def a_season(*taus: float) -> Season:
    looks = [Look(100.0 * (at + 1), tau, 0.9, 0.5) for at, tau in enumerate(taus)]
    return Season(looks, [1, 2, 9], [(3, 1), (2, 2)], [RankedMatch((0, 1), (1, 2))])


def test_a_row_is_of_all_runs() -> None:
    row = row_of("ours", "fitted", "plain", [a_season(0.9, 0.9, 0.9), a_season(0.6, 0.8, 0.9)], 0.85)
    assert (row.to_mark[0], str(row.to_mark[1])) == (100, "inf")
    assert row.taus[100] == (0.9, 0.6)
    other = row_of("window", "fitted", "plain", [a_season(0.8, 0.9, 0.9), a_season(0.6, 0.8, 0.9)], 0.85)
    assert gained(row, other)[100] == pytest.approx((0.05, 1.96 * 0.05))
    assert row.tau == {100: 0.75, 200: pytest.approx(0.85)}
    assert (row.wait, row.seats, row.uneven) == ((2, 9), (1, 2), (1, 1))
    assert document([row])[0]["games_to_mark"] == [100, None]
    shown = lines([row], 0.85, 300)
    assert shown[1].split()[:7] == ["ours,", "fitted,", "plain", ">", "300", "100", "-"]


def test_the_program_prints_the_same_table_and_document_again(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--bots", "8", "--seats", "2", "--games", "20", "--every", "10", "--runs", "1", "--stretch", "5"]
    shown = []
    for flags in ([], ["--json"], ["--json"]):
        assert program.main([*few, "--schemes", "window,ours", *flags]) == 0
        shown.append(capsys.readouterr())
    assert "ours, fitted, plain" in shown[0].out
    assert "of the CPU" in shown[0].err
    assert shown[1].out == shown[2].out
    found = json.loads(shown[1].out)
    assert [row["pairing"] for row in found["rows"]] == ["window", "ours"] * 3
    assert found["nature"]["bots"] == 8
    assert found["fits"]["plain"]["settings"]["beta"] > 0
    assert program.main([*few, "--schemes", "ours", "--ratings", "library", "--taus", "0.5,0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["rating"] for row in found["rows"]] == ["library", "tau 0.5", "tau 0.1"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--schemes", "best"], "no best; there are random, near, window, informed, ours"),
        (["--bots", "3"], "3 bots at 4 seats"),
        (["--runs", "0"], "at least 1, not 0"),
    ],
)
def test_the_program_says_what_cannot_be_played(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(flags)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
