"""What a newcomer reads of a game before the first match: what one does, what wins, how long it takes, and some cards.

Minutes are those of a person who thinks for five seconds, counted in matches of three: 20 to 30 choices of their own,
and 115 in Bag-O-Loot. This module knows no request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from cutpurse.games import GAMES
from cutpurse.page.guided_matches import GUIDED
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.frames import CardShown, face_of

__all__ = ["FIRST", "GameIntroduction", "introduce"]

FIRST: Final = "greed"  # the game to begin with: one rule to remember, and few kinds of cards


# By game what one does, what wins, the minutes of a match, and some cards.
_SCRIPTS: Final[Mapping[str, tuple[str, str, int, tuple[str, ...]]]] = {
    "greed": (
        gettext_noop("Draw card after card from another hand, and stop before one number comes twice."),
        gettext_noop("The first with six cards of one number wins."),
        5,
        ("5", "5", "5p", "5", "5", "5l"),
    ),
    "stolen_treasure": (
        gettext_noop("Draw treasure that everybody sees, and bury it before a pirate takes it."),
        gettext_noop("The first with enough buried treasure wins."),
        5,
        ("silver_coin", "gold_bullion", "ruby", "plunder", "the_kraken"),
    ),
    "steal_and_plunder": (
        gettext_noop("Form packs of one industry, and attack the packs of others with a card that matches."),
        gettext_noop("Most money wins when all cards are played."),
        7,
        ("copper_wire", "minibus_taxi_routes", "pre_approved_tenders", "gold_bar", "plunder"),
    ),
    "szmal": (
        gettext_noop("Pick your gang card by card, then play face down: all cards are turned over together."),
        gettext_noop("Most money wins after 12 rounds; a marker is worth $10,000."),
        10,
        ("mickey_istari", "paddys_pub", "the_ritz", "shakedown", "sting"),
    ),
    "bag_o_loot": (
        gettext_noop("Lay sets of coins, steal the sets of others, and close large ones as bags."),
        gettext_noop("Most points win: a bag is 10, a card in a set 1."),
        15,
        ("8", "8", "8", "8", "looter"),
    ),
}


@dataclass(frozen=True, slots=True)
class GameIntroduction:
    """The introduction of a game, in the language of the request."""

    name: str  # name of the game
    title: str  # title for people
    does: str  # what one does, in a sentence; empty for a game of another package
    wins: str  # what wins, in a sentence; empty likewise
    minutes: int  # how long a match takes; 0 if that is not known
    picture: Markup  # some of its cards, as HTML
    is_guided: bool  # whether it has a guided match


def introduce(game: str) -> GameIntroduction:
    """Return the introduction of an installed game."""
    words = spoken(GAMES[game].words)
    does, wins, minutes, sample = _SCRIPTS.get(game, ("", "", 0, ()))
    numbers = {kind.name: number for number, kind in enumerate(words.cards, 1)}
    cards = [CardShown(f"{game}-{place}", face_of(words, numbers[name])) for place, name in enumerate(sample)]
    picture = Markup(rendered("sample_cards.html", cards=cards) if cards else "")  # safe: our template, which escapes
    return GameIntroduction(
        game,
        words.title,
        gettext(does) if does else "",
        gettext(wins) if wins else "",
        minutes,
        picture,
        game in GUIDED,
    )
