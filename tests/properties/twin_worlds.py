"""Twin worlds: two states that a viewer cannot distinguish by the rule sheet must look equal, and continue equally.

`check` re-deals the cards hidden from the viewer (see `who_sees_what`). It compares everything the viewer gets: the
view to the byte, the waiting seats, options and safe option. Then both worlds continue with answers that look equal to
the viewer. The twin's chance is steered to show the viewer the same cards if possible. All events are compared too. The
worlds part where the sheet itself reveals a hidden difference. Any other difference is a leak.

The viewer's card knowledge is compared with the table's own records, and must be true in both worlds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.events import Event, Moved, Shuffled
from cutpurse.engine.game import Game
from cutpurse.engine.words import FACE_DOWN
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["Findings", "Leak", "check", "check_game"]

TRIES = 4  # attempts with other answers and other chance before two worlds part


class Leak(AssertionError):
    """The error if a viewer gets something that the rule sheet hides."""


@dataclass
class Findings:
    """The amount of comparisons, so that a check that compares nothing is noticed."""

    places: int = 0  # checked decisions
    pairs: int = 0  # decisions with a twin that really differs
    steps: int = 0  # decisions that pairs continued together
    long: int = 0  # pairs that continued for four decisions or more, or to the end of the game
    parted: Counter[str] = field(default_factory=Counter)


class Led(Chance):
    """The chance of the first world, which records its calls."""

    __slots__ = ("calls", "log")

    def __init__(self, key: bytes, log: list[Event]) -> None:
        super().__init__(key)
        self.log = log
        self.calls: list[tuple[str, int, int]] = []  # kind, number of events so far, and result

    def open(self, deal: int) -> None:
        super().open(deal)

    def pick(self, cards: object) -> int:
        at = super().below(len(cards))  # type: ignore[arg-type]  # a sequence of cards, as in Chance
        self.calls.append(("pick", len(self.log), at))
        return at

    def below(self, n: int) -> int:
        at = super().below(n)
        self.calls.append(("below", len(self.log), at))
        return at

    def shuffle(self, cards: list[int]) -> None:
        for i in range(len(cards) - 1, 0, -1):
            j = super().below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        self.calls.append(("shuffle", len(self.log), 0))


class Following(Chance):
    """The chance of the twin, which shows the viewer the same cards as the first world if possible."""

    __slots__ = ("calls", "log", "random", "wanted")

    def __init__(self, key: bytes, led: Led, seen: list[list[bool]], random: Random) -> None:
        super().__init__(key)
        self.calls = led.calls[:]
        self.log = led.log
        self.random = random
        self.wanted = seen

    def _call(self, kind: str) -> tuple[int, int] | None:
        if self.calls and self.calls[0][0] == kind:
            _, events, at = self.calls.pop(0)
            return events, at
        self.calls.clear()  # the worlds have parted within this step, so any chance is fine
        return None

    def below(self, n: int) -> int:
        call = self._call("below")
        return call[1] if call and call[1] < n else self.random.randrange(n)

    def pick(self, cards: object) -> int:
        faces: list[int] = list(cards)  # type: ignore[call-overload]  # a sequence of cards, as in Chance
        call = self._call("pick")
        if (
            call
            and call[0] < len(self.log)
            and isinstance(moved := self.log[call[0]], Moved)
            and self.wanted[call[0]][0]
        ):
            if call[1] < len(faces) and faces[call[1]] == moved.cards[0]:
                return call[1]  # the same copy, because the hand's owner sees since when it was held
            if moved.cards[0] in faces:
                return self.random.choice([i for i, face in enumerate(faces) if face == moved.cards[0]])
        return self.random.randrange(len(faces))

    def shuffle(self, cards: list[int]) -> None:
        call = self._call("shuffle")
        self.random.shuffle(cards)
        if call and call[0] < len(self.log) and isinstance(shuffled := self.log[call[0]], Shuffled):
            wanted = shown_from_the_top(self.log[call[0] + 1 :], self.wanted[call[0] + 1 :])
            put_in_place(cards, wanted.get(shuffled.zone, {}), 0)


def shown_from_the_top(events: list[Event], seen: list[list[bool]]) -> dict[int, dict[int, int]]:
    """Return the cards that the viewer will see leave each zone, by number of cards that leave before them.

    A zone counts until its first change other than a card leaving.
    """
    wanted: dict[int, dict[int, int]] = {}
    depth: Counter[int] = Counter()
    closed: set[int] = set()
    for event, flags in zip(events, seen, strict=True):
        if isinstance(event, Shuffled):
            closed.add(event.zone)
        elif isinstance(event, Moved):
            for card, flag in zip(event.cards, flags, strict=True):
                if event.from_zone not in closed:
                    if flag:
                        wanted.setdefault(event.from_zone, {})[depth[event.from_zone]] = card
                    depth[event.from_zone] += 1
            closed.add(event.to_zone)
    return wanted


def put_in_place(cards: list[int], wanted: dict[int, int], bottom: int) -> None:
    """Exchange cards of a pile so that the wanted cards lie at these depths from the top, if possible."""
    for depth, face in wanted.items():
        at = len(cards) - 1 - depth
        if at < bottom or cards[at] == face:
            continue
        for other in range(len(cards)):
            other_depth = len(cards) - 1 - other
            if cards[other] == face and wanted.get(other_depth) != face:
                cards[at], cards[other] = cards[other], cards[at]
                break


def check_knowledge(game: Game, table: WhoSeesWhat, world: str) -> None:
    """Check that the viewer sees and knows exactly what the sheet says, and nothing false."""
    view = game.view(None if table.viewer == game.n else table.viewer)
    for zone in game.zones():
        picture = view.zone(zone.number)
        where = f"{world}: {zone.kind.name} {zone.number} of {zone.owner}, seen by {table.viewer}"
        faces = table.faces(zone)
        shown = list(picture.cards) or [FACE_DOWN] * picture.size
        if shown != faces:
            raise Leak(f"{where}: shows {shown} where the sheet shows {faces}")
        if picture.columns and not table.sees(zone.number):
            raise Leak(f"{where}: shows the numbers {picture.columns} of hidden cards")
        known = table.reasoner.remembered(zone.number) if FACE_DOWN in faces else ()
        if picture.known != known and known is not None:
            raise Leak(f"{where}: knows {picture.known}; by the sheet {known}")
        if wrong := Counter(picture.known) - Counter(zone.cards):
            raise Leak(f"{where}: is told of {sorted(wrong)}, which is not there")


def compare(one: Game, twin: Game, viewer: int) -> None:
    """Raise Leak if this viewer can distinguish the two worlds now."""
    seat = None if viewer == one.n else viewer
    mine, theirs = one.view(seat).to_bytes(), twin.view(seat).to_bytes()
    if mine != theirs:
        raise Leak(f"viewer {viewer} has different views:\n{mine.decode()}\n{theirs.decode()}")
    if one.waiting() != twin.waiting():
        raise Leak(f"viewer {viewer} finds {one.waiting()} asked in one world, {twin.waiting()} in the other")
    if viewer in one.waiting():
        options, others = one.options(viewer), twin.options(viewer)
        if options != others:
            raise Leak(f"viewer {viewer} has different options at {one.question.name}: {options} and {others}")
        safe, other = one.safe_option(viewer, options), twin.safe_option(viewer, others)
        if safe != other:
            raise Leak(f"viewer {viewer} has different safe options at {one.question.name}: {safe} and {other}")


def answers_alike(one: Game, twin: Game, table: WhoSeesWhat, random: Random) -> tuple[int, Option, Option] | None:
    """Choose a seat and answers in both worlds that look equal to the viewer; return None if there are none."""
    seat = random.choice(one.waiting())
    options = one.options(seat)
    if seat == table.viewer:
        option = random.choice(options)
        return seat, option, option
    others: dict[object, list[Option]] = {}
    for option in twin.options(seat):
        others.setdefault(table.answer_as_seen(twin, seat, option), []).append(option)
    random.shuffle(options := options[:])
    for option in options:
        if alike := others.get(table.answer_as_seen(one, seat, option)):
            return seat, option, random.choice(alike)
    return None


def told_alike(one: Game, twin: Game, table: WhoSeesWhat, table_of_twin: WhoSeesWhat) -> str:
    """Compare the events of both worlds, and pass them to the tables.

    Returns:
        Why the worlds part, or an empty text.

    Raises:
        Leak: If an event differs without a reason in the sheet.
    """
    for mine, theirs in zip_longest(one.log or (), twin.log or ()):
        if mine is None or theirs is None:
            raise Leak(f"viewer {table.viewer} hears of {mine or theirs} in one world only")
        if table.told(mine) != table_of_twin.told(theirs):
            if table.may_differ(mine, theirs):
                return type(mine).__name__
            raise Leak(f"viewer {table.viewer} hears of {mine} in one world and of {theirs} in the other")
        if mine.to(table.viewer) != theirs.to(table.viewer):
            raise Leak(f"viewer {table.viewer} is told {mine.to(table.viewer)} and {theirs.to(table.viewer)}")
        if isinstance(mine, Moved):
            seen = [card for place, card in enumerate(mine.cards) if table.sees_card(mine, place)]
            told = [card for card in mine.to(table.viewer).cards if card != FACE_DOWN]
            if sorted(seen) != sorted(told):
                raise Leak(f"viewer {table.viewer} is told of the faces {told} in {mine}; by the sheet {seen}")
        table.hear(mine)
        table_of_twin.hear(theirs)
    for zone in one.zones():
        if table.faces(zone) != table_of_twin.faces(twin.zone(zone.number)):
            return "a zone is seen by who holds it now"
        if table.knows(zone.number) != table_of_twin.knows(zone.number):
            return "a hidden zone goes where its cards are remembered"
    return ""


def check(game: Game, table: WhoSeesWhat, random: Random, steps: int, findings: Findings) -> None:
    """Make a twin of this state for the table's viewer, and compare for `steps` decisions.  Raises Leak."""
    findings.places += 1
    if (twin := table.redeal(game, random)) is None:
        return
    findings.pairs += 1
    one = game.fork()
    table = table.copy()
    table_of_twin = table.of_twin(twin)
    check_knowledge(one, table, "the world")
    check_knowledge(twin, table_of_twin, "its twin")
    compare(one, twin, table.viewer)
    for step in range(steps):
        if not one.waiting():
            break
        parted = ""
        for _ in range(TRIES):
            went_on = go_on(one, twin, table.copy(), table_of_twin.copy(), random)
            if not isinstance(went_on, str):
                one, twin, table, table_of_twin = went_on
                findings.steps += 1
                break
            parted = went_on
        else:
            findings.parted[parted] += 1
            findings.long += step >= 4
            return
    findings.long += 1


