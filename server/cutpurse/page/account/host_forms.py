"""The forms of a host: what they offer, and the ladders, tournaments and seasons that their fields describe.

A field that cannot be read is named in the error, so that a page can point at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, unquote

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.page.account.calls import find_ladder
from cutpurse.page.language.game_words import game_title, word
from cutpurse.page.language.speaking import gettext
from cutpurse.page.seat.opponents import STRENGTHS
from cutpurse.v1 import event_pb2, game_pb2, ladder_pb2
from cutpurse.wire.catalogue import catalogue_of
from cutpurse.wire.league import League, bot_name, ranking_pages

__all__ = [
    "EVENT_FIELDS",
    "FieldFault",
    "choices",
    "event_request",
    "fields_of_terms",
    "house_choices",
    "ladder_wanted",
    "read_terms",
]

MOST_BOTS: Final = 300  # in a list to pick from
EVENT_FIELDS: Final = (
    *("kind", "name", "ladder", "bots"),
    *("format", "best_of", "top"),  # of a tournament
    *("divisions", "size", "down", "rated", "days", "seasons", "final"),
)
_MOST_DIVISIONS: Final = 16
_DAY_MS: Final = 86_400_000

Fields = Mapping[str, str]


class FieldFault(UsageError):
    """A field of a form that cannot be read; `field` is its name."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


# -- what the forms offer
def choices(ladders: Sequence[ladder_pb2.LadderShown], bots: Iterable[ladder_pb2.BotShown]) -> dict[str, Any]:
    """Return what the forms offer: games with their settings, house bots, ladders, and bots to pick."""
    return {
        "games": {name: _settings(name) for name in GAMES},
        "house_bots": house_choices(),
        "open_ladders": [ladder for ladder in ladders if not ladder.is_frozen and not ladder.season],
        "bot_choices": _bot_choices(bots, ladders),
    }


def house_choices() -> dict[str, str]:
    """Return the house bots, the weakest first, with what each does."""
    return {name: gettext(text) for name, _, text in STRENGTHS}


def _bot_choices(
    bots: Iterable[ladder_pb2.BotShown], ladders: Sequence[ladder_pb2.LadderShown]
) -> list[dict[str, Any]]:
    """Return each bot once, with the games that it has played; those online come first."""
    games = {ladder.defined.name: ladder.defined.game for ladder in ladders}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for version in bots:
        if version.bot.owner == HOUSE or version.bot.person:
            continue
        row = rows.setdefault((version.bot.owner, version.bot.bot), {"is_here": False, "games": set()})
        row["bot"] = ladder_pb2.BotName(owner=version.bot.owner, bot=version.bot.bot)
        row["value"] = f"{quote(version.bot.owner, safe='')}/{quote(version.bot.bot, safe='')}"
        row["is_here"] |= version.is_here
        row["games"] |= {games[ladder] for ladder in version.ladders if ladder in games}
    return sorted(rows.values(), key=lambda row: not row["is_here"])[:MOST_BOTS]


def _settings(game: str) -> dict[str, Any]:
    """Return a game's title, and the settings that a form can have: tables of values are left to files."""
    kinds = GAMES[game].settings_type.kinds()
    settings = [
        {"kind": kind, "text": word(kind.text, game)}
        for kind in catalogue_of(GAMES[game]).settings
        if not kinds[kind.name].keys
    ]
    return {"title": game_title(game), "settings": settings}


# -- ladders
def ladder_wanted(fields: Fields) -> ladder_pb2.LadderDefined:
    """Return the ladder that a form describes.  Raises FieldFault."""
    game = fields.get("game", "")
    clock = {name: ms for name in ("base", "bank") if (ms := _seconds_ms(fields, name))}
    terms = ladder_pb2.LadderTerms()
    read_terms(fields, terms)
    kinds = GAMES[game].settings_type.kinds() if game in GAMES else {}
    settings = [(name, fields.get(f"{game}.{name}", "").strip()) for name in kinds]
    return ladder_pb2.LadderDefined(
        name=fields.get("name", "").strip(),
        game=game,
        seats=_number(fields, "seats"),
        settings=[game_pb2.Setting(name=name, value=value) for name, value in settings if value],
        clock=ladder_pb2.LadderClock(**{f"{name}_ms": ms for name, ms in clock.items()}) if clock else None,
        terms=terms,
    )


def read_terms(fields: Fields, terms: ladder_pb2.LadderTerms) -> None:
    """Put the terms of a form into `terms`; those that no form has stay.  Raises FieldFault."""
    del terms.owners[:], terms.house[:]
    terms.owners.extend(_words(fields, "owners"))
    terms.house.extend(_words(fields, "house"))
    terms.title = fields.get("title", "").strip()
    terms.private, terms.people = "private" in fields, "people" in fields
    terms.results_hidden_until_ms = _utc_ms(fields, "results_hidden_until")
    terms.names_hidden_until_ms = _utc_ms(fields, "names_hidden_until")
    terms.replays_hidden_until_ms = _utc_ms(fields, "replays_hidden_until")
    terms.most_bots, terms.most_per_owner = _number(fields, "most_bots"), _number(fields, "most_per_owner")


def fields_of_terms(terms: ladder_pb2.LadderTerms) -> dict[str, str]:
    """Return the fields of a form that describes these terms: the inverse of `read_terms`."""
    fields = {
        "owners": " ".join(terms.owners),
        "house": " ".join(terms.house),
        "title": terms.title,
        "private": "1" if terms.private else "",
        "people": "1" if terms.people else "",
        "results_hidden_until": _utc_text(terms.results_hidden_until_ms),
        "names_hidden_until": _utc_text(terms.names_hidden_until_ms),
        "replays_hidden_until": _utc_text(terms.replays_hidden_until_ms),
        "most_bots": str(terms.most_bots or ""),
        "most_per_owner": str(terms.most_per_owner or ""),
    }
    return {name: value for name, value in fields.items() if value}


