"""The rules of Steal & Plunder, one class a paragraph of `docs/rules/steal_and_plunder.md`, in the order of play."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import comb
from typing import ClassVar, Final

from cutpurse.engine.agenda import Choice, Fields, Option, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import fill
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import TABLE, Zone, bit
from cutpurse.games.steal_and_plunder.battle import AttackAPack, add_attacks
from cutpurse.games.steal_and_plunder.cards import (
    ATTACK,
    AUDIT,
    BURN,
    COPIES,
    DISCARD,
    DRAW,
    FITS,
    FLEE,
    FORM,
    FORM_WITH_DISCARD,
    HAND_SIZE,
    LAST_WEALTH,
    LAST_WILD,
    LOCKED,
    PACK,
    PLUNDER,
    POWERS,
    RELOAD,
    SMALL_DECK_LEAVES_OUT,
    START,
    STEAL,
    TAX,
    UP_TO_WILDS,
    VALUE,
    WEALTH,
    WILDS,
    WORDS,
    YELLOW,
)
from cutpurse.games.steal_and_plunder.powers import (
    AuditAHand,
    BurnAPower,
    FleeTheCountry,
    PlunderAPack,
    StealAPack,
    TaxAStack,
    add_uses,
)

__all__ = ["StealAndPlunder", "StealAndPlunderSettings"]

SMALL_DECK_SEATS: Final = 3
"""SP-2.5. Only three players may leave cards out."""
LONGEST_GAME: Final = 100
"""SP-6.1. Each turn lowers the cards of deck and hands together, and these are at most 100."""

BOX: Final = [card for card, copies in COPIES.items() for _ in range(copies)]

# Options by card, in lists, for these are looked up quicker than dicts; place 0 is no card.
FORM_PACK: Final = [[Option(FORM, (industry, partner)) for partner in UP_TO_WILDS] for industry in UP_TO_WILDS]
FORM_PACK_WITH_DISCARD: Final = [Option(FORM_WITH_DISCARD, (card,)) for card in UP_TO_WILDS]
DISCARD_CARD: Final = [Option(DISCARD, (card,)) for card in UP_TO_WILDS]
BURN_CARD: Final = {card: Option(BURN, (card,)) for card in POWERS}


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class StealAndPlunderSettings(Settings):
    """SP-2.1, SP-2.5, SP-4.4, SP-4.5, SP-4.15, SP-5.3, SP-5.4, SP-7.1. The variants of Steal & Plunder."""

    mode: str = choice("single", "series", text="one game, or games until a total is reached", rule="SP-5.4")
    target: int = number(
        10_000_000,
        1_000_000,
        50_000_000,
        step=50_000,
        text="the total that ends a series",
        rule="SP-5.4",
        only_with=("mode", "series"),
    )
    max_games: int = number(
        15, 1, 50, text="games after which a series ends anyhow", rule="SP-5.4", only_with=("mode", "series")
    )
    small_deck: bool = flag(False, text="three players leave two industries in the box", rule="SP-2.5")
    removed_yellow: str = choice(
        "bribe_money",
        *[WORDS.cards[card - 1].name for card in YELLOW if WORDS.cards[card - 1].name != "bribe_money"],
        text="which yellow industry the small deck leaves out",
        rule="SP-2.5",
        only_with=("small_deck", "true"),
    )
    start_method: str = choice("draw", "random", text="how the first player is found", rule="SP-2.1")
    strict_first_pack_order: bool = flag(
        True, text="with a pair in hand the first pack cannot be made with the discard", rule="SP-4.4"
    )
    hand_wild_on_discard: bool = flag(
        False, text="a Wild of the hand makes a pack with a Wealth card on the discard pile", rule="SP-4.5"
    )
    audit_pick: str = choice("choice", "highest_value", text="which card a Forensic Audit takes", rule="SP-4.15")
    offshore_open: bool = flag(False, text="packs are shown to all when they go abroad", rule="SP-7.1")

    def problem(self, seats: int) -> str:
        if self.small_deck and seats != SMALL_DECK_SEATS:
            return f"setting small_deck cannot be true with {seats} players; it can be: false"
        return ""


class StealAndPlunder(Game[StealAndPlunderSettings]):
    """SP-0.1. Seats go clockwise, and all chance is one stream."""

    __slots__ = WORDS.attributes()
    words = WORDS
    settings_type = StealAndPlunderSettings

    deck: Zone
    discard: Zone
    spent: Zone
    battle: Zone
    start_draw: Zone
    hand: list[Zone]
    cover: list[Zone]
    pack: list[list[Zone]]
    plundered: list[list[Zone]]
    offshore: list[list[Zone]]
    taxed: list[list[Zone]]
    game: int
    round: int
    turns: int
    start_token: int
    reload_token: int
    locked_in: list[int]
    sure_powers: list[int]
    total: list[int]

    @classmethod
    def box(cls, seats: int, settings: StealAndPlunderSettings) -> list[int]:
        """SP-1.1, SP-2.5. All 101 cards, or the 85 of the small deck."""
        if not settings.small_deck:
            return BOX[:]
        out = SMALL_DECK_LEAVES_OUT, WORDS.card_named(settings.removed_yellow)
        return [card for card in BOX if card not in out]

    def begin(self) -> None:
        if self.settings.start_method == "random":
            self.then(SetUp(self.chance.below(self.n)))
        else:
            self.enter(self.box(self.n, self.settings), self.deck)
            self.then(DrawForTheStart(TABLE, tuple(range(self.n))))

    def open_packs(self) -> list[Zone | None]:
        """SP-3.3. By seat the top pack of its stack, unless that is the locked one or there is none."""
        return [stack[-1] if stack and not stack[-1].counters[LOCKED] else None for stack in self.pack]

    def lay_a_pack(self, seat: int) -> Zone:
        """SP-3.2, SP-3.3. An empty pack on top of a stack; a player's first is locked, and locks that player in."""
        pack = self.make(PACK, seat)
        if not self.locked_in[seat]:
            self.count("locked_in", 1, seat)
            self.count_zone(pack, LOCKED, 1)
        return pack

    def gathered(self, seat: int) -> list[Zone]:
        """SP-3.5. The stack and the plundered packs, which Flee the Country and Tax Audit take together."""
        return self.pack[seat] + self.plundered[seat]

    def play_a_power(self, seat: int, card: int, to: Zone) -> None:
        """SP-4.2, SP-4.17, SP-4.23. A used Power card leaves the hand openly, and nothing can counter it."""
        self.move(card, self.hand[seat], to)
        if sure := self.sure_powers[seat]:
            self.count("sure_powers", sure - 1, seat)

    def worth(self, packs: list[Zone]) -> int:
        """Add up what lies in these packs, in Rand."""
        worth = 0
        for pack in packs:
            for card in pack.cards:
                worth += VALUE[card]
        return worth

    def scores(self) -> list[int]:
        """SP-5.2, SP-5.3. All packs, the taxed ones half; in a series the totals. Equal scores share the place."""
        return self.total[:] if self.settings.mode == "series" else self.count_up()

    def standing(self, seat: int) -> tuple[int, ...]:
        """SP-5.3, SP-5.4. As `scores` has it, and no other seat is counted for it."""
        return (self.total[seat] if self.settings.mode == "series" else self.money_of(seat),)

    def count_up(self) -> list[int]:
        """SP-5.2. What each seat has in this game."""
        return [self.money_of(seat) for seat in range(self.n)]

    def money_of(self, seat: int) -> int:
        """SP-5.2. What a seat has in this game; a taxed half is exact in steps of 25 000."""
        whole = self.worth(self.pack[seat] + self.plundered[seat] + self.offshore[seat])
        return whole + self.worth(self.taxed[seat]) // 2

    def all_packs(self) -> list[Zone]:
        """Every pack on the table, wherever it lies."""
        return [*chain(*self.pack, *self.plundered, *self.offshore, *self.taxed)]

    def may_lie(self, zone: Zone, card: int) -> bool:
        """SP-7.2. A hidden partner goes with its industry; a burn shows that the rest of a hand is Power cards."""
        if zone.kind.many:
            return card in FITS[zone.cards[-1]]
        if zone.owner != TABLE and self.sure_powers[zone.owner] == len(zone.cards):
            return card in POWERS
        return True

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """SP-7.2. First the hidden partners, then the hands of which a burn has betrayed some Power cards."""
        fill(self, self.all_packs(), unseen, chance)
        betrayed = []
        for sure, hand in zip(self.sure_powers, self.hand, strict=True):
            more = sure - sum(card in POWERS for card in hand.cards)
            if more > 0:
                betrayed.append((hand, more))
        if betrayed:
            dealt = self._betrayed_hands(betrayed, unseen, chance)
            for (hand, _), cards in zip(betrayed, dealt, strict=True):
                hand.cards = sorted([card for card in hand.cards if card != FACE_DOWN] + cards)
                for card in cards:
                    unseen.remove(card)

    def _betrayed_hands(self, betrayed: list[tuple[Zone, int]], unseen: list[int], chance: Chance) -> list[list[int]]:
        """Cards for the hidden places of hands that have at least this many more Power cards, all ways equally likely.

        Those Power cards are dealt first, then any card. So a hand with m of them, k of which had to be, comes up
        once for each k out of m, and is taken once in so many times.
        """
        while True:
            chance.shuffle(unseen)
            powers = [card for card in unseen if card in POWERS]
            first = sum([more for _, more in betrayed])
            if len(powers) < first:
                raise ValueError(f"{len(powers)} unseen Power cards are to be {first} that a burn has shown")
            due, spare = powers[:first], powers[first:]
            pool = spare + [card for card in unseen if card not in POWERS]
            chance.shuffle(pool)
            hands = []
            for hand, more in betrayed:
                others = hand.cards.count(FACE_DOWN) - more
                hands.append([due.pop() for _ in range(more)] + pool[:others])
                del pool[:others]
            if all(
                not chance.below(comb(sum(card in POWERS for card in cards), more))
                for cards, (_, more) in zip(hands, betrayed, strict=True)
            ):
                return hands

    def is_plausible(self) -> bool:
        """SP-7.2. Every pack is of one industry, and no hand has fewer Power cards than all know of."""
        if any(card not in FITS[pack.cards[-1]] for pack in self.all_packs() for card in pack.cards):
            return False
        return all(
            sure <= sum(card in POWERS for card in hand.cards)
            for sure, hand in zip(self.sure_powers, self.hand, strict=True)
        )


