"""The searching bot: it plays every game, sees no more than its seat, keeps to its playouts, beats its rule of thumb.

The shortest bot is here too: it is the rule of thumb of some searches.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from cutpurse.bots import search_bot
from cutpurse.bots.first_option_bot import FirstOptionBot
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.search_bot import SearchBot, clearly_better
from cutpurse.engine.agenda import Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.games import GAMES
from cutpurse.games.greed.rules import CheckForAWinner, Greed, TakeACard
from cutpurse.sdk.bot import BotMaker, MatchInfo, built_in_bots
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play
from cutpurse.sdk.views import VIEWS
from tests.bots.degenerate.harness import measure
from tests.games.story import Story


class Quick(SearchBot):
    """Few playouts, so that a test is short."""

    def __init__(self) -> None:
        super().__init__(3)


class Counting(SearchBot):
    """Counts its playouts."""

    count = 0

    def play_out(self, game: Game, seat: int, act: Act) -> float:
        self.count += 1
        return super().play_out(game, seat, act)


def started(bot: SearchBot, game: Game, seat: int) -> SearchBot:
    """The bot at the beginning of a match, with a chance that is always the same."""
    seats = tuple("abcdefgh"[: game.n])
    bot.start(MatchInfo(game.words.game, seat, seats, game.settings.changed(), random.Random(7)))
    return bot


def question(game: Game, seat: int) -> tuple[Any, Decision]:
    """The view of a seat that is asked, and its decision."""
    view = VIEWS[game.words.game](game.view(seat))
    options = game.options(seat)
    return view, Decision(0, game.question.name, options, lambda: game.safe_option(seat, options), view)


def positions(name: str, every: int, most: int = 1) -> Iterator[tuple[Game, int]]:
    """Every so many questions with several options one of them, in a match that is played somehow."""
    game = GAMES[name].new(4, bytes(range(32)))
    asked = 0
    while (waiting := game.waiting()) and asked < most * every:
        seat = waiting[0]
        options = game.options(seat)
        if len(options) > 1:
            if asked % every == every // 2:
                yield game, seat
            asked += 1
        game.choose(seat, options[asked % len(options)])


# -- the shortest bot
def test_first_option_is_a_bot_by_name_and_never_fails() -> None:
    assert {"first_option", "search"} <= set(built_in_bots())
    for name, rules in GAMES.items():
        played = play(name, ["first_option"] * rules.usual_seats, seed="first")
        assert played.failures == ()


def test_first_option_takes_option_0() -> None:
    game, seat = next(positions("greed", 4))
    view, decision = question(game, seat)
    assert decision.count > 1
    assert FirstOptionBot().choose(view, decision) == 0


# -- a match
@pytest.mark.parametrize("name", GAMES)
def test_search_plays_a_match_without_a_fault_and_plays_it_again(name: str) -> None:
    settings = {"rounds": 2} if name == "bag_o_loot" else {}
    bots = [Quick, GreedyBot, GreedyBot, GreedyBot]
    one, again = (play(name, bots, seed="again", settings=settings) for _ in range(2))
    assert one.failures == ()
    assert one.rows == again.rows


# -- what it sees
@pytest.mark.parametrize("name", GAMES)
def test_search_answers_alike_in_worlds_that_it_cannot_tell_apart_and_changes_neither(name: str) -> None:
    compared = 0
    for game, seat in positions(name, 30, 4):
        twin = imagine(game.view(seat), Chance(bytes(32)))
        answers = []
        for world in (game, twin):
            view, decision = question(world, seat)
            before = world.save(), view.raw.to_bytes()
            answers.append(started(SearchBot(8), world, seat).choose(view, decision))
            assert (world.save(), view.raw.to_bytes()) == before
        assert answers[0] == answers[1]
        assert 0 <= answers[0] < len(game.options(seat))
        compared += game.save() != twin.save()
    assert compared >= 2


# -- how much it does
@pytest.mark.parametrize("playouts", [1, 2, 7, 41])
def test_search_has_as_many_playouts_as_it_is_told(playouts: int) -> None:
    """But for those that are too few for all options that are left; with many playouts these are two."""
    asked = 0
    for game, seat in positions("greed", 8, 4):
        bot = Counting(playouts)
        started(bot, game, seat).choose(*question(game, seat))
        left = playouts - bot.count
        assert 0 <= left < (2 if playouts >= 40 else len(game.options(seat)))
        asked += 1
    assert asked == 4


@pytest.mark.parametrize(
    ("base_s", "a_look_s", "playouts"),
    [
        (1.0, 0.0, 60),  # a clock that stands still is no hindrance
        (1.0, 0.1, 15),  # of three options in five worlds
        (1.0, 0.6, 0),
        (-0.2, 0.01, 0),  # the bank pays already
        (math.inf, 0.1, 60),
    ],
)
def test_search_stops_after_half_of_its_base(base_s: float, a_look_s: float, playouts: int) -> None:
    game = last_theft().g
    view, decision = question(game, 0)
    assert decision.count == 3
    looks = itertools.count()
    decision.keep_time(lambda: (base_s - next(looks) * a_look_s, 10.0))
    bot = Counting(60)
    choice = started(bot, game, 0).choose(view, decision)
    assert playouts - 2 < bot.count <= playouts
    if not playouts:
        assert choice == bot.advice(view, decision).index


def test_search_is_told_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTPURSE_PLAYOUTS", raising=False)
    assert SearchBot().playouts == 100
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", "30")
    assert SearchBot().playouts == 30
    assert SearchBot(20).playouts == 20
    for wrong in ("0", "-3", "many"):
        monkeypatch.setenv("CUTPURSE_PLAYOUTS", wrong)
        with pytest.raises(ValueError, match=wrong):
            SearchBot()


def test_a_playout_stops_after_so_many_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    game, seat = next(positions("greed", 4))
    asked = []

    class Asked(SearchBot):
        def answer(self, game: Game, seat: int) -> Act:
            asked.append(seat)
            return super().answer(game, seat)

    monkeypatch.setattr(search_bot, "LONGEST_PLAYOUT", 5)
    value = Asked().play_out(game.fork(), seat, game.options(seat)[0])
    assert len(asked) == 5
    assert 0 <= value <= 1


def test_a_playout_stops_with_the_deal() -> None:
    game, seat = next(positions("bag_o_loot", 4))
    end = game.fork()
    SearchBot().play_out(end, seat, game.options(seat)[0])
    assert end.chance.deal == game.chance.deal + 1
    assert end.waiting()
    assert any(end.scores())


# -- how well it chooses
def last_theft() -> Story[Greed]:
    """Seat 0 has stopped with the crook: it may pass, take a seven, or the three that makes its sixth and wins."""
    story = Story(
        Greed, 4, {"collection": ["3 3 3 3 3", "3 7 7 7 7", "1 2", ""], "hand": ["1 2", "4", "5", "6"]}, first=1
    )
    for hand in story.g.hand:
        story.lay(hand, "crook", seers=story.g.everyone)
    left = list(story.g.box(4, story.g.settings))
    for zone in story.g.zones():
        for card in zone.cards:
            left.remove(card)
    story.lay(story.g.deck, " ".join(story.g.words.cards[card - 1].name for card in left))
    story.begin(TakeACard(0, 1), CheckForAWinner(0))
    return story


def test_search_takes_what_wins_though_its_rule_of_thumb_passes() -> None:
    story = last_theft()
    bot = started(SearchBot(20), story.g, 0)
    bot.thumb = FirstOptionBot()
    view, decision = question(story.g, 0)
    assert decision.options[0].text == "pass"
    assert decision.options[bot.choose(view, decision)].text == "take 3 from the collection of seat 1"


def test_the_rule_of_thumb_stays_unless_another_option_is_clearly_better() -> None:
    assert clearly_better([1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    assert clearly_better([1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.0])
    assert not clearly_better([1.0, 0.0, 0.5], [0.5, 0.5, 0.0])  # luck explains it
    assert not clearly_better([0.5, 0.5], [0.5, 0.5])
    assert not clearly_better([0.0, 0.0], [1.0, 1.0])
    assert not clearly_better([1.0], [0.0])  # one world proves nothing
    assert not clearly_better([], [])


# -- strength
class Thirty(SearchBot):
    """Has thirty playouts a decision."""

    def __init__(self) -> None:
        super().__init__(30)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["steal_and_plunder", "szmal"])
def test_search_wins_more_than_its_share_against_three_greedy_bots(name: str) -> None:
    """A fourth is 25 of 100, and at that strength 34 come in fewer than 3 of 100 runs.

    Each deal is played in every seat, which leaves less to chance than that.
    """
    outcome = measure(name, BotMaker("search", Thirty), 100, seed="search")
    assert outcome.faults == 0
    assert outcome.first_places >= 34
