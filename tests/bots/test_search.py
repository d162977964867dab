"""The searching bot: it plays every game, sees no more than its seat, keeps to its playouts, beats its rule of thumb.

It plays a game that it has never seen, too. The shortest bot is here as well: it is the rule of thumb of some searches.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, TypeVar

import pytest

from cutpurse.bots import search_bot
from cutpurse.bots.first_option_bot import FirstOptionBot
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.search_bot import (
    PARAMETERS,
    Contender,
    SearchBot,
    SearchParameters,
    Tally,
    clearly_better,
    promising,
)
from cutpurse.engine.agenda import PASS, Act
from cutpurse.engine.chance import KEY_BYTES, Chance, match_key
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import Worlds, imagine
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.games.greed.rules import CheckForAWinner, Greed, TakeACard
from cutpurse.sdk.bot import BotMaker, MatchInfo, built_in_bots
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView
from tests.bots.degenerate.harness import measure
from tests.engine.toy import STAR, SUN, Toy, Window, empty_table
from tests.games.story import Story
from tests.roots import CHECKOUT

Search = TypeVar("Search", bound=SearchBot)


class Quick(SearchBot):
    """Few playouts, so that a test is short."""

    def __init__(self) -> None:
        super().__init__(3)


class Counting(SearchBot):
    """Counts its playouts."""

    count = 0

    def play_out(self, game: Game, act: Act) -> float:
        self.count += 1
        return super().play_out(game, act)


class Searching(SearchBot):
    """A search that has begun: its own seat and an empty tree, as `choose` sets them."""

    def __init__(self, game: Game, seat: int) -> None:
        super().__init__()
        started(self, game, seat)
        self.view_type, self.tree = VIEWS[game.words.game], {}


def started(bot: Search, game: Game, seat: int) -> Search:
    """The bot at the beginning of a match, with a chance that is always the same."""
    seats = tuple("abcdefgh"[: game.n])
    bot.start(MatchInfo(game.words.game, seat, seats, game.settings.changed(), random.Random(7)))
    return bot


def question(game: Game, seat: int) -> tuple[Any, Decision]:
    """The view of a seat that is asked, and its decision."""
    view = VIEWS[game.words.game](game.view(seat))
    options = game.options(seat)
    return view, Decision(0, game.question.name, options, lambda: game.safe_option(seat, options), view)


def positions(
    name: str, every: int, most: int = 1, settings: Mapping[str, object] | None = None
) -> Iterator[tuple[Game, int]]:
    """Every so many questions with several options one of them, in a match that is played somehow."""
    game = GAMES[name].new(4, bytes(range(32)), settings)
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
    settings = {"rounds": 1} if name == "bag_o_loot" else {}
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
def test_search_has_no_more_playouts_than_it_is_told(playouts: int) -> None:
    asked = 0
    for game, seat in positions("greed", 8, 4):
        bot = Counting(playouts)
        started(bot, game, seat).choose(*question(game, seat))
        options = min(playouts, len(game.options(seat)))
        assert (options if options > 1 else 0) <= bot.count <= playouts
        asked += 1
    assert asked == 4


def test_search_stops_when_no_option_leads_the_rule_of_thumb() -> None:
    class Even(Counting):
        def play_out(self, game: Game, act: Act) -> float:
            self.count += 1
            return 0.5

    story = last_theft()
    bot = started(Even(60), story.g, 0)
    view, decision = question(story.g, 0)
    assert bot.choose(view, decision) == bot.advice(view, decision).index
    assert bot.count == 21  # three options in the seven states of the first of three stages


@pytest.mark.parametrize(
    ("base_s", "a_look_s", "playouts"),
    [
        (1.0, 0.0, 60),  # a clock that stands still is no hindrance
        (1.0, 0.1, 15),  # of three options in five states
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
    bot.thumb = FirstOptionBot()
    choice = started(bot, game, 0).choose(view, decision)
    assert playouts - 2 < bot.count <= playouts
    if not playouts:
        assert choice == 0


def test_search_is_told_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SearchBot().playouts == 100
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", "30")
    assert SearchBot().playouts == 30
    assert SearchBot(20).playouts == 20


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0", "0 playouts a decision cannot be had; 1 and more can"),
        ("-3", "-3 playouts a decision cannot be had; 1 and more can"),
        ("many", "CUTPURSE_PLAYOUTS is 'many'; give a whole number of playouts, 1 or more"),
    ],
)
def test_no_playouts_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, text: str, line: str) -> None:
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", text)
    with pytest.raises(ValueError, match=line):
        SearchBot()


def test_a_view_of_no_game_is_refused_in_one_line() -> None:
    game = last_theft().g
    view, decision = question(game, 0)
    with pytest.raises(TypeError, match="search needs the view of a game"):
        started(SearchBot(3), game, 0).choose(view.raw, decision)


# -- its parameters
def test_the_parameters_are_those_of_the_game_of_this_match() -> None:
    bot = SearchBot(2)
    those = [started(bot, *next(positions(name, 4))).parameters for name in ("greed", "szmal", "greed")]
    assert those == [PARAMETERS["greed"], SearchParameters(), PARAMETERS["greed"]]
    assert PARAMETERS["greed"] != SearchParameters()


@pytest.mark.parametrize(("clearly", "departs"), [(0.5, True), (1.5, False)])
def test_the_parameters_say_which_lead_is_enough(
    clearly: float, departs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = itertools.cycle((1.0, 1.0, 0.0))  # in six states a lead of 0.79 standard errors
    asked = 0
    for game, seat in positions("greed", 2, 60):
        view, decision = question(game, seat)
        if decision.count != 2:
            continue
        bot = started(SearchBot(12), game, seat)
        bot.parameters = SearchParameters(clearly=clearly)
        advice = bot.advice(view, decision)
        monkeypatch.setattr(bot, "play_out", lambda game, act, usual=advice.raw: 0.5 if act == usual else next(others))
        assert (bot.choose(view, decision) != advice.index) is departs
        asked += 1
    assert asked > 5


# -- a playout
class Asked(Searching):
    """Lists the seats that its rule of thumb answers for."""

    def __init__(self, game: Game, seat: int) -> None:
        super().__init__(game, seat)
        self.asked: list[int] = []

    def thumb_act(self, game: Game, raw: View, options: list[Act]) -> Act:
        self.asked.append(raw.viewer or 0)
        return super().thumb_act(game, raw, options)


@pytest.mark.parametrize("name", ["steal_and_plunder", "bag_o_loot"])
def test_a_playout_ends_at_the_horizon_if_the_scores_have_changed(name: str) -> None:
    """Bag-O-Loot counts at the end of a round, and `scores_now` has what lies before each seat."""
    game, seat = next(positions(name, 4))
    bot = Asked(game, seat)
    bot.parameters = SearchParameters(horizon=12)
    end = game.fork()
    bot.play_out(end, game.options(seat)[0])
    assert 0 < len(bot.asked) <= 12
    assert end.scores_now() != game.scores_now()
    assert end.waiting()
    assert end.chance.deal == game.chance.deal


def test_a_playout_goes_on_while_the_scores_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tournament of Greed counts its points at the end of a game."""
    game, seat = next(positions("greed", 4, settings={"mode": "tournament"}))
    bot = Asked(game, seat)
    bot.parameters = SearchParameters(horizon=5)
    end = game.fork()
    bot.play_out(end, game.options(seat)[0])
    assert end.chance.deal == game.chance.deal + 1  # and no further than that
    assert end.waiting()
    monkeypatch.setattr(search_bot, "LONGEST_PLAYOUT", 8)
    bot = Asked(game, seat)
    bot.parameters = SearchParameters(horizon=5)
    bot.play_out(game.fork(), game.options(seat)[0])
    assert 0 < len(bot.asked) <= 8


