"""What a decision costs on its way over the wire: CPU microseconds to encode it, to parse it and to look at it.

    python -m benchmarks.wire [--seconds S] [--games NAME,...]

Whole random matches are recorded first, four seats and default settings: at each question with two options or more what
the server would encode, with the events since that seat's last one and the agenda. Then each row goes through all of
them, again and again, for about so many CPU seconds, and its quickest pass counts. Nothing is sent anywhere.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.protocol import Stopwatch
from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.sdk.wire.asked import TableInfo, asked
from cutpurse.sdk.wire.encode import MatchEncoder
from cutpurse.v1 import arena_pb2

__all__ = ["Put", "main", "matches", "measured"]

SEATS = 4
SEED = 1
DECISIONS = 400  # at least so many are recorded of a game, in whole matches


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put: everything that `MatchEncoder.decision` takes and the clock does not give."""

    number: int
    ask: str
    options: list[Option]
    view: View
    events: list[Event]
    first_event: int

    def encoded(self, encoder: MatchEncoder) -> bytes:
        return encoder.decision(
            table=3,
            number=self.number,
            ask=self.ask,
            options=self.options,
            view=self.view,
            events=self.events,
            first_event=self.first_event,
            base_left_ms=1000,
            bank_left_ms=9500,
            safe_option=0,
            agenda=True,
        )


def matches(rules: type[Game]) -> list[list[Put]]:
    """Random matches to their ends, the same each time."""
    dice = random.Random(SEED)
    found: list[list[Put]] = []
    while sum(map(len, found)) < DECISIONS:
        game = rules(SEATS, rules.check(SEATS, {}), Chance(dice.randbytes(KEY_BYTES)))
        game.start(log=True)
        log = game.log
        assert log is not None
        told, asked_before = [0] * SEATS, [0] * SEATS
        puts: list[Put] = []
        while waiting := game.waiting():
            seat = waiting[0]
            options = game.options(seat)
            if len(options) > 1:
                view, name = game.view(seat), game.question.name
                puts.append(Put(asked_before[seat], name, options, view, log[told[seat] :], told[seat]))
                told[seat] = len(log)
                asked_before[seat] += 1
            game.choose(seat, dice.choice(options))
        found.append(puts)
    return found


def measured(rules: type[Game], seconds: float) -> dict[str, float]:
    """By row the microseconds of one decision, and last the bytes of one."""
    played = matches(rules)
    settings = rules.check(SEATS, {})
    puts = [put for match in played for put in match]
    warm = {id(put): MatchEncoder(rules, settings, SEATS) for put in puts}
    bodies = [(put.encoded(warm[id(put)]), put.view.viewer or 0) for put in puts]
    tables = [TableInfo(rules, settings, SEATS, seat) for seat in range(SEATS)]

    def in_play() -> None:
        for match in played:
            encoder = MatchEncoder(rules, settings, SEATS)
            for put in match:
                put.encoded(encoder)

    def again() -> None:
        for put in puts:
            put.encoded(warm[id(put)])

    def parsed() -> None:
        for body, _ in bodies:
            arena_pb2.Decision.FromString(body)

    def handed_over() -> None:
        for body, seat in bodies:
            asked(arena_pb2.Decision.FromString(body), tables[seat])

    def looked_at() -> None:
        for body, seat in bodies:
            view, decision = asked(arena_pb2.Decision.FromString(body), tables[seat])
            assert decision.options
            assert view.raw

    def read() -> None:
        for body, seat in bodies:
            view, decision = asked(arena_pb2.Decision.FromString(body), tables[seat])
            assert decision.options
            assert view.raw
            assert view.events is not None

    rows: list[tuple[str, Callable[[], None]]] = [
        ("encode, in play", in_play),
        ("encode, unchanged", again),
        ("parse", parsed),
        ("hand over", handed_over),
        ("options, view", looked_at),
        ("and events", read),
    ]
    found = {name: _microseconds(row, seconds) / len(puts) for name, row in rows}
    return found | {"bytes": sum(len(body) for body, _ in bodies) / len(bodies)}


def _microseconds(row: Callable[[], None], seconds: float) -> float:
    """The quickest pass: other work on the machine can only make one slower."""
    row()
    quickest = float("inf")
    watch = Stopwatch(seconds)
    while True:
        began = time.process_time()
        row()
        quickest = min(quickest, time.process_time() - began)
        if watch.is_over():
            return quickest * 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds a row (default: 1)")
    parser.add_argument("--games", default=",".join(GAMES), help="names with commas (default: all)")
    given = parser.parse_args(arguments)
    names = given.games.split(",")
    if unknown := [name for name in names if name not in GAMES]:
        parser.error(f"no game is called {unknown[0]!r}; there are: {', '.join(GAMES)}")
    if not given.seconds > 0:
        parser.error(f"argument --seconds: {given.seconds} s cannot be measured; more than 0 can")
    width = max(map(len, GAMES))
    for i, name in enumerate(names):
        found = measured(GAMES[name], given.seconds)
        if i == 0:
            print(f"{'CPU us a decision':{width}}  " + "  ".join(found))
        print(f"{name:{width}}  " + "  ".join(f"{value:>{len(row)}.1f}" for row, value in found.items()))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
