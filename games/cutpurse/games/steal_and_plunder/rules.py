"""The rules of Steal & Plunder in play order, one class a paragraph of `docs/reference/rules/steal_and_plunder.md`.

The battle (chapter 4.2) is in `battle`, the Power cards (chapters 4.3 and 4.4) are in `powers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Final

from cutpurse.engine.agenda import Choice, Fields, Option, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import fill
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import TABLE, Zone, bit
from cutpurse.games.steal_and_plunder.battle import AttackAPack, list_attacks
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
    LOCKED,
    PACK,
    PLUNDER,
    POWERS,
    RELOAD,
    SMALL_DECK_LEAVES_OUT,
    START,
    STEAL,
    TAX,
    VALUE,
    WEALTH,
    WILDS,
    WORDS,
    YELLOW,
)
from cutpurse.games.steal_and_plunder.hidden_hands import draw_betrayed_hands, powers_among
from cutpurse.games.steal_and_plunder.powers import (
    AuditAHand,
    BurnAPower,
    FleeTheCountry,
    PlunderAPack,
    StealAPack,
    TaxAStack,
    list_uses_of_powers,
)

__all__ = ["StealAndPlunder", "StealAndPlunderSettings"]

SMALL_DECK_SEATS: Final = 3
"""SP-2.5. Only three players may leave cards out."""
LONGEST_GAME: Final = 100
"""SP-6.1. Each turn lowers the cards of deck and hands together, and these are at most 100."""

BOX: Final = [card for card, copies in COPIES.items() for _ in range(copies)]
"""SP-1.1. All 101 cards."""


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


@mypyc_attr(allow_interpreted_subclasses=True)
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
        """SP-1.1, SP-2.5. Return all 101 cards, or the 85 of the small deck."""
        if not settings.small_deck:
            return BOX[:]
        left_out = SMALL_DECK_LEAVES_OUT, WORDS.card_named(settings.removed_yellow)
        return [card for card in BOX if card not in left_out]

    @classmethod
    def max_decisions(cls, seats: int, settings: StealAndPlunderSettings) -> int:
        """SP-6.1. Count two answers for each card that leaves deck and hands.

        A turn takes off a card, and has an action and one answer that ends it; any other answer lays a card to a
        battle.
        """
        games = settings.max_games if settings.mode == "series" else 1
        return games * 2 * LONGEST_GAME

    def begin(self) -> None:
        """SP-2.1. Draw for the start, or let a random seat begin."""
        if self.settings.start_method == "random":
            self.then(SetUp(self.chance.below(self.n)))
        else:
            self.enter(self.box(self.n, self.settings), self.deck)
            self.then(DrawForTheStart(TABLE, tuple(range(self.n))))

    def open_pack(self, seat: int) -> Zone | None:
        """SP-3.3. Return the top pack of a stack, unless it is the locked one or the stack is empty."""
        stack = self.pack[seat]
        if not stack or stack[-1].counters[LOCKED]:
            return None
        return stack[-1]

    def open_packs_of_others(self, seat: int) -> list[Zone]:
        """SP-3.3, SP-4.2. List the open packs of the other seats, that of the lowest seat first."""
        packs = [self.open_pack(other) for other in range(self.n) if other != seat]
        return [pack for pack in packs if pack is not None]

    def gathered(self, seat: int) -> list[Zone]:
        """SP-3.5. List the stack and the plundered packs, which Flee the Country and Tax Audit take together."""
        return self.pack[seat] + self.plundered[seat]

    def all_packs(self) -> list[Zone]:
        """List every pack on the table, wherever it lies."""
        return [*chain(*self.pack, *self.plundered, *self.offshore, *self.taxed)]

    def lay_a_pack(self, seat: int) -> Zone:
        """SP-3.2, SP-3.3. Lay an empty pack on top of a stack; a player's first is locked, and the player locked in."""
        pack = self.make(PACK, seat)
        if not self.locked_in[seat]:
            self.count("locked_in", 1, seat)
            self.count_zone(pack, LOCKED, 1)
        return pack

    def play_a_power(self, seat: int, card: int, to: Zone) -> None:
        """SP-4.2, SP-4.17, SP-4.23. Play a Power card openly; nothing can counter it."""
        self.move(card, self.hand[seat], to)
        if self.sure_powers[seat]:
            self.count("sure_powers", self.sure_powers[seat] - 1, seat)

    def scores(self) -> list[int]:
        """SP-5.3, SP-5.4. Return the money of the game; in a series the totals."""
        if self.settings.mode == "series":
            return self.total[:]
        return [self.money_of(seat) for seat in range(self.n)]

    def money_of(self, seat: int) -> int:
        """SP-5.2. Count what a seat has in this game, in Rand; taxed packs count half, which is exact."""
        untaxed = self.pack[seat] + self.plundered[seat] + self.offshore[seat]
        return value_of(untaxed) + value_of(self.taxed[seat]) // 2

    def may_lie(self, zone: Zone, card: int) -> bool:
        """SP-7.2. Keep a hidden partner with its industry; after a burn the rest of a hand is Power cards."""
        if zone.kind.many:
            return card in FITS[zone.cards[-1]]
        if zone.owner != TABLE and self.sure_powers[zone.owner] == len(zone.cards):
            return card in POWERS
        return True

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """SP-7.2. Fill hidden partners first, then the hands that by a burn surely hold some Power cards."""
        fill(self, self.all_packs(), unseen, chance)
        betrayed: list[Zone] = []
        hands: list[tuple[list[int], int]] = []
        for sure, hand in zip(self.sure_powers, self.hand, strict=True):
            hidden_powers = sure - powers_among(hand.cards)
            if hidden_powers > 0:
                betrayed.append(hand)
                hands.append((hand.cards, hidden_powers))
        if betrayed:
            for hand, drawn in zip(betrayed, draw_betrayed_hands(hands, unseen, chance), strict=True):
                hand.cards = sorted([card for card in hand.cards if card != FACE_DOWN] + drawn)
                for card in drawn:
                    unseen.remove(card)

    def is_plausible(self) -> bool:
        """SP-7.2. Check that every pack is of one industry, and that no hand has fewer Power cards than all know of."""
        for pack in self.all_packs():
            if any(card not in FITS[pack.cards[-1]] for card in pack.cards):
                return False
        hands = [hand.cards for hand in self.hand]
        return all(sure <= powers_among(cards) for sure, cards in zip(self.sure_powers, hands, strict=True))


