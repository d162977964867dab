"""The faults of a simulated world: their rates, drawn from the seed.

Rates differ a lot between seeds, and many are 0. So some worlds have only one kind of fault, and others have all kinds
at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

__all__ = ["HOSTILE", "Faults"]

# The kinds of hostile bots; see `zoo.py`.
HOSTILE = (
    "illegal",
    "late",
    "silent",
    "flood",
    "replay",
    "double",
    "crossing",
    "garbage",
    "gives_up",
    "thief",
    "leaver",
    "deaf",
)


@dataclass
class Faults:
    """The rates of faults per virtual second, and shares."""

    breaks: float = 0.0  # of streams
    half_open: float = 0.0  # share of breaks that one side learns of late
    latency_s: float = 0.001
    jitter_s: float = 0.0
    spike: float = 0.0  # share of messages that take up to spike_s
    spike_s: float = 0.0
    late_dial: float = 0.0  # share of calls that arrive late, after their bot has given up
    slow_reader: float = 0.0  # share of honest bots
    stalls: float = 0.0  # of the server
    stall_s: float = 0.0
    crashes: float = 0.0
    drains: float = 0.0
    store_s: float = 0.001
    store_jitter_s: float = 0.0
    store_fails: float = 0.0  # share of transactions
    store_unsure: float = 0.0  # share of failures at the commit, after which the result may be stored
    wall_jumps: float = 0.0
    changes: float = 0.0  # of ladders
    requests: float = 0.0  # for matches
    lifts: float = 0.0  # of pauses
    hostile: list[str] = field(default_factory=list)

    @classmethod
    def drawn(cls, random: Random) -> Faults:
        """Draw the faults of one world."""

        def rate(most: float, share: float = 0.5) -> float:
            return most * random.random() ** 2 if random.random() < share else 0.0

        return cls(
            breaks=rate(0.6),
            half_open=rate(1.0),
            latency_s=random.choice((0.0, 0.0002, 0.002, 0.02)),
            jitter_s=rate(0.05),
            spike=rate(0.05),
            spike_s=random.choice((0.1, 0.5, 3.0)),
            late_dial=rate(0.3, 0.2),
            slow_reader=rate(1.0, 0.3),
            stalls=rate(2.0),
            stall_s=random.choice((0.02, 0.1, 0.5, 3.0)),
            crashes=rate(0.2, 0.3),
            drains=rate(0.2, 0.2),
            store_s=random.choice((0.0, 0.001, 0.02, 0.5)),
            store_jitter_s=rate(0.5),
            store_fails=rate(0.8, 0.4),
            store_unsure=rate(1.0, 0.3),
            wall_jumps=rate(1.0, 0.3),
            changes=rate(3.0),
            requests=rate(4.0),
            lifts=rate(1.0),
            hostile=random.sample(HOSTILE, random.choice((0, 0, 1, 1, 2, 3))),
        )

    def end(self) -> None:
        """End all faults and hostile bots."""
        calm = Faults()
        self.__dict__.update(calm.__dict__)