def go_on(
    one: Game, twin: Game, table: WhoSeesWhat, table_of_twin: WhoSeesWhat, random: Random
) -> tuple[Game, Game, WhoSeesWhat, WhoSeesWhat] | str:
    """Return both worlds after one more answer, or why they part."""
    answers = answers_alike(one, twin, table, random)
    if answers is None:
        return "no answer looks alike"
    seat, answer, answer_in_twin = answers
    one, twin = one.fork(), twin.fork()
    one.log, twin.log = [], []
    key = match_key("twin", random.getrandbits(60))
    one.chance = led = Led(key, one.log)
    one.choose(seat, answer)
    seen = list(cards_seen(one.log, table.copy()))
    for number, wanted in shown_from_the_top(one.log, seen).items():
        for zone in twin.zones():
            if zone.number == number and zone.kind.ordered and not table.sees(number):
                put_in_place(zone.cards, wanted, 0)
                table_of_twin.real[number] = zone.cards[:]
    twin.chance = Following(key, led, seen, random)
    twin.choose(seat, answer_in_twin)
    if parted := told_alike(one, twin, table, table_of_twin):
        return parted
    compare(one, twin, table.viewer)
    check_knowledge(one, table, "the world")
    check_knowledge(twin, table_of_twin, "its twin")
    return one, twin, table, table_of_twin


def cards_seen(events: list[Event], table: WhoSeesWhat) -> Iterator[list[bool]]:
    """Yield for each event whether the viewer sees each card that moves."""
    for event in events:
        cards = event.cards if isinstance(event, Moved) else ()
        yield [table.sees_card(event, place) for place in range(len(cards))] if isinstance(event, Moved) else []
        table.hear(event)


def check_game(
    game: Game, table_of_viewer: type[WhoSeesWhat], random: Random, steps: int, share: float, findings: Findings
) -> None:
    """Play a logged game at random to its end, with a twin for one viewer at a share of the decisions."""
    tables = [table_of_viewer(game, viewer) for viewer in range(game.n + 1)]
    assert game.log is not None
    while True:
        for event in game.log[tables[0].heard :]:
            for table in tables:
                table.hear(event)
        waiting = game.waiting()
        if not waiting:
            return
        if not game.answers and random.random() < share:
            check(game, random.choice(tables), random, steps, findings)
        seat = random.choice(waiting)
        game.choose(seat, random.choice(game.options(seat)))
