"""The expert: its nets come with it, and where it has none it plays as `search`."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from importlib.resources import files

import pytest

from cutpurse.bots import expert_bot
from cutpurse.bots.expert_bot import ExpertBot, net_of
from cutpurse.bots.search_bot import SearchBot
from cutpurse.games import GAMES
from cutpurse.learn.net import Net
from cutpurse.sdk.bot import BotMaker, MatchInfo, built_in_bots
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play
from cutpurse.sdk.views import VIEWS
from tests.learn.nets import random_net
from tests.learn.positions import Position, greedy_answer, positions

NETS = {
    ("steal_and_plunder", 3),
    ("steal_and_plunder", 4),
    ("stolen_treasure", 4),
    ("szmal", 2),
    ("szmal", 3),
    ("szmal", 4),
    ("szmal", 5),
}  # game and number of seats
LARGEST_KB = 700


def answer(
    bot: SearchBot, position: Position, settings: Mapping[str, str] | None = None, base_s: float = math.inf
) -> int:
    """Return the bot's answer in a position, in a match of its own, with so much base time when it is asked first.

    Each look at the clock takes 0.1 s.
    """
    game = position.game
    view = VIEWS[game.words.game](position.view, None, 0)
    safe = partial(game.safe_option, position.seat, position.options)
    decision = Decision(0, game.question.name, position.options, safe, view)
    looks = itertools.count()
    decision.keep_time(lambda: (base_s - next(looks) * 0.1, 10.0))
    bot.start(MatchInfo(game.words.game, position.seat, ("bot",) * game.n, settings or {}, random.Random(1)))
    return bot.choose(view, decision)


def best_of(net: Net, position: Position) -> int:
    """Return the option that a net rates best, with the advice of `greedy`."""
    advice = greedy_answer(position.game, position.seat, position.options, position.view)
    return int(net.rate(position.view, position.options, position.options.index(advice)).argmax())


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Net:
    """A net with random weights, which the expert takes for its own in Greed, with as many playouts as elsewhere."""
    net = random_net("greed")
    monkeypatch.setattr(expert_bot, "TIMES", {})
    monkeypatch.setattr(expert_bot, "net_of", lambda game, seats: net)
    return net


@pytest.mark.parametrize(("game", "seats"), sorted(NETS))
def test_a_net_comes_with_it_and_says_how_it_was_trained(game: str, seats: int) -> None:
    net = net_of(game, seats)
    assert net is not None
    assert (net.space.game, net.space.seats) == (game, seats)
    assert (net.training["game"], net.training["teacher"]) == (game, "greedy")
    assert net.training["minutes"] > 1
    assert net.training["matches"] > 1000
    file = files("cutpurse.bots").joinpath("nets", f"{game}-{seats}.npz")
    assert len(file.read_bytes()) < LARGEST_KB * 1000


@pytest.mark.full
@pytest.mark.parametrize("game", GAMES)
def test_it_plays_every_game_without_a_fault(game: str) -> None:
    run = play(game, [BotMaker("expert", partial(ExpertBot, 2)), "greedy", "random", "greedy"], matches=1, seed=4)
    assert run.faults[0] == 0


def test_it_is_built_in() -> None:
    assert built_in_bots()["expert"] == "cutpurse.bots.expert_bot:ExpertBot"


def test_without_playouts_it_takes_what_its_net_rates_best(net: Net) -> None:
    for position in positions("greed", 4, 30):
        assert answer(ExpertBot(1), position) == best_of(net, position)


def test_a_search_that_finds_nothing_better_leaves_the_choice_of_the_net(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SearchBot, "play_out", lambda bot, game, act: 0.5)
    for position in positions("greed", 4, 30):
        assert answer(ExpertBot(20), position) == best_of(net, position)


def test_a_search_that_finds_something_better_overrules_the_net(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    overruled = 0
    for position in positions("greed", 4, 30):
        wanted = position.options[0]
        monkeypatch.setattr(SearchBot, "play_out", lambda bot, game, act, wanted=wanted: float(act == wanted))
        assert answer(ExpertBot(100), position) == 0
        overruled += best_of(net, position) != 0
    assert overruled > 5


def test_there_are_no_other_nets() -> None:
    names = sorted(file.name for file in files("cutpurse.bots").joinpath("nets").iterdir())
    assert names == [f"{game}-{seats}.npz" for game, seats in sorted(NETS)]


@pytest.mark.full
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_at_a_table_without_a_net_it_plays_as_search(seats: int) -> None:
    assert net_of("greed", seats) is None
    for position in positions("greed", seats, 12):
        assert answer(ExpertBot(2), position) == answer(SearchBot(8), position)


def test_where_more_playouts_help_it_has_several_times_those_of_search(monkeypatch: pytest.MonkeyPatch) -> None:
    assert expert_bot.TIMES["greed"] > 1
    monkeypatch.setattr(SearchBot, "choose", lambda bot, view, decision: bot.playouts)
    bot = ExpertBot(3)
    asked = [answer(bot, next(positions(game, 4, 1))) for game in ("greed", "szmal", "greed")]
    assert asked == [3 * expert_bot.TIMES["greed"], 3, 3 * expert_bot.TIMES["greed"]]


@pytest.mark.parametrize("game", sorted(set(GAMES) - set(expert_bot.TIMES)))
def test_elsewhere_it_has_as_many_playouts_as_search_without_a_net_too(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SearchBot, "choose", lambda bot, view, decision: bot.playouts)
    assert answer(ExpertBot(7), next(positions(game, 3, 1))) == 7


def test_without_numpy_the_line_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "sys.argv = ['cutpurse', 'play', 'greed', 'expert', 'greedy', '--matches', '1']\n"
        "from cutpurse.cli.main import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (3, "")
    (line,) = run.stderr.splitlines()
    assert "numpy is not installed; in a checkout of Cutpurse, this does it: pip install '.[learn]'" in line
