"""Numbers and arrays for learning agents: the options and views of any game, with one meaning in every position.

    from cutpurse.learn import Space

    space = Space("greed", seats=4)
    planes, numbers = space.observe(view)
    mask = space.mask(view, options)

Needs numpy alone, the extra `learn`. The environments for Gymnasium (`cutpurse.learn.gym`) and PettingZoo
(`cutpurse.learn.pettingzoo`) need the extra `rl`, and data sets of recorded decisions (`cutpurse.learn.data_sets`) the
extra `data`. Nothing here knows a particular game.
"""

from __future__ import annotations

import os
import sys

from cutpurse.wire.errors import needs

# numpy's BLAS starts a thread per core, for which the small products of a net then wait: 76 options took 29 ms in the
# mean instead of 1.2 on a busy machine. It reads the variable when numpy is imported. A value that the user set stays.
if "numpy" not in sys.modules:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

with needs("learn"):
    import numpy as _numpy  # noqa: F401  # so that a missing one is reported here

from cutpurse.learn.rewards import REWARDS
from cutpurse.learn.space import IllegalNumber, OtherNumbering, Space
from cutpurse.learn.span import Span

__all__ = ["REWARDS", "IllegalNumber", "OtherNumbering", "Space", "Span"]