def test_the_tree_grows_by_one_information_set_of_the_bot_with_a_playout() -> None:
    game, seat = next(positions("greed", 4))
    bot = Searching(game, seat)
    for playouts in range(1, 6):
        bot.play_out(game.fork(), game.options(seat)[0])
        mine = [known for view, known in bot.tree.items() if view.viewer == seat]
        assert len(mine) <= playouts
    assert mine
    assert sum(tally.visits for known in bot.tree.values() for tally in known.values()) >= 5


def test_each_seat_learns_what_is_good_for_itself() -> None:
    """Seat 0 has a star, and showing it brings money; its rule of thumb, the safe option, never shows it."""
    game = window()
    bot = Searching(game, 1)
    for _ in range(60):
        bot.play_out(game.fork(), PASS)
    (known,) = [known for view, known in bot.tree.items() if view.viewer == 0]
    visits = {act == PASS: tally.visits for act, tally in known.items()}
    assert visits[False] > visits[True]


# -- what a position is worth
def test_places_say_what_the_end_is_worth() -> None:
    toy = empty_table(4)
    toy.cash = [30, 10, 10, 0]
    bot = Searching(toy, 0)
    assert not toy.waiting()
    assert bot.estimate(toy) == pytest.approx([1, 0.25, 0.25, 0])
    toy.cash = [30, 30, 10, 0]
    assert bot.estimate(toy) == pytest.approx([2 / 3, 2 / 3, 1 / 6, 0])


