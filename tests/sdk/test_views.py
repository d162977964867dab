"""What a bot sees: every zone and counter of a game by a typed name, every card by its name, nothing that is hidden."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import WrongDecision
from cutpurse.engine.events import Happened, Moved, Shown
from cutpurse.engine.match import Match
from cutpurse.engine.words import Unit
from cutpurse.games import GAMES
from cutpurse.games.szmal.cards import SYMBOLS
from cutpurse.sdk.bot import BotMaker, bot_chance
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.sdk.playing.seating import play_match, view_for
from cutpurse.sdk.text_view import render_table
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.attributes import Column, CounterAttribute, Flag, OnePile, Piles, SeatOf
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.piles import Pile, pile_text

EVERY_GAME = pytest.mark.parametrize("game", list(GAMES))


def attributes(cls: type) -> dict[str, Any]:
    """The typed attributes of a class, by the zone or counter that each stands for."""
    found = (getattr(cls, name) for name in dir(cls))
    return {one.name: one for one in found if isinstance(one, CounterAttribute | Column | OnePile | Piles)}


def positions(game: str, seed: int = 1, seats: int | None = None, **settings: object) -> Iterator[tuple[Match, int]]:
    """A match played at random: before each decision the match, and the seat that is asked."""
    rules = GAMES[game]
    match = Match(rules, ["a"] * (seats or rules.usual_seats), match_key(seed, 0), settings, log=True)
    chance = bot_chance(match.key, 0)
    while decision := match.decision():
        yield match, decision.seat
        match.answer(decision.seat, decision.number, chance.randrange(len(decision.options)))


@EVERY_GAME
def test_every_zone_and_counter_has_a_typed_name(game: str) -> None:
    words, view_type = GAMES[game].words, VIEWS[game]
    of_table, of_player = attributes(view_type), attributes(view_type.player_type)
    for kind in words.zones:
        one = (of_player if kind.per_seat else of_table)[kind.name]
        assert isinstance(one, Piles if kind.many else OnePile), kind.name
        of_pile = attributes(one.pile_type)
        for number in (*kind.counters, *kind.columns):
            assert number.name in of_pile, f"{number.name} of {kind.name}"
    for names, counters in ((of_table, words.table_counters), (of_player, words.seat_counters)):
        for counter in counters:
            assert isinstance(names[counter.name], CounterAttribute), counter.name
            assert isinstance(names[counter.name], Flag) == (counter.unit is Unit.FLAG), counter.name
            assert isinstance(names[counter.name], SeatOf) == (counter.unit is Unit.SEAT), counter.name


@EVERY_GAME
def test_every_property_of_a_view_can_be_read_at_every_decision(game: str) -> None:
    read = 0
    for match, seat in positions(game):
        asked = match.decision(seat)
        assert asked is not None
        view, decision = decision_for(match, asked)
        piles = [pile for player in view.players for pile in player.all_piles()] + view.all_piles()
        typed = [pile for player in view.players for name in dir(player) for pile in as_piles(getattr(player, name))]
        for one in (view, *view.players, *piles, *typed, *view.events[-3:], decision, *decision.options[:3]):
            for name in dir(one):
                if not name.startswith("_"):
                    getattr(one, name)
                    read += 1
            assert "object at" not in repr(one)
        assert re.fullmatch(r"[A-Z]{2}-(card-)?[\d.]*\d", decision.rule)
        if match.game.log and len(match.game.log) > 400:
            break
    assert read > 1000


def as_piles(value: object) -> list[Pile]:
    """The piles in the value of an attribute."""
    return [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Pile)]


@EVERY_GAME
def test_typed_piles_are_those_of_the_engine(game: str) -> None:
    for match, seat in positions(game):
        view = view_for(match, seat)
        raw = match.game.view(seat)
        for holder in (view, *view.players):
            for attribute in attributes(type(holder)).values():
                if isinstance(attribute, OnePile):
                    pile = attribute.__get__(holder, type(holder))
                    owner = holder.seat if isinstance(holder, Player) else -1
                    assert pile.raw == raw.of(attribute.name, owner)[0]
        if len(match.choices) > 40:
            break


@EVERY_GAME
def test_unseen_cards_are_those_that_lie_face_down(game: str) -> None:
    for match, seat in positions(game):
        view = view_for(match, seat)
        hidden = sum(zone.size - sum(map(bool, zone.cards)) - len(zone.known) for zone in view.raw.zones)
        in_box = len(match.rules.box(match.game.n, match.game.settings))
        lying = sum(zone.size for zone in view.raw.zones)
        assert view.unseen.total() == hidden + in_box - lying
        assert all(card.name for card in view.unseen)
        if len(match.choices) > 60:
            break


@EVERY_GAME
def test_a_hidden_face_is_told_to_nobody_who_may_not_see_it(game: str) -> None:
    hidden = 0
    match = [match for match, _ in positions(game)][-1]
    log = match.game.log or []
    for viewer in range(match.game.n):
        for event, told in zip(log, view_for(match, viewer).events, strict=True):
            masks = event.masks if isinstance(event, Moved | Happened | Shown) else ()
            unseen = sum(not mask >> viewer & 1 for mask in masks)
            assert sum(card is None for card in told.cards) == unseen
            hidden += unseen
    assert hidden > 20


def test_a_view_of_greed_speaks_of_cards_by_name() -> None:
    match = Match(GAMES["greed"], ["a", "b", "c"], match_key(1, 0), {"first_seat": 0}, log=True)
    view: Any = view_for(match, 0)
    assert [player.seat for player in view.opponents] == [1, 2]
    assert view.me is view.players[0]
    assert view.me.hand.size == len(view.me.hand) == 8
    assert "crook" in view.me.hand
    assert view.card("crook") in view.me.hand
    other = view.opponents[0].hand
    assert other.cards == (None,) * 8
    assert [card.name for card in other.known] == ["crook"]
    assert repr(other) == "<hand of seat 1: 8 face down (among them Crook)>"
    assert view.first == 0
    assert view.winner is None
    assert view.me.sets == Counter(card.value for card in view.me.collection.seen)
    assert str(render_table(view, match.seats)).count("face down") == 3  # two hands and the draw pile
    with pytest.raises(KeyError):
        view.pile("hand")
    with pytest.raises(KeyError):
        view.me.pile("deck")


def test_numbers_on_cards_are_told_in_words() -> None:
    game = GAMES["szmal"].new(seats=2)
    words = game.words
    zone = next(zone for zone in game.zones() if zone.kind.name == "thugs" and zone.owner == 0)
    ted, copied = 72, 54  # 54 copies a Thug
    zone.put(ted, zone.sees, (ted, 4, 3, 1, 0))
    zone.put(copied, zone.sees, (ted, 4, 5, 0, 0))
    zone.changed()
    view: Any = VIEWS["szmal"](game.view(0))
    thugs = view.me.thugs
    first, second = words.cards[copied - 1].title, words.cards[ted - 1].title
    assert pile_text(thugs) == (
        f"{first} (counts as {second}, since round 4, play 5), {second} (since round 4, play 3, armed 1)"
    )
    assert thugs.armed == (0, 1)


def test_a_view_can_be_kept_and_does_not_change() -> None:
    kept: list[tuple[GameView[Any], list[str]]] = []

    class Keeps:
        def choose(self, view: GameView[Any], decision: Any) -> int:
            kept.append((view, render_table(view, "abc")))
            return 0

    match = Match(GAMES["greed"], ["a", "b", "c"], match_key(3, 0), log=True)
    play_match(match, [BotMaker("keeps", Keeps)] * 3)
    assert len(kept) > 10
    assert [render_table(view, "abc") for view, _ in kept] == [before for _, before in kept]


def test_the_safe_option_cannot_be_asked_for_afterwards() -> None:
    kept: list[Any] = []

    class Keeps:
        def choose(self, view: GameView[Any], decision: Any) -> Any:
            kept.append(decision)
            return decision.safe if decision.number % 2 else decision.options[0]

    match = Match(GAMES["greed"], ["a", "b"], match_key(3, 0), log=True)
    _, failed, _ = play_match(match, [BotMaker("keeps", Keeps)] * 2)
    assert not failed
    assert kept[1].safe in kept[1].options
    with pytest.raises(WrongDecision, match="decision 0 is answered"):
        _ = kept[0].safe


def test_each_decision_tells_what_happened_since_the_last() -> None:
    told: dict[int, list[int]] = {0: [], 1: []}

    class Listens:
        def choose(self, view: GameView[Any], decision: Any) -> int:
            told[view.me.seat] += [event.number for event in view.events]
            return 0

    match = Match(GAMES["greed"], ["a", "b"], match_key(5, 0), log=True)
    play_match(match, [BotMaker("listens", Listens)] * 2)
    for numbers in told.values():
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 100


def test_a_card_is_one_object_wherever_it_comes_from() -> None:
    match = Match(GAMES["greed"], ["a", "b"], match_key(5, 0), log=True)
    card = view_for(match, 0).card("crook")
    assert pickle.loads(pickle.dumps(card)) is card
    assert view_for(match, 1).card("crook") is card
    assert (repr(card), str(card)) == ("crook", "Crook")


def test_derived_facts_agree_with_the_rules_of_the_game() -> None:
    """A spectator of open cards counts as the engine does; where cards are hidden their owner does."""
    for match, _ in positions("greed"):
        view = view_for(match, None)
    assert tuple(player.longest_set for player in view.players) == match.result().scores
    for match, _ in positions("stolen_treasure", start_treasure=2):
        for seat in range(4):
            assert view_for(match, seat).me.score == match.game.scores()[seat]
    for match, _ in positions("bag_o_loot"):
        game: Any = match.game
        assert [player.worth for player in view_for(match, None).players] == [game.worth(seat) for seat in range(4)]
        assert all(
            player.score == player.total + player.worth - player.fine for player in view_for(match, None).players
        )
    for match, _ in positions("szmal"):
        szmal: Any = match.game
        for player in view_for(match, None).players:
            assert player.score == szmal.scores()[player.seat]
            assert [player.symbols[name] for name in SYMBOLS] == [szmal.symbols(player.seat, s) for s in range(6)]
    for match, _ in positions("steal_and_plunder"):
        plunder: Any = match.game
        view = view_for(match, None)
        open_packs = [plunder.open_pack(seat) for seat in range(4)]
        opened = [pack and pack.number for pack in open_packs]
        assert [player.open_pack and player.open_pack.number for player in view.players] == opened
        assert all(pack.is_open == (pack.number in opened) for player in view.players for pack in player.packs)
        for seat, score in enumerate(plunder.scores()):
            hidden = sum(pack.hidden for p in (view_for(match, seat).me,) for pack in (*p.packs, *p.plundered))
            if not hidden and not view_for(match, seat).me.offshore and not view_for(match, seat).me.taxed:
                assert view_for(match, seat).me.score == score


def test_a_chain_of_yarrs_stands_while_it_is_odd() -> None:
    seen = set()
    for seed in range(12):
        for match, seat in positions("stolen_treasure", seed=seed):
            view: Any = view_for(match, seat)
            verbs = [act.verb for act in view.pending]
            chain = len(verbs) - len("".join("y" if verb == "nullify" else "x" for verb in verbs).rstrip("y"))
            assert view.is_nullified == (chain % 2 == 1)
            if chain:
                assert view.in_question is not None
                assert view.in_question.verb != "nullify"
            seen.add(chain)
    assert {0, 1} <= seen
