"""The calls of the API with their parameters and responses; the routes and the OpenAPI document are made from them.

A call reads from an `Asking` and returns a message. This module knows no request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from cutpurse.engine.errors import UsageError
from cutpurse.page.league_client import Asking
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.text import printable

__all__ = ["CALLS", "MOST", "PREFIX", "Call", "Parameter", "Values", "read_parameters"]

PREFIX: Final = "/api/v1"
MOST: Final = 2**53 - 1  # largest integer that every JSON parser reads exactly
_TEXT_MOST: Final = 200  # maximum characters; no name in a league is longer

Value = str | int | bool
Values = Mapping[str, Any]  # a Value for each parameter of the call


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a call."""

    name: str  # name in the path or query
    text: str  # description for people
    default: Value = ""  # value if it is not given; its type is the parameter's type
    most: int = MOST  # largest value of a number

    @property
    def schema(self) -> dict[str, Any]:
        """OpenAPI schema of its values."""
        if isinstance(self.default, bool):
            return {"type": "boolean", "default": self.default}
        if isinstance(self.default, int):
            return {"type": "integer", "minimum": 0, "maximum": self.most, "default": self.default}
        return {"type": "string", "maxLength": _TEXT_MOST}

    def read(self, given: str) -> Value:
        """Parse a value.

        Raises:
            UsageError: If it is invalid.
        """
        if isinstance(self.default, bool):
            if given in ("true", "1"):
                return True
            if given in ("false", "0"):
                return False
            raise UsageError(f"{self.name} is {given!r:.80}; it can be true or false")
        if isinstance(self.default, int):
            if not re.fullmatch(r"\d{1,16}", given, re.ASCII) or int(given) > self.most:
                raise UsageError(f"{self.name} is {given!r:.80}; it can be a number from 0 to {self.most:,}")
            return int(given)
        if len(given) > _TEXT_MOST:
            raise UsageError(f"{self.name} is {given!r:.80}; it can be a text of at most {_TEXT_MOST} characters")
        return given


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API."""

    name: str  # operation ID
    path: str  # path below PREFIX, with parameters in braces
    text: str  # description for people
    answer: Descriptor  # type of its response message
    ask: Callable[[Asking, Values], Message]  # reads the response from the league
    parameters: tuple[Parameter, ...] = ()  # parameters in the path and the query
    keep_s: int = 1  # seconds for which clients may cache the response
    # for paged calls: returns the value of `paged_by` for the next page, or 0 after the last page
    next_page: Callable[[Any], int] | None = None
    paged_by: str = "before"  # name of the parameter that selects the page

    @property
    def in_path(self) -> list[str]:
        """Names of the parameters in the path."""
        return re.findall(r"{(\w+)", self.path)


def read_parameters(call: Call, in_path: Mapping[str, str], query: list[tuple[str, str]]) -> dict[str, Value]:
    """Return the values of all parameters by name, with defaults for missing ones.

    Raises:
        UsageError: If a parameter is unknown, invalid or given twice.
    """
    known = {one.name: one for one in call.parameters}
    free = sorted(set(known) - set(call.in_path))
    values = {name: one.default for name, one in known.items()}
    given: set[str] = set()
    for name, text in query:
        if name not in free:
            there = ", ".join(free) or "none"
            raise UsageError(f"there is no parameter {printable(name, 40)!r} here; there are: {there}")
        if name in given:
            raise UsageError(f"{name} is given twice")
        given.add(name)
        values[name] = known[name].read(text)
    for name, text in in_path.items():
        values[name] = known[name].read(text)
    return values


# -- the calls
_LADDER: Final = Parameter("ladder", "Name of the ladder.")
_OWNER: Final = Parameter("owner", 'Owner of the bot; "local" on a server without tokens.')
_BOT: Final = Parameter("bot", "Name of the bot.")
_VERSION: Final = Parameter("version", "Version of the bot. Default: all versions.")
_MATCH: Final = Parameter("match", "Match ID, or its first 8 or more characters.")


def _page(usual: int, most: int) -> tuple[Parameter, Parameter]:
    return (
        Parameter("limit", f"Maximum number; 0 means {usual}.", 0, most),
        Parameter("before", "Only entries with a smaller number; 0 means from the newest on.", 0),
    )


def _bot(values: Values) -> ladder_pb2.BotName:
    return ladder_pb2.BotName(owner=values["owner"], bot=values["bot"], version=values.get("version", ""))


def _history(ask: Asking, values: Values) -> Message:
    ladder, bot, before = values["ladder"], _bot(values), values["before"]
    steps = ask.history(ladder, bot, values["limit"] or _HISTORY, before)
    return ladder_pb2.ListHistoryResponse(steps=steps, ratings=() if before else ask.ratings(ladder, bot))


def _before_history(told: ladder_pb2.ListHistoryResponse) -> int:
    return told.steps[-1].number if told.steps and told.steps[-1].number > 1 else 0


def _matches(ask: Asking, values: Values) -> Message:
    if not values["owner"] and (values["bot"] or values["version"]):
        raise UsageError("bot and version name a bot together with its owner: give that too")
    return ask.matches(
        values["ladder"],
        [_bot(values)] if values["owner"] else (),
        faulted=values["faulted"],
        since_ms=values["since_ms"],
        until_ms=values["until_ms"],
        limit=values["limit"],
        before=values["before"],
        event=values["event"],
    )


_HISTORY: Final = 100
_ANSWERS: Final = ladder_pb2.DESCRIPTOR.message_types_by_name
CALLS: Final[tuple[Call, ...]] = (
    Call(
        "ladders",
        "/ladders",
        "List the ladders.",
        _ANSWERS["ListLaddersResponse"],
        lambda ask, values: ladder_pb2.ListLaddersResponse(ladders=ask.ladders(values["game"])),
        (Parameter("game", "Only ladders of this game. Default: all games."),),
    ),
    Call(
        "ladder",
        "/ladders/{ladder}",
        "Show a ladder: its game, settings, clock and terms.",
        _ANSWERS["LadderShown"],
        lambda ask, values: ask.ladder(values["ladder"]),
        (_LADDER,),
    ),
    Call(
        "rankings",
        "/ladders/{ladder}/rankings",
        "List the ratings on a ladder with their 95 % intervals: placed bots by rating, then the others.",
        _ANSWERS["ListRankingsResponse"],
        lambda ask, values: ask.rankings_page(**values),
        (
            _LADDER,
            Parameter("every_version", "List all versions, not only the newest of each bot.", False),
            Parameter("limit", "Maximum number; 0 means 1,000.", 0, 1_000),
            Parameter("after", "Number of rankings to skip; 0 means none.", 0),
        ),
        next_page=lambda told: int(told.next),
        paged_by="after",
    ),
    Call(
        "history",
        "/ladders/{ladder}/bots/{owner}/{bot}/history",
        "List the ratings of a bot on a ladder over time, and each change of its pairing skill, the newest first.",
        _ANSWERS["ListHistoryResponse"],
        _history,
        (_LADDER, _OWNER, _BOT, _VERSION, *_page(_HISTORY, 1_000)),
        next_page=_before_history,
    ),
    Call(
        "opponents",
        "/ladders/{ladder}/bots/{owner}/{bot}/opponents",
        "Count the results of a bot on a ladder against each opponent, all versions combined.",
        _ANSWERS["ListOpponentsResponse"],
        lambda ask, values: ladder_pb2.ListOpponentsResponse(opponents=ask.opponents(values["ladder"], _bot(values))),
        (_LADDER, _OWNER, _BOT),
    ),
    Call(
        "matches",
        "/matches",
        "List finished matches, the newest first.",
        _ANSWERS["ListMatchesResponse"],
        _matches,
        (
            _LADDER,
            Parameter("owner", "Only matches with a bot of this owner."),
            Parameter("bot", "Only matches with this bot of the owner."),
            Parameter("version", "Only matches with this version of the bot."),
            Parameter("faulted", "Only matches with a fault; with `bot`, a fault of that bot.", False),
            Parameter("event", "Only matches of this event, by its ID, or of a kind: tournament, season or test."),
            Parameter("since_ms", "Only matches that ended at or after this time, in ms since 1970.", 0),
            Parameter("until_ms", "Only matches that ended before this time; 0 means now.", 0),
            *_page(50, 500),
        ),
        next_page=lambda told: int(told.next),
    ),
    Call(
        "match",
        "/matches/{match}",
        "Show a finished match: its seats, their pairing skills before and after, thinking times and faults.",
        _ANSWERS["GetMatchResponse"],
        lambda ask, values: ask.match(values["match"]),
        (_MATCH,),
        keep_s=60,
    ),
    Call(
        "open_matches",
        "/open-matches",
        "List matches that are being played; none if the page shows a database.",
        _ANSWERS["ListOpenMatchesResponse"],
        lambda ask, values: ask.open_matches(values["ladder"]),
        (Parameter("ladder", "Only this ladder. Default: all ladders."),),
    ),
    Call(
        "bots",
        "/bots",
        "List the versions of bots: which are online, in how many matches, and which are paused.",
        _ANSWERS["ListBotsResponse"],
        lambda ask, values: ladder_pb2.ListBotsResponse(bots=ask.bots(values["owner"], values["ladder"])),
        (
            Parameter("owner", "Only bots of this owner. Default: all owners."),
            Parameter("ladder", "Only this ladder. Default: all ladders."),
        ),
    ),
)
