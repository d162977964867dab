"""Nets with random weights, and the file of a bot that plays one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cutpurse.learn import Space
from cutpurse.learn.net import Columns, Inputs, Net, observe
from tests.learn.positions import positions

__all__ = ["BOT", "net_bot", "random_net"]

HIDDEN = 16
BOT = """
from pathlib import Path

from cutpurse.learn.net import NetBot, load_net


class Bot(NetBot):
    net = load_net(Path(__file__).with_name("net.npz"))


if __name__ == "__main__":
    import sys

    from cutpurse.sdk.run import run

    sys.exit(run(Bot, "greed"))
"""


def random_net(game: str, seats: int = 4, seed: int = 1, knowledge: str = "proof") -> Net:
    """Return a net that reads what varies in a few positions, with random weights."""
    space = Space(game, seats, knowledge=knowledge)
    seen = list(positions(game, seats, 60))
    views = np.stack([observe(space, each.view) for each in seen])
    options = np.concatenate([space.features(each.view, each.options) for each in seen])
    view, option = Columns.varying(views), Columns.varying(options)
    chance = np.random.default_rng(seed)
    shapes = {
        "view": (len(view.index), HIDDEN),
        "view_bias": (HIDDEN,),
        "option": (len(option.index), HIDDEN),
        "advice": (HIDDEN,),
        "hidden": (HIDDEN, HIDDEN),
        "hidden_bias": (HIDDEN,),
        "rating": (HIDDEN,),
        "lead": (1,),
    }
    weights = {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return Net(Inputs(space, view, option), weights, {"seed": seed, "teacher": "greedy"})


def net_bot(folder: Path, game: str = "greed", seats: int = 4) -> Path:
    """Write a net and the bot that plays it, as the tutorial does."""
    random_net(game, seats).save(folder / "net.npz")
    bot = folder / "my_net_bot.py"
    bot.write_text(BOT, encoding="utf-8")
    return bot