def value_of(packs: list[Zone]) -> int:
    """SP-5.2. Add up the values of all cards in these packs, in Rand."""
    return sum([VALUE[card] for pack in packs for card in pack.cards])


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
        highest = max(drawn.values())
        best = tuple([seat for seat, value in drawn.items() if value == highest])
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
        possible = [index for index, card in enumerate(g.deck.cards) if card not in POWERS]
        g.move_at(possible[g.chance.below(len(possible))], g.deck, g.discard)
        g.shuffle(g.deck)
        g.then(BeginATurn(self.seat))


class BeginATurn(Step):
    rule = "SP-4.1"
    paragraph = "One turn for each seat from the Start holder on makes a round; a player without a card is skipped."

    def run(self, g: StealAndPlunder) -> None:
        left = g.next_seat(self.seat)
        ends_the_round = left == g.start_token - 1
        next_step = ReloadTheHands(g.reload_token - 1) if ends_the_round else BeginATurn(left)
        if g.hand[self.seat].cards:
            g.turns += 1
            g.then(TakeATurn(self.seat), next_step)
        else:
            g.then(next_step)


class TakeATurn(Choice):
    rule = "SP-4.2, SP-4.9"
    paragraph = "One action, which ends the turn. Nobody may pass."
    text = "What do you do on your turn?"
    safe_paragraph = "Discard the card of the lowest value, hence Wilds last; otherwise the first action there is."

    def options(self, g: StealAndPlunder, seat: int) -> list[Option]:
        """SP-4.2, SP-4.3, SP-4.4, SP-4.7, SP-4.10, SP-0.2. List the actions in the order of the sheet.

        Before the first pack only forming and discarding exist, and a pair in hand goes before the discard pile.
        """
        cards = sorted(set(g.hand[seat].cards))  # equal cards are one option
        wealth = [card for card in cards if card in WEALTH]
        wilds = [card for card in cards if card in WILDS]
        powers = [card for card in cards if card in POWERS]
        locked_in = g.locked_in[seat]
        options = self.list_pairs(g, wealth, wilds)
        has_to_use_pair = options and not locked_in and g.settings.strict_first_pack_order
        if not has_to_use_pair:
            options += self.list_pairs_with_the_discard(g, wealth, wilds)
        options += [Option(DISCARD, (card,)) for card in wealth + wilds]
        if locked_in:
            options += list_attacks(g, seat, wealth, wilds)
            options += list_uses_of_powers(g, seat, powers)
        if not options:
            options = [Option(BURN, (card,)) for card in powers]
        return options

    def list_pairs(self, g: StealAndPlunder, wealth: list[int], wilds: list[int]) -> list[Option]:
        """SP-3.1. Form a pack of two twins, or of a Wealth card and a Wild."""
        hand = g.hand[self.seat].cards
        options: list[Option] = []
        for industry in wealth:
            if hand.count(industry) >= 2:
                options.append(Option(FORM, (industry, industry)))
            options += [Option(FORM, (industry, wild)) for wild in wilds]
        return options

    def list_pairs_with_the_discard(self, g: StealAndPlunder, wealth: list[int], wilds: list[int]) -> list[Option]:
        """SP-4.5, SP-4.6. Join any Wealth to a Wild on the discard pile; to Wealth a twin, or by a setting a Wild."""
        if not g.discard.cards:
            return []
        top = g.discard.cards[-1]
        if top in WILDS:
            joining = wealth
        else:
            joining = [card for card in wealth if card == top]
            if g.settings.hand_wild_on_discard:
                joining += wilds
        return [Option(FORM_WITH_DISCARD, (card,)) for card in joining]

    def safe(self, g: StealAndPlunder, seat: int, options: list[Option]) -> Option:
        """Follow SP-0.4."""
        discards = [option for option in options if option.verb == DISCARD]
        return min(discards, key=lambda option: VALUE[option.cards[0]]) if discards else options[0]

    def seen_by(self, g: StealAndPlunder, option: Option) -> tuple[int, ...] | None:
        """SP-3.2, SP-3.4, SP-4.5. Hide the partner in a pack, except where all may see it."""
        if option.verb == FORM:
            return g.everyone, partner_seen_by(g, self.seat)
        if option.verb == FORM_WITH_DISCARD:
            return (joined_seen_by(g, self.seat),)
        return None

    def chosen(self, g: StealAndPlunder, option: Option) -> None:
        seat, verb, card = self.seat, option.verb, option.cards[0]
        target = TABLE if option.seat is None else option.seat
        if verb == FORM:
            self.form_a_pack(g, card, option.cards[1])
        elif verb == FORM_WITH_DISCARD:
            self.form_a_pack_with_the_discard(g, card)
        elif verb == DISCARD:
            self.discard_and_draw(g, card)
        elif verb == ATTACK:
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

    def form_a_pack(self, g: StealAndPlunder, industry: int, partner: int) -> None:
        """SP-3.1, SP-3.2, SP-3.4. Lay the partner, then the Wealth card of the industry on top of it."""
        hand, seen_by = g.hand[self.seat], partner_seen_by(g, self.seat)
        pack = g.lay_a_pack(self.seat)
        g.move(partner, hand, pack, shown=seen_by)
        g.move(industry, hand, pack, shown=g.everyone)

    def form_a_pack_with_the_discard(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.5, SP-4.6, SP-4.8. Join a card of the hand to the top discard, below which lies the new top."""
        hand, seen_by = g.hand[self.seat], joined_seen_by(g, self.seat)
        pack = g.lay_a_pack(self.seat)
        if g.discard.cards[-1] in WILDS:
            g.move_top(g.discard, pack)
            g.move(card, hand, pack, shown=seen_by)
        else:
            g.move(card, hand, pack, shown=seen_by)
            g.move_top(g.discard, pack)

    def discard_and_draw(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.7, SP-4.9. Discard a Wealth card or a Wild, and draw a card if there is one."""
        hand = g.hand[self.seat]
        g.move(card, hand, g.discard)
        if g.deck.cards:
            g.move_top(g.deck, hand)


def partner_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-3.2, SP-3.4. Show the partner in a first pack to all, in a later one only to the player who forms it."""
    return bit(seat) if g.locked_in[seat] else g.everyone


def joined_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-4.5. Show what joins the discard to all, unless it may be the twin or a Wild under a Wealth card."""
    if g.settings.hand_wild_on_discard and g.discard.cards[-1] in WEALTH:
        return partner_seen_by(g, seat)
    return g.everyone


class ReloadTheHands(Step):
    rule = "SP-4.25, SP-5.1"
    paragraph = """From the Reload holder on each player fills their hand to five in one go, as long as the deck lasts.

    With deck and all hands empty the game has ended: all turns left were skipped, and this Reload is void.
    """

    def run(self, g: StealAndPlunder) -> None:
        assert g.turns <= LONGEST_GAME  # SP-6.1
        if not g.deck.cards and not any(hand.cards for hand in g.hand):
            g.then(EndTheGame(TABLE))
            return
        for seat in g.seats_from(self.seat):
            missing = HAND_SIZE - len(g.hand[seat].cards)
            g.deal(g.deck, g.hand[seat], min(missing, len(g.deck.cards)))
        g.count(RELOAD, g.next_seat(self.seat) + 1)
        g.count("round", g.round + 1)
        g.then(BeginATurn(g.start_token - 1))


class EndTheGame(Step):
    rule = "SP-5.2, SP-5.3, SP-5.4, SP-2.2"
    paragraph = """All packs are opened and counted; in a series Start moves on for the next game.

    A series ends with a total of the target or more that no other equals, or after the last game it may have.
    """

    def run(self, g: StealAndPlunder) -> None:
        for pack in g.all_packs():
            if any(mask != g.everyone for mask in pack.masks or []):
                g.show(pack)
        if g.settings.mode == "single":
            g.tell_scores(over=True)
            return
        for seat in range(g.n):
            g.count("total", g.total[seat] + g.money_of(seat), seat)
        g.game += 1
        best = max(g.total)
        decided = best >= g.settings.target and g.total.count(best) == 1
        over = decided or g.game == g.settings.max_games
        g.tell_scores(over)
        if not over:
            g.then(SetUp(g.next_seat(g.start_token - 1)))