class DrawForTheStart(Step):
    rule = "SP-2.1"
    paragraph = """Each of these seats draws a card face up, and the highest value begins; the best draw again if tied.

    A deck too short for that takes all drawn cards back first. In the end all of them go back.
    """
    fields: ClassVar[Fields] = {"drawers": tuple}

    def __init__(self, seat: int, drawers: tuple[int, ...]) -> None:
        super().__init__(seat)
        self.drawers = drawers

    def run(self, g: StealAndPlunder) -> None:
        if len(g.deck.cards) < len(self.drawers):
            g.move_all(g.start_draw, g.deck)
        drawn: dict[int, int] = {}
        for seat in self.drawers:
            card = g.move_random(g.deck, g.start_draw)
            g.tell(DRAW, (card,), actor=seat)
            drawn[seat] = VALUE[card]
        best = tuple([seat for seat, value in drawn.items() if value == max(drawn.values())])
        g.then(SetUp(best[0]) if len(best) == 1 else DrawForTheStart(TABLE, best))


class SetUp(Step):
    rule = "SP-2.1, SP-2.2, SP-2.3, SP-2.4"
    paragraph = """This seat gets both tokens; all cards are shuffled and five dealt to each.

    One card of the deck that is no Power card, each as likely, begins the discard pile; then the rest is shuffled.
    """

    def run(self, g: StealAndPlunder) -> None:
        g.open_deal(g.game + 1)
        g.locked_in, g.sure_powers, g.turns = [0] * g.n, [0] * g.n, 0
        g.count(START, self.seat + 1)
        g.count(RELOAD, self.seat + 1)
        g.count("round", 1)
        g.enter(g.box(g.n, g.settings), g.deck)
        g.shuffle(g.deck)
        for seat in g.seats_from(self.seat):
            g.deal(g.deck, g.hand[seat], HAND_SIZE)
        no_powers = [place for place, card in enumerate(g.deck.cards) if card <= LAST_WILD]
        g.move_at(no_powers[g.chance.below(len(no_powers))], g.deck, g.discard)
        g.shuffle(g.deck)
        g.then(BeginATurn(self.seat))


