"""Numbers and arrays for learning agents: the options and views of any game, with one meaning in every position.

    from cutpurse.learn import Space

    space = Space("greed", seats=4)
    planes, numbers = space.observe(view)
    mask = space.mask(view, options)

Needs numpy alone: `pip install 'cutpurse[learn]'`. The environments for Gymnasium (`cutpurse.learn.gym`) and PettingZoo
(`cutpurse.learn.pettingzoo`) need the extra `rl`. Nothing here knows a particular game.
"""

from __future__ import annotations

from cutpurse.sdk.errors import needs

with needs("learn"):
    import numpy as _numpy  # noqa: F401  # so that a missing one is reported here

from cutpurse.learn.rewards import REWARDS
from cutpurse.learn.space import IllegalNumber, OtherNumbering, Space
from cutpurse.learn.span import Span

__all__ = ["REWARDS", "IllegalNumber", "OtherNumbering", "Space", "Span"]
