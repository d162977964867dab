"""The cost of a decision on the wire: CPU microseconds to encode it, to parse it and to read it.

    python -m benchmarks.wire [--seconds S] [--games NAME,...]

Whole random matches are recorded first, with four seats and default settings. Encoding is what a server does at each
decision with two or more options: the view, the events since the seat's last decision, and the agenda. The matches are
played again with and without encoding (and with encoding twice, for unchanged views), and the difference is printed.
Each row repeats all matches for about `--seconds` CPU seconds, and its quickest pass counts. Nothing is sent.
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
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.sdk.online.question_types import asked
from cutpurse.v1 import arena_pb2
from cutpurse.wire.decode import TableInfo
from cutpurse.wire.encode import DECISION_EVENTS, MatchEncoder

__all__ = ["Played", "Put", "main", "matches", "measured"]

SEATS = 4
SEED = 1
DECISIONS = 400  # minimum decisions to record per game, in whole matches


@dataclass(frozen=True, slots=True)
class Put:
    """A recorded decision, with what is needed to send it again."""

    seat: int
    number: int
    ask: str
    options: list[Option]
    first_event: int

    def encoded(self, game: Game, encoder: MatchEncoder) -> bytes:
        """Encode the Decision message as a server does."""
        return encoder.decision(
            table=3,
            number=self.number,
            ask=self.ask,
            options=self.options,
            observation=encoder.observation_of(game, self.seat, agenda=True),
            events=encoder.events(DECISION_EVENTS, (game.log or [])[self.first_event :], self.seat),
            first_event=self.first_event,
            base_left_ms=1000,
            bank_left_ms=9500,
            safe_option=0,
        )


@dataclass(frozen=True, slots=True)
class Played:
    """A recorded random match: each answer, with the decision if it had two or more options."""

    key: bytes
    answers: list[tuple[int, Option, Put | None]]

    def again(self, rules: type[Game], look: Callable[[Game, MatchEncoder, Put], None]) -> None:
        """Play the match again; `look` is called at each decision."""
        game = rules(SEATS, rules.check(SEATS, {}), Chance(self.key))
        game.start(log=True)
        encoder = MatchEncoder(rules, game.settings, SEATS)
        for seat, option, put in self.answers:
            if put is not None:
                look(game, encoder, put)
            game.choose(seat, option)


def matches(rules: type[Game]) -> list[Played]:
    """Record random matches, the same at each call."""
    dice = random.Random(SEED)
    found: list[Played] = []
    while sum(put is not None for match in found for _, _, put in match.answers) < DECISIONS:
        match = Played(dice.randbytes(KEY_BYTES), [])
        game = rules(SEATS, rules.check(SEATS, {}), Chance(match.key))
        game.start(log=True)
        log = game.log
        assert log is not None
        told, asked_before = [0] * SEATS, [0] * SEATS
        while waiting := game.waiting():
            seat, put = waiting[0], None
            options = game.options(seat)
            if len(options) > 1:
                put = Put(seat, asked_before[seat], game.question.name, options, told[seat])
                told[seat] = len(log)
                asked_before[seat] += 1
            option = dice.choice(options)
            match.answers.append((seat, option, put))
            game.choose(seat, option)
        found.append(match)
    return found


def measured(rules: type[Game], seconds: float) -> dict[str, float]:
    """Measure the microseconds per decision by row, and last the bytes of a decision."""
    played = matches(rules)
    settings = rules.check(SEATS, {})
    bodies: list[tuple[bytes, int]] = []
    for match in played:
        match.again(rules, lambda game, encoder, put: bodies.append((put.encoded(game, encoder), put.seat)))
    tables = [TableInfo(rules, settings, SEATS, seat) for seat in range(SEATS)]

    def encoded(times: int) -> Callable[[], None]:
        def look(game: Game, encoder: MatchEncoder, put: Put) -> None:
            for _ in range(times):
                put.encoded(game, encoder)

        def row() -> None:
            for match in played:
                match.again(rules, look)

        return row

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
        ("parse", parsed),
        ("hand over", handed_over),
        ("options, view", looked_at),
        ("and events", read),
    ]
    never, once, twice = [_microseconds(encoded(times), seconds) / len(bodies) for times in range(3)]
    found = {"encode, in play": once - never, "encode, unchanged": twice - once}
    found |= {name: _microseconds(row, seconds) / len(bodies) for name, row in rows}
    return found | {"bytes": sum(len(body) for body, _ in bodies) / len(bodies)}


def _microseconds(row: Callable[[], None], seconds: float) -> float:
    """Return the quickest pass, because other work on the machine can only slow a pass down."""
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
