"""Sentences of a game as they are said to one of its players: "you draw", "your hand", and not "you draws".

The sentences of the games are about seats, in the third person. Each language has a few rules for what becomes of the
verb after the player's own seat, and of what is theirs. This module knows no view and no page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from cutpurse.engine.words import Words
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import language

__all__ = ["addressed"]

_ENGLISH: Final[Mapping[str, str]] = MappingProxyType({"has": "have", "is": "are", "was": "were", "goes": "go"})
_GERMAN: Final[Mapping[str, str]] = MappingProxyType(
    {"hat": "hast", "ist": "bist", "war": "warst", "muss": "musst"}  # codespell:ignore ist
)
_DATIVE: Final = r"(?:von|bei|vor|mit|aus)"  # codespell:ignore vor
_NOUN: Final = re.compile(r"\b(?:the|an?|all) ((?:\w+ )?\w+) of \{(?:seat|actor)\}")


def addressed(text: str, seat: int, words: Words) -> str:
    """Say a sentence to the player in a seat, who is still named by it where they act.

    Args:
        text: The sentence, in the language of the request.
        seat: The player's seat.
        words: The words of the game.
    """
    own = spoken(words).sentences.seat.format(seat=seat)
    return _rules(language(), words)(text, re.escape(own), own) if own in text else text


@cache
def _rules(spoken_language: Language, words: Words) -> Callable[[str, str, str], str]:
    rules = {"de": _german, "pl": _polish}.get(spoken_language.tag)
    return rules if rules is not None else _English(words)


class _English:
    """The rules of English, with the nouns of a game that can be a player's."""

    def __init__(self, words: Words) -> None:
        nouns = {kind.title for kind in words.zones} | {card.title for card in words.cards}
        nouns |= {counter.replace("_", " ") for counter in words.counter_titles}
        nouns |= {counter.name.replace("_", " ") for counter in words.seat_counters}
        nouns |= {noun for verb in words.verbs for noun in _NOUN.findall(verb.text + "\n" + verb.option_text)}
        longest_first = sorted(map(re.escape, nouns), key=len, reverse=True)
        self._nouns = rf"(?:{'|'.join(longest_first)}|[\d,]+)(?: \d+)?"

    def __call__(self, text: str, own: str, seat: str) -> str:
        text = re.sub(rf"(?<!\w)(all )?(?:(?:the|an?) )?({self._nouns}) of {own}\b", r"\1your \2", text)
        text = re.sub(rf"\ball that {own} has\b", "all that you have", text)
        if not re.match(rf"{own} \w", text):
            return text
        text = re.sub(rf"^({own}) (\w+)", lambda words: f"{words[1]} {_english(words[2])}", text)
        return re.sub(r" and (names|loses)\b", lambda words: f" and {_english(words[1])}", text)


def _english(verb: str) -> str:
    """Return the form of a verb after "you"."""
    if verb in _ENGLISH:
        return _ENGLISH[verb]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if re.search(r"(?:ss|x|zz|ch|sh)es$", verb):
        return verb[:-2]
    return verb.removesuffix("s")


def _german(text: str, own: str, seat: str) -> str:
    if re.match(rf"{own} \w", text):
        text = re.sub(rf"^({own}) (\w+)", lambda words: f"{words[1]} {_german_verb(words[2])}", text)
        text = re.sub(r" und (nennt|verliert)\b", lambda words: f" und {_german_verb(words[1])}", text)
        text = re.sub(r"(?<=siehst) sich\b", " dir", text)
    text = re.sub(rf"\bwas {own} hat\b", "was du hast", text)
    text = re.sub(rf"\b({_DATIVE}) {own}\b", r"\1 dir", text)
    return re.sub(rf"(?<=\w )(?<!und ){own}(?=$|[ ,:)])", "dich", text)


def _german_verb(verb: str) -> str:
    """Return the form of a verb after "du"."""
    if verb in _GERMAN:
        return _GERMAN[verb]
    return verb if not verb.endswith("t") or re.search(r"[szß]t$", verb) else verb[:-1] + "st"


def _polish(text: str, own: str, seat: str) -> str:
    text = re.sub(rf"(?:^|(?<=, ))({own}) (nic więcej nie )?(\w+)", r"\1 \2\3sz", text)
    if re.match(rf"{own} \w", text):
        text = re.sub(r"(?<=, )(dokłada|daje|pokazuje)(?=: )| i (przegrywa)\b", _polish_rest, text)
    return text


def _polish_rest(words: re.Match[str]) -> str:
    return f"{words[1]}sz" if words[1] else f" i {words[2]}sz"
