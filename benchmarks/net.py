"""Time of a net's decision with numpy: `python -m benchmarks.net runs/szmal/net.npz`.

The net plays all seats of a few matches. A decision is timed whole: the adviser's choice, reading the view and the
options, and rating them.
The clock's time includes what other programs did meanwhile; CPU time does not.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.engine.chance import match_key
from cutpurse.learn.choice_table import ChoiceTable, TableRules
from cutpurse.learn.net import Net, NetBot, load_net
from cutpurse.learn.opponents import Opponents
from cutpurse.sdk.bot import BotMaker

__all__ = ["main"]


def times(net: Net, matches: int) -> list[tuple[float, float]]:
    """Return the milliseconds of each decision, by the clock and of CPU time."""
    seats = net.space.seats
    table = ChoiceTable(TableRules(net.space.game, seats, None, "first", None))
    bot = BotMaker("net", type("Bot", (NetBot,), {"net": net}))
    taken = []
    for match in range(matches):
        goes_on = table.deal("bench", match)
        bots = Opponents(table.game, match_key("bench", match), ("net",) * seats, dict.fromkeys(range(seats), bot))
        while goes_on:
            assert table.seat is not None
            clock, cpu = time.perf_counter(), time.thread_time()
            choice = bots.answer(table.seat, table.options)
            taken.append(((time.perf_counter() - clock) * 1000, (time.thread_time() - cpu) * 1000))
            goes_on = table.answer(choice)
    return taken


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.net", description="Time of a net's decision.")
    parser.add_argument("nets", nargs="+", metavar="FILE", help="a net of cutpurse-train")
    parser.add_argument("--matches", type=int, default=20)
    given = parser.parse_args(argv)
    print(f"Milliseconds per decision with numpy, by the clock (CPU); {machine_line(machine())}\n")
    print("| net | weights | kB | decisions | mean | p50 | p99 | most |")
    print(f"|---|{'---:|' * 7}")
    for path in given.nets:
        net = load_net(path)
        clock, cpu = (sorted(column) for column in zip(*times(net, given.matches), strict=True))
        count = len(clock)
        cells = [
            f"{sum(clock) / count:.2f} ({sum(cpu) / count:.2f})",
            *(f"{clock[place]:.2f} ({cpu[place]:.2f})" for place in (count // 2, count * 99 // 100, count - 1)),
        ]
        weights = sum(weight.size for weight in net.weights.values())
        size = Path(path).stat().st_size / 1000
        head = f"| {net.space.game}, {net.space.seats} seats | {weights:,} | {size:,.0f} | {count:,}"
        print(f"{head} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
