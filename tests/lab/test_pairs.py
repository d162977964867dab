"""Pairs that deal with each other are found, from places and from whom they aim at; honest ones are not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.games import game_named
from cutpurse.lab.pairs.aims import AimCounter, aims_of_record
from cutpurse.lab.pairs.pair_search import PairFindingKind, search_pairs
from cutpurse.lab.pairs.played_table import PairedBot, PairedVersion, PlayedTable, pair_of
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.playing.seating import play_match
from tests.lab.planted_bots import PAIR, makers_of
from tests.lab.played_ladder import bot_of, played_tables, player_of
from tests.lab.simulated_ladder import pact_players, simulated_tables

PLANTED = pair_of(*map(bot_of, PAIR))


@cache
def played(kind: str, matches: int) -> list[PlayedTable]:
    """Play Greed."""
    return list(played_tables("greed", makers_of(kind, 8), matches, "planted"))


def pairs_in(findings: object) -> set[tuple[PairedBot, PairedBot]]:
    assert isinstance(findings, list)
    return {pair_of(*finding.pair) for finding in findings}


# -- planted pairs in real matches
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("game", "kind", "matches"),
    [
        ("greed", "pact", 110),
        ("greed", "feeder", 130),
        pytest.param("steal_and_plunder", "pact", 150, marks=pytest.mark.full),
        pytest.param("steal_and_plunder", "feeder", 150, marks=pytest.mark.full),
        pytest.param("stolen_treasure", "pact", 150, marks=pytest.mark.full),
        pytest.param("stolen_treasure", "feeder", 150, marks=pytest.mark.full),
        pytest.param("bag_o_loot", "pact", 250, marks=pytest.mark.soak),
        pytest.param("bag_o_loot", "feeder", 150, marks=pytest.mark.soak),
    ],
)
def test_a_planted_pair_is_found_and_nobody_else(game: str, kind: str, matches: int) -> None:
    bots = 8 if (game, kind) == ("stolen_treasure", "feeder") else 6  # docs/explanation/agreements.md says why
    tables = (
        played(kind, matches) if game == "greed" else played_tables(game, makers_of(kind, bots), matches, "planted")
    )
    report = search_pairs(list(tables))
    assert pairs_in(report.findings) == {PLANTED}
    assert all(finding.verb for finding in report.findings if kind == "pact")
    surest = report.findings[0]
    if kind == "pact":
        assert (surest.kind, surest.is_mutual, surest.seen) == (PairFindingKind.LESS, True, 0)
    elif game == "greed":  # there the feeder has nothing to give, and spares its partner
        assert (surest.kind, surest.seen, surest.pair[0]) == (PairFindingKind.LESS, 0, bot_of("south"))
    else:
        assert {finding.kind for finding in report.findings} & {PairFindingKind.MORE, PairFindingKind.TRANSFER}


def test_honest_bots_with_habits_are_not_named() -> None:
    report = search_pairs(list(played_tables("greed", makers_of("honest", 6), 60, "honest")))
    assert (report.findings, report.of_one_owner) == ([], [])
    assert (report.pairs, report.with_aims) == (15, 60)


# -- simulated ladders
def test_an_honest_ladder_names_nobody_and_a_pact_on_it_is_named() -> None:
    honest, pact = simulated_tables(16, 300, 3), simulated_tables(16, 300, 3, pact=True)
    assert search_pairs(honest).findings == []
    partners = {player.of for player in pact_players(16)}
    assert {bot for finding in search_pairs(pact).findings for bot in finding.pair} == partners


def tables_of_points(chance: Random, matches: int) -> Iterator[tuple[list[str], list[float]]]:
    """Draw tables of eight bots, and a performance for each."""
    names = [f"b{number}" for number in range(8)]
    for _ in range(matches):
        seated = chance.sample(names, 4)
        yield seated, [int(name[1:]) / 4 + chance.gauss(0, 2) for name in seated]


@pytest.mark.parametrize(
    ("given", "kind"), [((-3.0, 3.0), PairFindingKind.TRANSFER), ((2.0, 2.0), PairFindingKind.GAIN)]
)
def test_places_alone_show_who_gains_with_whom(given: tuple[float, float], kind: PairFindingKind) -> None:
    tables = []
    for seated, shown in tables_of_points(Random(5), 400):
        if {"b2", "b3"} <= set(seated):
            shown[seated.index("b2")] += given[0]
            shown[seated.index("b3")] += given[1]
        places = [1 + sum(other > one for other in shown) for one in shown]
        tables.append(PlayedTable(tuple(map(player_of, seated)), place_points(places)))
    report = search_pairs(tables)
    assert pairs_in(report.findings) == {(bot_of("b2"), bot_of("b3"))}
    (first,) = [finding for finding in report.findings if finding.kind is kind]
    assert first.pair[0] == bot_of("b3") or kind is PairFindingKind.GAIN  # who gains is named first
    assert 0.2 < first.seen < 1.2


def test_bots_of_one_owner_stand_apart_and_house_bots_are_not_tested() -> None:
    def of_one_owner(player: PairedVersion) -> PairedVersion:
        return PairedVersion("ann" if player.of in PLANTED else player.owner, player.bot, player.version)

    pact = played("pact", 110)
    tables = [PlayedTable(tuple(map(of_one_owner, table.players)), table.points, table.aims) for table in pact]
    report = search_pairs(tables)
    assert report.findings == []
    assert {finding.pair for finding in report.of_one_owner} >= {(PairedBot("ann", "north"), PairedBot("ann", "south"))}
    ignoring = search_pairs(pact, ignored=[bot_of("south")])
    assert ignoring.findings == []
    assert ignoring.pairs == 21


def test_tables_of_two_or_of_different_sizes_are_refused() -> None:
    two = PlayedTable((player_of("a"), player_of("b")), [1.0, 0.0])
    three = PlayedTable((player_of("a"), player_of("b"), player_of("c")), [1.0, 0.5, 0.0])
    for tables in ([two], [two, three]):
        with pytest.raises(ValueError, match="all need the same number, 3 or more"):
            search_pairs(tables)
    assert search_pairs([]).tests == 0
    assert search_pairs([three]).pairs == 0  # met too rarely


# -- aims
def test_a_choice_among_seats_is_counted_with_what_was_offered() -> None:
    counter = AimCounter()
    counter.add("raid", 0, [1, 2, 3], 2)
    counter.add("raid", 0, [2, 3, 3], 2)
    counter.add("raid", 0, [2], 2)  # no choice
    assert sorted(counter.aims()) == [
        ("raid", 0, 1, 0, 1, 1 / 3),
        ("raid", 0, 2, 2, 2, 1 / 3 + 1 / 2),
        ("raid", 0, 3, 0, 2, 1 / 3 + 1 / 2),
    ]


def test_the_aims_of_a_record_are_the_raids_in_it() -> None:
    rules = game_named("greed")
    makers = makers_of("honest", 4)
    match = Match(rules, [maker.name for maker in makers], match_key("aims", 0), {}, log=True)
    play_match(match, makers)
    aims = aims_of_record(read_record(write_record(match)), rules)
    raid = rules.words.verb_named("raid")
    raids = [choice for choice in match.choices if choice.option.verb == raid and choice.cause is EndCause.NORMAL]
    assert raids
    assert sum(aim.times for aim in aims if aim.verb == "raid") == len(raids)
    assert all(aim.actor != aim.target for aim in aims)
    for seat in range(4):
        assert sum(aim.times for aim in aims if aim.verb == "raid" and aim.target == seat) == sum(
            choice.option.seat == seat for choice in raids
        )
