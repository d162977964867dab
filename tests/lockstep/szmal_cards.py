"""The printed facts of Szmal's cards, read from section 8 of its sheet; `szmal` has the effects of their texts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CARDS", "DISCARD_A_CARD", "GIVE_UP_A_HOLDING", "GIVE_UP_A_THUG", "TAKE_BACK_A_HOLDING", "Card"]

SHEET = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rules" / "szmal.md"

# SZ-1.1 and SZ-1.2: the numbers of cards of each type, and of each symbol.
CARDS_OF_TYPE = {"Action": 30, "Thug": 25, "Holding": 25}
SYMBOLS_OF_TYPE = {"Action": set[str](), "Thug": {"gun", "car", "key"}, "Holding": {"bottle", "heart", "wrench"}}
SYMBOLS_IN_ALL = {"gun": 10, "car": 10, "key": 10, "bottle": 8, "heart": 8, "wrench": 8}

# The words of Costs other than cash, and of the two Needs that are no list of things.
GIVE_UP_A_THUG = "give up a Thug"
GIVE_UP_A_HOLDING = "give up a Holding"
DISCARD_A_CARD = "discard another card from your hand"
TAKE_BACK_A_HOLDING = "take one of your Holdings back into your hand"
COSTS_IN_CARDS = {GIVE_UP_A_THUG, GIVE_UP_A_HOLDING, DISCARD_A_CARD, TAKE_BACK_A_HOLDING}
FEWEST_THUGS = "fewer Thugs than each other player"
CASH_KEPT = " in cash, which you keep"

CARD = re.compile(
    r"- \*\*SZ-card-(?P<number>\d+)\*\* "
    r"[^.!]+[.!] "  # the title
    r"(?P<sort>Action|Thug|Holding)(; (?P<symbols>[^.]+))?\. "
    r"(Cost: (?P<cost>[^.]+)\. |Need: (?P<need>[^.]+)\. )?"
    r"(?P<text>.+)"
)
THINGS = re.compile(r"(one |two )?(gun|car|key|bottle|heart|wrench|Thug|Holding)(s?)")
DOLLARS = re.compile(r"\d{1,3},000")


@dataclass(frozen=True)
class Card:
    """A card with its type, symbols, Cost and Need."""

    number: int
    sort: str
    symbols: Counter[str]
    price: int  # the Cost in cash, if that is a way to pay it, else 0
    costs: frozenset[str]  # other ways to pay the Cost
    needs: Counter[str]  # symbols, Thugs and Holdings
    needs_cash: int
    needs_fewest_thugs: bool
    works_next_turn: bool

    @property
    def has_cost(self) -> bool:
        return self.price > 0 or bool(self.costs)


def dollars(phrase: str) -> int:
    """Parse an amount of cash such as `10,000`."""
    if not DOLLARS.fullmatch(phrase):
        raise ValueError(f"{phrase!r} is no amount of cash")
    return int(phrase.replace(",", ""))


def things(phrase: str) -> Counter[str]:
    """Count the things in a list such as `gun, key`, `two cars` or `one Thug`."""
    counted = Counter[str]()
    for part in phrase.split(", "):
        match = THINGS.fullmatch(part)
        if match is None or (match[1] == "two ") != bool(match[3]) or match[2] in counted:
            raise ValueError(f"{part!r} is nothing that can be counted")
        counted[match[2]] = 2 if match[3] else 1
    return counted


def card_of(line: str) -> Card:
    """Parse a line of the section.  Raises ValueError for unknown words."""
    match = CARD.fullmatch(line)
    if match is None or re.search(r"\b(Cost|Need): ", match["text"]):
        raise ValueError(f"{line!r} is no card")
    symbols = "" if match["symbols"] in (None, "no symbol") else match["symbols"]
    ways = match["cost"].split(", or ") if match["cost"] else []
    in_cash = [way for way in ways if way not in COSTS_IN_CARDS]
    need = match["need"] or ""
    is_list = need not in ("", FEWEST_THUGS) and not need.endswith(CASH_KEPT)
    return Card(
        number=int(match["number"]),
        sort=match["sort"],
        symbols=things(symbols) if symbols else Counter(),
        price=dollars(", or ".join(in_cash)) if in_cash else 0,
        costs=frozenset(ways) - frozenset(in_cash),
        needs=things(need) if is_list else Counter(),
        needs_cash=dollars(need.removesuffix(CASH_KEPT)) if need.endswith(CASH_KEPT) else 0,
        needs_fewest_thugs=need == FEWEST_THUGS,
        works_next_turn=bool(re.search(r"\bnext turn\b", match["text"], re.IGNORECASE)),
    )


def cards_of(sheet: str) -> dict[int, Card]:
    """Read the cards by number.  Raises ValueError unless they match SZ-1.1 and SZ-1.2."""
    section = sheet.split("\n## 8. The cards\n")[1].split("\n## ", maxsplit=1)[0]
    lines = re.sub(r"\n +", " ", section).splitlines()
    cards = [card_of(line) for line in lines if line.startswith("- ")]
    if [card.number for card in cards] != list(range(1, 81)):
        raise ValueError("the cards are not numbered from 1 to 80")
    if Counter(card.sort for card in cards) != CARDS_OF_TYPE:
        raise ValueError("there are too few cards of a type")
    if any(set(card.symbols) - SYMBOLS_OF_TYPE[card.sort] for card in cards):
        raise ValueError("a card shows what its type does not show")
    if sum((card.symbols for card in cards), Counter[str]()) != SYMBOLS_IN_ALL:
        raise ValueError("there are too few of a symbol")
    return {card.number: card for card in cards}


CARDS = cards_of(SHEET.read_text(encoding="utf-8"))
