"""Which build of the engine is installed, and what that means for bots that think long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cutpurse.engine import zones
from cutpurse.process.terminal import print_message
from cutpurse.wire.installation import install_command

__all__ = ["is_compiled", "warn_of_slow_bots"]

THINKING: Final = ("search", "expert")  # built-in bots that play matches on in their thoughts
# The means of a match of each game against random, on 2026-11-28, Linux x86-64, Python 3.11.
THINKING_S: Final = "0.1 to 0.6 s"
FASTER: Final = "1.1 to 1.7"  # of Bag-O-Loot not measured


def is_compiled() -> bool:
    """Return whether the engine is C; else it is Python."""
    return not str(zones.__file__).endswith(".py")


def warn_of_slow_bots(bots: Iterable[str]) -> None:
    """Print a line, before a run, if its bots think long and could think faster."""
    slow = [name for name in THINKING if name in set(bots)]
    if slow and not is_compiled():
        print_message(
            f"{' and '.join(slow)} {'thinks' if len(slow) == 1 else 'think'} {THINKING_S} a decision with the pure "
            f"engine: --jobs N plays several matches at once, and CUTPURSE_COMPILED=1 {install_command()} makes "
            f"{'it' if len(slow) == 1 else 'them'} {FASTER} times as fast"
        )
