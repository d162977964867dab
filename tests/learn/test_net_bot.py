"""A bot that plays a net: in local play and on a server. `submissions/test_trained.py` submits it."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.games import GAMES
from cutpurse.learn.net import load_net
from cutpurse.sdk.bot import MatchInfo, load_bot
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views import VIEWS
from tests.cli.test_bot_run import begin
from tests.learn.nets import BOT, net_bot, random_net
from tests.learn.positions import positions
from tests.sdk.arena import arena
from tests.typed import run


@pytest.mark.parametrize("game", GAMES)
def test_a_net_bot_plays_every_game(game: str, tmp_path: Path) -> None:
    bot = net_bot(tmp_path, game)
    played = run("play", game, bot, "random", "random", "random", "--matches", 2, "--seed", 1, "--json")
    assert (played.exit_code, played.stderr) == (0, "")
    assert [seat["faults"] for seat in json.loads(played.stdout)["seats"]] == [0, 0, 0, 0]


def test_it_takes_the_option_that_its_net_rates_best(tmp_path: Path) -> None:
    bot, net = load_bot(str(net_bot(tmp_path))).make(), load_net(tmp_path / "net.npz")
    greedy = GreedyBot().choose
    match = MatchInfo("greed", 0, ("my_net_bot", "random", "random", "random"), {}, random.Random(1))
    for position in positions("greed", 4, 20):
        view = VIEWS["greed"](position.view, None, 0)
        safe = partial(position.game.safe_option, position.seat, position.options)
        decision = Decision(0, position.game.question.name, position.options, safe, view)
        bot.start(match)
        advised = greedy(view, decision).index
        assert bot.choose(view, decision) == net.rate(position.view, position.options, advised).argmax()


def test_another_game_ends_local_play_with_a_line(tmp_path: Path) -> None:
    played = run("play", "szmal", net_bot(tmp_path), "random", "random", "random")
    assert played.exit_code == 3
    assert "the net plays greed, not szmal: let the bot play greed alone" in played.stderr
    assert "Traceback" not in played.stderr


def test_with_another_number_of_seats_it_plays_as_its_adviser_and_says_so(tmp_path: Path) -> None:
    played = run("play", "greed", net_bot(tmp_path), "random", "random", "--matches", 2, "--json")
    assert played.exit_code == 0
    assert [line.partition(": ")[2] for line in played.stderr.splitlines()] == [
        "the net is for 4 seats, not 3: train one with cutpurse train --seats 3"
    ] * 2
    advised = run("play", "greed", "greedy", "random", "random", "--matches", 2, "--json")
    result, same = json.loads(played.stdout), json.loads(advised.stdout)
    assert (result["digest"], result["seats"][0]["faults"]) == (same["digest"], 0)


def test_an_adviser_that_is_not_built_in_has_to_be_given(tmp_path: Path) -> None:
    net = random_net("greed")
    net.training["teacher"] = "my_bot.py"
    net.save(tmp_path / "net.npz")
    bot = tmp_path / "my_net_bot.py"
    bot.write_text(BOT, encoding="utf-8")
    played = run("play", "greed", bot, "random", "random", "random")
    assert played.exit_code == 3
    assert "the net was trained with the adviser 'my_bot.py', which is not built in: set `adviser`" in played.stderr
    given = BOT.replace("class Bot(NetBot):", "class Bot(NetBot):\n    adviser = RandomBot")
    bot.write_text("from cutpurse.bots.random_bot import RandomBot\n" + given, encoding="utf-8")
    played = run("play", "greed", bot, "random", "random", "random", "--matches", 2)
    assert (played.exit_code, played.stderr) == (0, "")


@pytest.mark.parametrize("content", [None, b"no net"])
def test_a_bot_without_its_net_is_not_loaded(content: bytes | None, tmp_path: Path) -> None:
    bot = net_bot(tmp_path)
    net = tmp_path / "net.npz"
    net.unlink()
    if content is not None:
        net.write_bytes(content)
    played = run("play", "greed", bot, "random", "random", "random")
    assert played.exit_code == 3
    (line,) = played.stderr.splitlines()
    assert line.startswith(f"cutpurse: bot {bot} does not import: {bot}:8: ")
    assert str(net) in line


async def test_started_as_a_program_it_plays_on_a_server(tmp_path: Path) -> None:
    bot = net_bot(tmp_path, seats=3)
    bot.write_text(BOT.replace('run(Bot, "greed")', 'run(Bot, "greed", matches=2)'), encoding="utf-8")
    async with arena(games=["greed"], matches=2) as server:
        process = await begin(server, bot, is_program=True)
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"")
    lines = err.decode().splitlines()
    assert lines[0] == f"my_net_bot (version 1) plays at {server.address} (test)"
    assert [line.split()[0] for line in lines[1:]] == ["match", "match"]
