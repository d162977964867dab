"""The words of the games in the language of the request: a translated copy of each vocabulary.

The context of a message is the name of its game, as "deal" is one thing in one game and another in the next. Messages
are `str.format` strings with the gaps of the engine's sentences. A game of another package stays English. This module
knows no view and no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import asdict, replace
from functools import cache
from gettext import NullTranslations
from typing import Final

from cutpurse.engine.agenda import Question
from cutpurse.engine.game import Game
from cutpurse.engine.sentences import ENGLISH_SENTENCES, Sentences
from cutpurse.engine.words import Counter, Words, ZoneKind
from cutpurse.games import GAMES
from cutpurse.page.language.languages import ENGLISH, Language
from cutpurse.page.language.speaking import language

__all__ = [
    "SENTENCES",
    "announcement",
    "counter_title",
    "game_messages",
    "game_title",
    "sentences",
    "spoken",
    "word",
]

_CLAUSE_END: Final = re.compile(r"[,;:.]")
SENTENCES: Final = "sentences"  # context of the sentences that all games share


def spoken(words: Words) -> Words:
    """Return the words of a game in the language of the request."""
    return words if language() is ENGLISH else _translated(words, language())


def sentences() -> Sentences:
    """Return the sentences that all games share, in the language of the request."""
    return ENGLISH_SENTENCES if language() is ENGLISH else _sentences(language())


def word(text: str, game: str) -> str:
    """Translate a text of a game, such as a question or the description of a setting."""
    return _text(language().texts, game, text)


def game_title(game: str) -> str:
    """Return the title of an installed game."""
    return word(GAMES[game].words.title, game)


def counter_title(name: str, words: Words) -> str:
    """Return how a counter is called, from its name, such as "since_round"."""
    return words.counter_titles.get(name) or name.replace("_", " ")


def announcement(paragraph: str) -> str:
    """Return the first clause of a rule's paragraph, which says in short what it does."""
    return _CLAUSE_END.split(paragraph, maxsplit=1)[0]


def game_messages(game: type[Game]) -> Iterator[str]:
    """Yield all texts of a game that its translated words have, or that `word` is asked for."""
    words = game.words
    yield words.title
    for card in words.cards:
        yield from (card.title, card.text, card.sort, *card.traits)
    for verb in words.verbs:
        yield from (verb.text, verb.option_text)
    for zone in words.zones:
        yield from (zone.title, zone.text)
    for counter in _counters(words):
        yield from (counter.name.replace("_", " "), counter.text)
    for setting in game.settings_type.kinds().values():
        yield setting.text
    for step in game.steps().values():
        yield step.text if issubclass(step, Question) else announcement(step.paragraph)


def _counters(words: Words) -> Iterable[Counter]:
    of_zones = [counter for zone in words.zones for counter in (*zone.counters, *zone.columns)]
    return [*words.table_counters, *words.seat_counters, *of_zones]


@cache
def _translated(words: Words, spoken: Language) -> Words:
    texts, game = spoken.texts, words.game

    def said(text: str) -> str:
        return _text(texts, game, text)

    def counter(one: Counter) -> Counter:
        return replace(one, text=said(one.text))

    def zone(one: ZoneKind) -> ZoneKind:
        return replace(
            one,
            title=said(one.title),
            text=said(one.text),
            counters=tuple(map(counter, one.counters)),
            columns=tuple(map(counter, one.columns)),
        )

    made = copy(words)
    made.title = said(words.title)
    made.cards = [replace(one, title=said(one.title), text=said(one.text)) for one in words.cards]
    made.verbs = [replace(one, text=said(one.text), option_text=said(one.option_text)) for one in words.verbs]
    made.zones = [zone(one) for one in words.zones]
    made.table_counters = [counter(one) for one in words.table_counters]
    made.seat_counters = [counter(one) for one in words.seat_counters]
    made.sentences = _sentences(spoken)
    made.counter_titles = {one.name: said(one.name.replace("_", " ")) for one in _counters(words)}
    return made


@cache
def _sentences(spoken: Language) -> Sentences:
    english = asdict(Sentences())
    translated = {name: spoken.texts.pgettext(SENTENCES, text) for name, text in english.items()}
    return Sentences(**translated | {"thousands": spoken.group})


def _text(texts: NullTranslations, game: str, text: str) -> str:
    return texts.pgettext(game, text) if text else ""  # the entry of "" is the head of a catalogue
