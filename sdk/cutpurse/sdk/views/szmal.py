"""The view of Szmal."""

from __future__ import annotations

from collections import Counter

from cutpurse.games.szmal.cards import SYMBOLS
from cutpurse.sdk.cards import cards_of
from cutpurse.sdk.views.attributes import Column, CounterAttribute, OnePile
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile

__all__ = ["Holdings", "KeptActions", "SzmalPlayer", "SzmalView", "Thugs"]

MARKER = 10_000  # dollars per marker at the end


class Thugs(Pile):
    """The Thugs of a Territory."""

    __slots__ = ()
    counts_as = Column("Card number of each, or of the card that it copies.")
    since_round = Column("The round in which each was played.")
    play = Column("Number of plays in the game when each was played, including its own.")
    armed = Column("How often each also shows a gun and a key this turn.")
    next_armed = Column("How often each will also show a gun and a key next turn.")


class Holdings(Pile):
    """The Holdings of a Territory."""

    __slots__ = ()
    markers = Column("Markers on each.")
    since_round = Column("The round in which each was played.")


class KeptActions(Pile):
    """Actions that work next turn."""

    __slots__ = ()
    until_round = Column("The round after which each is discarded.")


class SzmalPlayer(Player):
    """A player of Szmal."""

    __slots__ = ()
    hand = OnePile(Pile)
    draft_pile = OnePile(Pile, "Face down until it is picked from.", of="pile")
    draft = OnePile(Pile, "The pile that the player picks a card from.")
    resolving = OnePile(Pile, "Revealed, and not yet carried out.")
    thugs = OnePile(Thugs)
    holdings = OnePile(Holdings)
    kept = OnePile(KeptActions)
    cash = CounterAttribute("Dollars.")
    watching = CounterAttribute("This turn: how often the player gains what the left neighbour gains.")
    informs = CounterAttribute("This turn: gains per Action that a neighbour plays.")
    shakedowns = CounterAttribute("This turn: gains per Thug that a neighbour plays.")
    extra_markers = CounterAttribute("This turn: extra markers on each Holding played.")
    free_costs = CounterAttribute("This turn: ignores Costs if not 0.")
    free_needs = CounterAttribute("This turn: ignores Needs if not 0.")
    extra_plays = CounterAttribute("This turn: extra cards to play after all others.")
    repeats = CounterAttribute("This turn: Actions return to the hand if not 0.")
    doublings = CounterAttribute("This turn: how often gains of cash are doubled.")
    losses_5 = CounterAttribute("This turn, by card 5: how often every player loses a Holding at the end.")
    losses_40 = CounterAttribute("This turn, by card 40: how often each opponent loses a Thug at the end.")
    losses_73 = CounterAttribute("This turn, by card 73: how often every player loses a Thug at the end.")
    losses_79 = CounterAttribute("This turn, by card 79: how often each opponent loses a Holding at the end.")
    next_extra_markers = CounterAttribute("As extra_markers, next turn.")
    next_free_costs = CounterAttribute("As free_costs, next turn.")
    next_free_needs = CounterAttribute("As free_needs, next turn.")
    next_extra_plays = CounterAttribute("As extra_plays, next turn.")
    next_repeats = CounterAttribute("As repeats, next turn.")
    next_doublings = CounterAttribute("As doublings, next turn.")
    next_losses_5 = CounterAttribute("As losses_5, next turn.")
    next_losses_40 = CounterAttribute("As losses_40, next turn.")
    next_losses_73 = CounterAttribute("As losses_73, next turn.")
    next_losses_79 = CounterAttribute("As losses_79, next turn.")

    @property
    def symbols(self) -> Counter[str]:
        """The number of each symbol shown in the player's Territory: gun, car, key, bottle, heart, wrench."""
        cards = cards_of(self.words)
        counts: Counter[str] = Counter()
        thugs = self.thugs
        for card in (*[cards[number] for number in thugs.counts_as], *self.holdings.seen):
            if card is not None:
                counts.update({symbol: card.traits.get(symbol, 0) for symbol in SYMBOLS})
        counts.update({"gun": sum(thugs.armed), "key": sum(thugs.armed)})
        return counts

    @property
    def score(self) -> int:
        """Cash, and $10,000 for each marker."""
        return self.cash + MARKER * sum(self.holdings.markers)


class SzmalView(GameView[SzmalPlayer]):
    """The table of Szmal."""

    __slots__ = ()
    player_type = SzmalPlayer
    habits = (
        Habit("picks an Action", ("pick",), sorts=("action",)),
        Habit("picks a Holding", ("pick",), sorts=("holding",)),
        Habit("picks a Thug", ("pick",), sorts=("thug",)),
        Habit("plays a Thug", ("choose",), sorts=("thug",)),
        Habit("pays a Cost", ("pay", "give_up", "discard", "take_back")),
    )
    deck = OnePile(Pile)
    discard = OnePile(Pile)
    round = CounterAttribute("The round, 1 to 12.")
    plays = CounterAttribute("Cards played in the game.")
