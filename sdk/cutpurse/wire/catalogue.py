"""A game's catalogue: what every number on the wire means, and everything else that a program or a person may want.

It is made of the game's own words, steps and settings, so it cannot differ from what is played. This module knows no
game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from cutpurse.engine import words as engine
from cutpurse.engine.agenda import Poll
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.words import Unit, Visibility
from cutpurse.games.rule_book import rule_numbers, rules_markdown
from cutpurse.v1 import game_pb2
from cutpurse.wire.numbering import numbering_of

__all__ = ["catalogue_of", "settings_on_the_wire", "summary_of"]

MOST_KEPT: Final = 256  # catalogues; the settings are the asker's choice

_VISIBILITY: Final = {
    Visibility.ALL: game_pb2.VISIBILITY_ALL,
    Visibility.OWNER: game_pb2.VISIBILITY_OWNER,
    Visibility.NOBODY: game_pb2.VISIBILITY_NOBODY,
    Visibility.MIXED: game_pb2.VISIBILITY_MIXED,
}
_UNIT: Final = {
    Unit.COUNT: game_pb2.UNIT_COUNT,
    Unit.MONEY: game_pb2.UNIT_MONEY,
    Unit.POINTS: game_pb2.UNIT_POINTS,
    Unit.FLAG: game_pb2.UNIT_FLAG,
    Unit.SEAT: game_pb2.UNIT_SEAT,
    Unit.CARD: game_pb2.UNIT_CARD,
}


def summary_of(rules: type[Game]) -> game_pb2.GameSummary:
    """Return the summary of a game: one line of a list."""
    words = rules.words
    return game_pb2.GameSummary(
        game=words.game,
        title=words.title,
        rules_version=words.version,
        min_seats=words.seats[0],
        max_seats=words.seats[-1],
    )


def settings_on_the_wire(settings: Settings) -> list[game_pb2.Setting]:
    """Return the settings that differ from their defaults, as a match and a request name them."""
    return [game_pb2.Setting(name=name, value=value) for name, value in settings.changed().items()]


def catalogue_of(
    rules: type[Game], seats: int | None = None, settings: Mapping[str, object] | None = None
) -> game_pb2.Catalogue:
    """Make the catalogue of a game with this many seats (None: the default) and these settings, as text or plain.

    It is kept and handed out again: do not change it.  Raises SettingsError for what the game does not have.
    """
    seats = rules.usual_seats if seats is None else seats
    question = rules, seats, rules.check(seats, settings or {})
    catalogue = _kept.get(question)
    if catalogue is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        catalogue = _kept[question] = _make(*question)
    return catalogue


_kept: Final[dict[tuple[type[Game], int, Settings], game_pb2.Catalogue]] = {}


def _make(rules: type[Game], seats: int, settings: Settings) -> game_pb2.Catalogue:
    words, numbering = rules.words, numbering_of(rules)
    catalogue = game_pb2.Catalogue(
        game=summary_of(rules),
        rules=rules_markdown(rules),
        settings=_settings(settings),
        cards=_cards(rules, seats, settings),
        zone_kinds=[_zone_kind(kind) for kind in words.zones],
        verbs=[
            game_pb2.Verb(name=verb.name, text=verb.text, option_text=verb.option_text, rule=verb.rule)
            for verb in words.verbs
        ],
        asks=[
            game_pb2.Ask(name=ask.name, text=ask.text, rule=_first(rule_numbers(ask)), sealed=issubclass(ask, Poll))
            for ask in numbering.asks
        ],
        table_counters=_counters(words.table_counters),
        seat_counters=_counters(words.seat_counters),
        steps=[
            game_pb2.StepKind(
                name=step.__name__,
                rule=_first(rule_numbers(step)),
                numbers=[name + "..." if shape is tuple else name for name, shape in fields],
            )
            for step, fields in zip(numbering.steps, numbering.step_fields, strict=True)
        ],
    )
    catalogue.digest = sha256(catalogue.SerializeToString(deterministic=True)).hexdigest()
    return catalogue


def _first(rules: list[str]) -> str:
    return rules[0] if rules else ""


def _settings(settings: Settings) -> list[game_pb2.SettingKind]:
    defaults = type(settings)()
    return [
        game_pb2.SettingKind(
            name=name,
            text=kind.text,
            default_value=defaults.text(name),
            allowed=kind.allowed(),
            values=[*kind.values, *kind.names],
            min=kind.least,
            max=kind.most,
            value=settings.text(name),
            rule=kind.rule,
        )
        for name, kind in settings.kinds().items()
    ]


def _cards(rules: type[Game], seats: int, settings: Settings) -> list[game_pb2.CardKind]:
    copies = Counter(rules.box(seats, settings))
    values = rules.values(settings)
    return [
        game_pb2.CardKind(
            name=card.name,
            title=card.title,
            text=card.text,
            sort=card.sort,
            value=values[number],
            copies=copies[number],
            traits=card.traits,
        )
        for number, card in enumerate(rules.words.cards, 1)
    ]


def _zone_kind(kind: engine.ZoneKind) -> game_pb2.ZoneKind:
    return game_pb2.ZoneKind(
        name=kind.name,
        title=kind.title,
        text=kind.text,
        visibility=_VISIBILITY[kind.visibility],
        ordered=kind.ordered,
        many=kind.many,
        per_seat=kind.per_seat,
        counters=_counters(kind.counters),
        columns=_counters(kind.columns),
    )


def _counters(counters: Iterable[engine.Counter]) -> list[game_pb2.CounterKind]:
    return [
        game_pb2.CounterKind(name=counter.name, text=counter.text, unit=_UNIT[counter.unit]) for counter in counters
    ]
