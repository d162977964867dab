"""Which build of the engine is installed, and what that means for bots that think long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cutpurse.engine import zones
from cutpurse.process.terminal import print_message
from cutpurse.wire.installation import install_command

__all__ = ["how_to_compile", "is_compiled", "warn_of_slow_bots"]

THINKING: Final = ("search", "expert")  # built-in bots that play matches on in their thoughts
# The means of each game among three greedy, on 2026-12-01, Linux x86-64, Python 3.11: benchmarks/results/rungs.md.
THINKING_S: Final = "0.05 to 0.3 s"
FASTER: Final = "1.1 to 2.1"


def is_compiled() -> bool:
    """Return whether the engine is C; else it is Python."""
    return not str(zones.__file__).endswith(".py")


def how_to_compile() -> str:
    """Return the command that installs the compiled engine; it needs a C compiler."""
    return f"CUTPURSE_COMPILED=1 {install_command()}"


def warn_of_slow_bots(bots: Iterable[str]) -> None:
    """Print a line, before a run, if its bots think long and could think faster."""
    slow = [name for name in THINKING if name in set(bots)]
    if slow and not is_compiled():
        print_message(
            f"{' and '.join(slow)} {'thinks' if len(slow) == 1 else 'think'} {THINKING_S} a decision with the pure "
            f"engine: --jobs N plays several matches at once, and {how_to_compile()} makes "
            f"{'it' if len(slow) == 1 else 'them'} {FASTER} times as fast"
        )