# -- events
def event_request(fields: Fields, league: League) -> event_pb2.EventRequest:
    """Return the event that a form describes, by its field `kind`.

    Args:
        fields: The form.
        league: Knows the ladder with the rules and terms of each division of a season, and its ranking.

    Raises:
        UsageError: If a field cannot be read.
        NotFound: If there is no such ladder.
    """
    if fields.get("kind") == "season":
        name = fields.get("ladder", "")
        ladder = find_ladder(league, name).defined
        return event_pb2.EventRequest(season=_season(fields, ladder, ranking_pages(league.ListRankings, name)))
    return event_pb2.EventRequest(tournament=_tournament(fields))


def _tournament(fields: Fields) -> event_pb2.TournamentRequest:
    name = f"TOURNAMENT_FORMAT_{fields.get('format', '').upper()}"
    known = name in event_pb2.TournamentFormat.keys()  # noqa: SIM118 # it is no mapping
    return event_pb2.TournamentRequest(
        ladder=fields.get("ladder", ""),
        format=event_pb2.TournamentFormat.Value(name) if known else event_pb2.TOURNAMENT_FORMAT_UNSPECIFIED,
        best_of=_number(fields, "best_of"),
        bots=_bots(fields),
        top=_number(fields, "top"),
    )


def _season(
    fields: Fields, ladder: ladder_pb2.LadderDefined, rankings: Iterable[ladder_pb2.Ranking]
) -> event_pb2.SeasonRequest:
    """Return the seasons that a form describes; bots that were picked fill the divisions in the order of a ranking."""
    division = ladder_pb2.LadderDefined()
    division.CopyFrom(ladder)
    division.name, division.hosted = fields.get("name", "").strip(), False
    for term in ("frozen_ms", "title", "people", "most_bots"):
        division.terms.ClearField(term)
    bots = _by_ranking(_bots(fields), rankings)
    return event_pb2.SeasonRequest(
        ladder=division,
        divisions=_divisions(fields, bots),
        matches=_number(fields, "rated"),
        lasts_ms=_number(fields, "days") * _DAY_MS,
        seasons=_number(fields, "seasons"),
        final_top=_number(fields, "final"),
        seeds="" if bots else ladder.name,
    )


def _divisions(fields: Fields, bots: Sequence[ladder_pb2.BotName]) -> list[event_pb2.DivisionRequest]:
    """Return the divisions with their bots; the last one takes all others."""
    number = _number(fields, "divisions", _MOST_DIVISIONS) or 1
    size, down = _number(fields, "size"), _number(fields, "down")
    if number > 1 and not size:
        raise FieldFault("size", gettext("with several divisions, say how many bots are in each but the last"))
    limits = [size * index for index in range(number)]
    divisions = [
        event_pb2.DivisionRequest(size=size, down=down, bots=bots[start : start + size]) for start in limits[:-1]
    ]
    return [*divisions, event_pb2.DivisionRequest(bots=bots[limits[-1] :])]


def _by_ranking(bots: Sequence[ladder_pb2.BotName], rankings: Iterable[ladder_pb2.Ranking]) -> list[ladder_pb2.BotName]:
    """Sort bots by a ranking; those that it lacks come last."""
    places: dict[tuple[str, str], int] = {}
    for place, ranking in enumerate(rankings):
        places.setdefault((ranking.bot.owner, ranking.bot.bot), place)
    return sorted(bots, key=lambda bot: places.get((bot.owner, bot.bot), len(places)))


# -- fields
def _bots(fields: Fields) -> list[ladder_pb2.BotName]:
    """Return the bots that were picked; the values of the list are quoted as segments of a path."""
    bots = [bot_name(text) for text in _words(fields, "bots")]
    for bot in bots:
        bot.owner, bot.bot = unquote(bot.owner), unquote(bot.bot)
    return bots


def _words(fields: Fields, name: str) -> list[str]:
    return [text for text in re.split(r"[\s,]+", fields.get(name, "")) if text]


def _number(fields: Fields, name: str, most: int = 999_999) -> int:
    """Return a number of a form; 0 if it is empty.  Raises FieldFault."""
    text = fields.get(name, "").strip()
    if not re.fullmatch(r"[0-9]{0,6}", text, re.ASCII):
        raise FieldFault(
            name, gettext("%(text)s is no number; it can be 0 to %(most)s", text=f"{text!r:.40}", most=most)
        )
    if int(text or 0) > most:
        raise FieldFault(name, gettext("%(number)s is too large; it can be 0 to %(most)s", number=text, most=most))
    return int(text or 0)


def _seconds_ms(fields: Fields, name: str) -> int:
    """Return a duration of a form in ms; 0 if it is empty.  Raises FieldFault."""
    text = fields.get(name, "").strip().replace(",", ".")
    if not re.fullmatch(r"([0-9]{1,6}(\.[0-9]{1,3})?)?", text, re.ASCII):
        raise FieldFault(name, gettext("%(text)s is no number of seconds, such as 2 or 0.5", text=f"{text!r:.40}"))
    return round(float(text or 0) * 1_000)


def _utc_ms(fields: Fields, name: str) -> int:
    """Return a time of a form, in ms since 1970; 0 if it is empty.  Raises FieldFault."""
    text = fields.get(name, "").strip()
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000) if text else 0
    except (ValueError, OverflowError):
        raise FieldFault(
            name, gettext("%(text)s is no time; it is as 2027-01-31T18:00, in UTC", text=f"{text!r:.40}")
        ) from None


def _utc_text(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%S") if ms else ""