class BeginATurn(Step):
    rule = "SP-4.1"
    paragraph = "One turn for each seat from the Start holder on makes a round; who holds no card is skipped."

    def run(self, g: StealAndPlunder) -> None:
        seat = self.seat
        left = (seat + 1) % g.n
        g.then(BeginATurn(left) if left + 1 != g.start_token else ReloadTheHands(g.reload_token - 1))
        if g.hand[seat].cards:
            g.turns += 1
            g.then(TakeATurn(seat))  # which comes before it


class TakeATurn(Choice):
    rule = "SP-4.2, SP-4.9"
    paragraph = "One action, which ends the turn. Nobody may pass."
    text = "What do you do on your turn?"
    safe_paragraph = "To discard the card of the lowest value, hence Wilds last; otherwise the first action there is."

    def options(self, g: StealAndPlunder, seat: int) -> list[Option]:
        """SP-4.3, SP-4.4, SP-4.5, SP-4.6, SP-4.10. In the order of the sheet; a Power card is burned only if forced.

        Before his first pack a player only forms packs and discards, and a pair in hand goes before the discard pile.
        A twin joins Wealth on that pile, any Wealth a Wild, and by a setting a Wild joins Wealth.
        """
        hand, locked_in = g.hand[seat].cards, g.locked_in[seat]
        twins: list[Option] = []
        discards: list[Option] = []
        wilds: list[int] = []
        powers: list[int] = []
        last = twin = 0
        for card in hand:  # sorted, so one look at each card is enough
            if card != last:
                last = card
                if card <= LAST_WEALTH:
                    discards.append(DISCARD_CARD[card])
                elif card <= LAST_WILD:
                    discards.append(DISCARD_CARD[card])
                    wilds.append(card)
                else:
                    powers.append(card)
            elif card != twin and card <= LAST_WEALTH:
                twin = card
                twins.append(FORM_PACK[card][card])
        options = pairs(hand, wilds) if wilds else twins
        if g.discard.cards and (locked_in or not options or not g.settings.strict_first_pack_order):
            top = g.discard.cards[-1]
            if top > LAST_WEALTH:
                options += [FORM_PACK_WITH_DISCARD[card] for card in dict.fromkeys(hand) if card <= LAST_WEALTH]
            elif top in hand:
                options.append(FORM_PACK_WITH_DISCARD[top])
            if wilds and top <= LAST_WEALTH and g.settings.hand_wild_on_discard:
                options += [FORM_PACK_WITH_DISCARD[wild] for wild in wilds]
        options += discards
        if locked_in:
            add_attacks(g, seat, hand, wilds, options)
            for power in powers:
                add_uses(g, seat, power, options)
        return options or [BURN_CARD[power] for power in powers]

    def safe(self, g: StealAndPlunder, seat: int, options: list[Option]) -> Option:
        """Follow SP-0.4."""
        discards = [option for option in options if option.verb == DISCARD]
        return min(discards, key=lambda option: VALUE[option.cards[0]]) if discards else options[0]

    def seen_by(self, g: StealAndPlunder, option: Option) -> tuple[int, ...] | None:
        """SP-3.2, SP-3.4. The partner in a pack is shown to nobody, except in a player's first pack."""
        if option.verb == FORM:
            return g.everyone, partner_seen_by(g, self.seat)
        if option.verb == FORM_WITH_DISCARD:
            return (joined_seen_by(g, self.seat),)
        return None

    def chosen(self, g: StealAndPlunder, option: Option) -> None:
        verb = option.verb
        if verb == DISCARD:
            self.discard_and_draw(g, option.cards[0])
        elif verb == FORM:
            self.form_a_pack(g, option)
        elif verb == FORM_WITH_DISCARD:
            self.form_a_pack_with_the_discard(g, option.cards[0])
        else:
            self.make_trouble(g, option)

    def form_a_pack(self, g: StealAndPlunder, option: Option) -> None:
        """SP-3.1, SP-3.2, SP-3.4. Two twins, or a Wealth card and a Wild; the Wealth card lies on top."""
        hand, seen_by = g.hand[self.seat], partner_seen_by(g, self.seat)
        industry, partner = option.cards
        pack = g.lay_a_pack(self.seat)  # a kind where each card has its own viewers, so that `move` calls `move_at`
        g.move_at(hand.cards.index(partner), hand, pack, seen_by)
        g.move_at(hand.cards.index(industry), hand, pack, g.everyone)

    def form_a_pack_with_the_discard(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.5, SP-4.6, SP-4.8. The top discard joins a card of the hand at once; below it lies the new top."""
        seen_by = joined_seen_by(g, self.seat)
        pack = g.lay_a_pack(self.seat)
        if g.discard.cards[-1] in WILDS:
            g.move_top(g.discard, pack)
            g.move(card, g.hand[self.seat], pack, shown=seen_by)
        else:
            g.move(card, g.hand[self.seat], pack, shown=seen_by)
            g.move_top(g.discard, pack)

    def discard_and_draw(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.7, SP-4.9. A Wealth card or a Wild is discarded and a card drawn, if there is one."""
        hand = g.hand[self.seat]
        g.move(card, hand, g.discard)
        if g.deck.cards:
            g.move_at(-1, g.deck, hand)  # the top one

    def make_trouble(self, g: StealAndPlunder, option: Option) -> None:
        """SP-4.2. An attack or a Power card: a step that runs at once, for nothing comes between."""
        seat, verb, card = self.seat, option.verb, option.cards[0]
        target = TABLE if option.seat is None else option.seat
        if verb == ATTACK:
            g.then(AttackAPack(seat, target, card))
        elif verb == STEAL:
            g.then(StealAPack(seat, target))
        elif verb == PLUNDER:
            g.then(PlunderAPack(seat, target))
        elif verb == AUDIT:
            g.then(AuditAHand(seat, target))
        elif verb == FLEE:
            g.then(FleeTheCountry(seat))
        elif verb == TAX:
            g.then(TaxAStack(seat, target))
        else:
            g.then(BurnAPower(seat, card))


def pairs(hand: list[int], wilds: list[int]) -> list[Option]:
    """SP-3.1. The packs that a hand with Wilds can form: twins, or one Wealth card and one Wild."""
    options: list[Option] = []
    last = 0
    for industry in hand:
        if industry > LAST_WEALTH:
            break
        if industry != last:
            last = industry
            with_partner = FORM_PACK[industry]
            if hand.count(industry) > 1:
                options.append(with_partner[industry])
            for wild in wilds:
                options.append(with_partner[wild])
    return options


def partner_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-3.2, SP-3.4. Both cards of a first pack are shown; later the partner is known to its holder only."""
    return bit(seat) if g.locked_in[seat] else g.everyone


def joined_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-4.5. What joins the discard is no secret, unless it may be the twin or a Wild under a Wealth card."""
    if g.settings.hand_wild_on_discard and g.discard.cards[-1] in WEALTH:
        return partner_seen_by(g, seat)
    return g.everyone


class ReloadTheHands(Step):
    rule = "SP-4.25, SP-5.1"
    paragraph = """From the Reload holder on each fills his hand to five in one go, as long as the deck lasts.

    With deck and all hands empty the game has ended: all turns left were skipped, and this Reload is void.
    """

    def run(self, g: StealAndPlunder) -> None:
        assert g.turns <= LONGEST_GAME  # SP-6.1
        deck = g.deck
        if deck.cards:
            for hand in g.hand[self.seat :] + g.hand[: self.seat]:
                if (missing := HAND_SIZE - len(hand.cards)) > 0:
                    left = len(deck.cards)
                    g.deal(deck, hand, missing if missing < left else left)
        elif not any(hand.cards for hand in g.hand):
            g.then(EndTheGame(TABLE))
            return
        g.count(RELOAD, g.next_seat(self.seat) + 1)
        g.count("round", g.round + 1)
        g.then(BeginATurn(g.start_token - 1))


# The steps of every round by seat, in lists, for these are looked up quicker than `of`.


class EndTheGame(Step):
    rule = "SP-5.2, SP-5.3, SP-5.4, SP-2.2"
    paragraph = """All packs are opened and counted; in a series Start moves on for the next game.

    A series ends with a total of the target or more that no other equals, or after the last game it may have.
    """

    def run(self, g: StealAndPlunder) -> None:
        for pack in g.all_packs():
            if (pack.masks or []).count(g.everyone) < len(pack.cards):
                g.show(pack)
        if g.settings.mode == "single":
            g.tell_scores(over=True)
            return
        for seat, score in enumerate(g.count_up()):
            g.count("total", g.total[seat] + score, seat)
        g.game += 1
        best = max(g.total)
        decided = best >= g.settings.target and g.total.count(best) == 1
        over = decided or g.game == g.settings.max_games
        g.tell_scores(over)
        if not over:
            g.then(SetUp(g.next_seat(g.start_token - 1)))