def test_before_the_end_a_larger_lead_is_worth_more() -> None:
    toy = window()
    bot = Searching(toy, 0)
    toy.cash = [0, 0, 0]
    assert bot.estimate(toy) == pytest.approx([5 / 12] * 3)  # a third of first places, half of the others behind
    toy.cash = [10, 0, -10]
    small = bot.estimate(toy)
    toy.cash = [20, 0, -10]
    assert 1 > bot.estimate(toy)[0] > small[0] > small[1] > small[2] > 0
    toy.cash = [10**9, 0, 0]  # no float overflows
    assert bot.estimate(toy) == pytest.approx([1, 0.125, 0.125], abs=0.05)


# -- which option is tried
def tally(visits: int, mean: float) -> Tally:
    result = Tally()
    result.visits, result.total = visits, visits * mean
    return result


def test_the_rule_of_thumb_is_tried_more_often_until_another_option_has_better_results() -> None:
    options = [Act(1), Act(2), Act(3)]
    known: dict[Act, Tally] = {options[1]: tally(1, 0.5)}
    counts = Counter[int]()
    for _ in range(60):
        act = promising(options, options[1], known)
        counts[act.verb] += 1
        old = known.setdefault(act, Tally())
        old.visits, old.total = old.visits + 1, old.total + (0.9 if act.verb == 3 else 0.4)
    assert counts[3] > counts[2] > counts[1] > 0  # all were tried, the best one most
    assert promising(options, options[1], {options[1]: tally(1, 0.5)}) == options[1]


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
    assert clearly_better([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 1.5)
    assert clearly_better([1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.0], 1.5)
    assert not clearly_better([1.0, 0.0, 0.5], [0.5, 0.5, 0.0], 1.5)  # luck explains it
    assert clearly_better([1.0, 0.0, 0.5], [0.5, 0.5, 0.0], 0.4)  # the lead is half a standard error
    assert not clearly_better([1.0, 0.0, 0.5], [0.5, 0.5, 0.0], 0.6)
    assert not clearly_better([0.5, 0.5], [0.5, 0.5], 0.0)
    assert not clearly_better([0.0, 0.0], [1.0, 1.0], 0.0)
    assert not clearly_better([1.0], [0.0], 0.0)  # one world proves nothing
    assert not clearly_better([], [], 0.0)


def test_what_a_race_found_has_intervals_and_says_what_is_too_close_to_call() -> None:
    bot = SearchBot(1)
    results = {
        4: [1.0, 0.0, 0.5, 0.5],
        0: [0.5, 0.0, 0.5, 0.0],  # a quarter less, and luck explains a half of it
        2: [0.75, -0.25, 0.25, 0.25],  # the same difference, in every state
        3: [0.0],  # dropped out at once
        5: [],
    }
    for index, values in results.items():
        bot.contenders.append(contender := object.__new__(Contender))
        contender.index, contender.values = index, values
    found = bot.expected(4)
    assert sorted(found) == [0, 2, 3, 4]
    assert found[4].margin == pytest.approx(1.96 * math.sqrt(1 / 6) / 2)
    assert (found[4].mean, found[4].playouts, found[4].is_close) == (0.5, 4, False)
    assert [found[index].mean for index in (0, 2, 3)] == [0.25, 0.25, 0.0]
    assert [found[index].is_close for index in (0, 2, 3)] == [True, False, True]
    assert found[3].margin == math.inf


# -- seats that decide at the same time
def window() -> Toy:
    """Three seats are asked at once whether they show a star; seats 0 and 1 have one, and nobody else knows it."""
    toy = empty_table(3)
    toy.enter([STAR], toy.hand[0])
    toy.enter([STAR], toy.hand[1])
    toy.enter([SUN], toy.hand[2])
    left = Counter(toy.box(3, toy.settings)) - Counter([STAR, STAR, SUN])
    toy.enter(left.elements(), toy.deck)
    toy.then(Window(-1))
    toy.settle()
    return toy


def test_an_answer_in_a_window_is_not_known_to_the_other_seats() -> None:
    answers = []
    for taken in range(2):
        toy = window()
        toy.choose(0, toy.options(0)[taken])
        view, decision = question(toy, 1)
        bot = SearchBot(60)
        answers.append((started(bot, toy, 1).choose(view, decision), set(bot.tree)))
        assert {view.viewer for view in bot.tree} == {0, 2}  # asked again in the imagined states
    assert answers[0] == answers[1]


def test_search_shows_a_star_though_its_rule_of_thumb_passes() -> None:
    toy = window()
    view, decision = question(toy, 0)
    assert decision.safe.verb == "pass"
    assert decision.options[started(SearchBot(20), toy, 0).choose(view, decision)].verb == "yes"


@pytest.mark.parametrize("game", GAMES)
def test_nobody_infers_in_a_playout_though_all_know_what_they_knew(game: str) -> None:
    for position, seat in positions(game, every=7, most=6):
        view = position.view(seat)
        world = SearchBot(20).imagined(Worlds(view), Chance(bytes(KEY_BYTES)))
        assert (world.fork().inferring, world.fork().remembering) == (0, world.everyone)
        assert world.view(seat) == view


# -- a game that it has never seen
@pytest.fixture(scope="module")
def kuhn_poker() -> Iterator[ModuleType]:
    """The game of `examples/kuhn_poker`, for which no view and no rule of thumb exist."""
    name = "kuhn_poker"
    spec = spec_from_file_location(name, CHECKOUT / "examples" / name / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.mark.parametrize(
    ("before", "card", "good"),
    [  # where good play knows one answer; elsewhere it mixes two
        ([], "queen", "check"),
        ([0], "queen", "check"),
        ([0], "king", "bet"),
        ([1], "jack", "fold"),
        ([1], "king", "call"),
        ([0, 1], "jack", "fold"),
        ([0, 1], "king", "call"),
    ],
    ids=lambda value: "".join(map(str, value)),
)
def test_search_finds_good_play_in_kuhn_poker(kuhn_poker: ModuleType, before: list[int], card: str, good: str) -> None:
    """The rule of thumb, the safe option, never bets and never calls. Opponents are imagined who learn to."""
    for seed in range(6):
        game = dealt(kuhn_poker, before, card, seed)
        (seat,) = game.waiting()
        view, decision = question(game, seat)
        assert type(view) is GameView
        bot = SearchBot(300)
        bot.start(MatchInfo("kuhn_poker", seat, ("a", "b"), {}, random.Random(seed)))
        assert decision.options[bot.choose(view, decision)].verb == good, seed


def dealt(kuhn_poker: ModuleType, before: list[int], card: str, seed: int) -> Game:
    """A first deal after these answers, with this card in the hand of the seat that decides."""
    for number in range(100):
        game: Game = kuhn_poker.KuhnPoker.new(2, match_key(f"kuhn/{seed}", number))
        for index in before:
            seat = game.waiting()[0]
            game.choose(seat, game.options(seat)[index])
        (hand,) = game.view(game.waiting()[0]).of("hand", game.waiting()[0])
        if game.words.cards[hand.cards[0] - 1].name == card:
            return game
    raise AssertionError(f"no deal has a {card}")


# -- strength
class Thirty(SearchBot):
    """Has thirty playouts a decision."""

    def __init__(self) -> None:
        super().__init__(30)


@pytest.mark.soak
def test_search_wins_more_than_its_share_of_szmal_against_three_greedy_bots() -> None:
    """A fourth is 25 of 100, and at that strength 34 come in fewer than 3 of 100 runs.

    Each deal is played in every seat, which leaves less to chance than that.
    """
    outcome = measure("szmal", BotMaker("search", Thirty), 100, seed="search")
    assert outcome.faults == 0
    assert outcome.first_places >= 34
