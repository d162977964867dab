"""Answers about who is online, which bots run and what waits for whom, completed by those of other arenas.

Each arena answers by what its caller may see. Answers are only put together here, so nothing hidden can appear. This
module knows no call and no database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final, TypeVar

from google.protobuf.message import Message

from cutpurse.v1 import event_pb2, ladder_pb2, submission_pb2

__all__ = ["MERGES", "ladders_in_play", "merge"]

Answer = TypeVar("Answer", bound=Message)


def merge(own: Answer, others: Mapping[str, bytes], address_of: Callable[[str], str]) -> Answer:
    """Complete an answer of one of the methods of `MERGES` in place.

    Args:
        own: The answer of this arena.
        others: The encoded answers of other arenas, by address.
        address_of: Returns the address of the arena of a ladder; empty if it is this one, or none.

    Returns:
        The completed answer.
    """
    read = {address: type(own).FromString(answer) for address, answer in others.items()}
    MERGES[type(own).__name__](own, read, address_of)
    return own


def ladders_in_play(own: Message) -> Set[str]:
    """Return the ladders of the events of an answer that have not ended, so that they may wait."""
    return {event.ladder for event in _events(own) if event.ladder and not event.ended_ms}


def _events(answer: Any) -> Sequence[event_pb2.EventShown]:
    match type(answer).__name__:
        case "GetEventResponse":
            return [answer.event]
        case "ListEventsResponse":
            return [*answer.events]
    return ()


def _waits(own: Answer, others: Mapping[str, Answer], address_of: Callable[[str], str]) -> None:
    """Say what an event waits for, which only the arena of its ladder knows."""
    there = {(address, event.event): event for address, answer in others.items() for event in _events(answer)}
    for event in _events(own):
        found = there.get((address_of(event.ladder), event.event))
        if found is not None and not event.ended_ms:
            event.waits_for = found.waits_for


def _ladders(
    own: ladder_pb2.ListLaddersResponse,
    others: Mapping[str, ladder_pb2.ListLaddersResponse],
    address_of: Callable[[str], str],
) -> None:
    there = {address: {one.defined.name: one for one in answer.ladders} for address, answer in others.items()}
    for ladder in own.ladders:
        name = ladder.defined.name
        if (found := there.get(address_of(name), {}).get(name)) is not None:
            ladder.bots, ladder.tables = found.bots, found.tables


def _rankings(
    own: ladder_pb2.ListRankingsResponse,
    others: Mapping[str, ladder_pb2.ListRankingsResponse],
    address_of: Callable[[str], str],
) -> None:
    here = {_key(one.bot) for answer in others.values() for one in answer.rankings if one.is_here}
    for ranking in own.rankings:
        ranking.is_here = ranking.is_here or _key(ranking.bot) in here


def _open_matches(
    own: ladder_pb2.ListOpenMatchesResponse,
    others: Mapping[str, ladder_pb2.ListOpenMatchesResponse],
    address_of: Callable[[str], str],
) -> None:
    found = {match.match: match for answer in (*others.values(), own) for match in answer.matches}
    matches = sorted(found.values(), key=lambda match: match.started_ms, reverse=True)
    requested = [answer.requested for answer in (own, *others.values()) if answer.requested]
    copies = ladder_pb2.ListOpenMatchesResponse(matches=matches, requested=requested[0] if requested else "")
    own.CopyFrom(copies)


def _bots(
    own: ladder_pb2.ListBotsResponse,
    others: Mapping[str, ladder_pb2.ListBotsResponse],
    address_of: Callable[[str], str],
) -> None:
    bots = {_key(one.bot): one for one in own.bots}
    for answer in others.values():
        for one in answer.bots:
            if (bot := bots.get(_key(one.bot))) is None:  # it has just come online there
                bots[_key(one.bot)] = one
                continue
            bot.is_here = bot.is_here or one.is_here
            bot.tables += one.tables
            bot.ladders[:] = sorted({*bot.ladders, *one.ladders})
    listed = sorted(bots.values(), key=lambda one: (one.bot.owner, one.bot.bot))
    own.CopyFrom(ladder_pb2.ListBotsResponse(bots=listed))


def _submissions(
    own: submission_pb2.ListSubmissionsResponse,
    others: Mapping[str, submission_pb2.ListSubmissionsResponse],
    address_of: Callable[[str], str],
) -> None:
    for answer in others.values():
        there = {(one.bot, one.version): one for one in answer.submissions}
        for shown in own.submissions:
            _complete(shown, there.get((shown.bot, shown.version)))


def _submission_log(
    own: submission_pb2.GetSubmissionLogResponse,
    others: Mapping[str, submission_pb2.GetSubmissionLogResponse],
    address_of: Callable[[str], str],
) -> None:
    for answer in others.values():
        _complete(own.submission, answer.submission)
        own.talk += answer.talk


def _complete(shown: submission_pb2.SubmissionShown, there: submission_pb2.SubmissionShown | None) -> None:
    if there is not None:
        shown.is_running = shown.is_running or there.is_running
        shown.before = max(shown.before, there.before)


def _key(bot: ladder_pb2.BotName) -> tuple[str, str, str]:
    return bot.owner, bot.bot, bot.version


MERGES: Final[Mapping[str, Callable[..., None]]] = {
    "ListLaddersResponse": _ladders,
    "ListRankingsResponse": _rankings,
    "ListOpenMatchesResponse": _open_matches,
    "ListBotsResponse": _bots,
    "ListEventsResponse": _waits,
    "GetEventResponse": _waits,
    "ListSubmissionsResponse": _submissions,
    "GetSubmissionLogResponse": _submission_log,
}
