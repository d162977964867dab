"""What a yardstick measures: a bot as in `cutpurse play`, or the file of a net, and what identifies it."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.bot import BotMaker, load_bot
from cutpurse.wire.errors import BotNotLoaded, NotFound

if TYPE_CHECKING:
    from cutpurse.learn.net import NetMaker

__all__ = ["agent_games", "agent_identity", "load_agent"]

NET: Final = ".npz"  # ends the name of a net's file
PLAYOUTS: Final = "CUTPURSE_PLAYOUTS"  # how long `search` and `expert` think: with another number, another agent


def load_agent(name: str) -> BotMaker:
    """Load an agent.

    Raises:
        UsageError: As `load_bot` does.
        NotFound: If its file does not exist.
        BotNotLoaded: If its file is no bot, or no net that can be played here.
    """
    if not name.endswith(NET):
        return load_bot(name)
    try:
        agent_games(name)  # loads the net
    except NotFound:
        raise
    except UsageError as problem:
        raise BotNotLoaded(str(problem)) from None
    return BotMaker(name, _net_maker(name), name)


def agent_games(name: str) -> tuple[str, ...]:
    """Return the only game that a net can play; nothing for another agent, which is measured in all."""
    return (_net_maker(name).net.space.game,) if name.endswith(NET) else ()


def agent_identity(maker: BotMaker) -> dict[str, str]:
    """Return what the answers of an agent depend on: the digest of its file, and a number of playouts that was set."""
    identity = {"bot": maker.name}
    file = Path(maker.file)
    if file.suffix in (".py", NET) and file.is_file():
        identity["code"] = sha256(file.read_bytes()).hexdigest()[:16]
    playouts = os.environ.get(PLAYOUTS)
    return {**identity, PLAYOUTS: playouts} if playouts else identity


def _net_maker(file: str) -> NetMaker:
    from cutpurse.learn.net import NetMaker  # needs numpy, and few agents are nets

    return NetMaker(file)
