"""A notice: one sentence and a JSON body about something that happened to a bot or a ladder.

The body is what every receiver gets, so `SCHEMA` changes with it. The ID of a notice is a hash of its content: no
chance is needed, and the same notice has the same ID wherever it is delivered. This module knows no database.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import quote

__all__ = [
    "EVENTS",
    "ON_REQUEST",
    "RESULTS",
    "SCHEMA",
    "TEST",
    "Notice",
    "bot_faulted",
    "bot_overtaken",
    "bot_paused",
    "bot_separated",
    "ladder_frozen",
    "match_over",
    "season_over",
    "submission_accepted",
    "submission_rejected",
    "test_of",
    "test_over",
    "tournament_begins",
]

SCHEMA: Final = 1  # version of the body; it changes when a key changes its meaning or goes
MAX_NAMED: Final = 10  # bots that a notice names as overtaking another
TEST: Final = "test"  # sent on request only, so nobody subscribes to it

# What a receiver can ask for, with its meaning for the list in the documentation.
EVENTS: Final[Mapping[str, str]] = {
    "submission_accepted": "A submitted version passed its check and plays from now on.",
    "submission_rejected": "A submitted version was refused, with the reason.",
    "bot_faulted": "A bot made a fault in a match, and had made none in its match before.",
    "bot_paused": "A bot was paused, because its matches kept failing.",
    "bot_overtaken": "Another bot came to stand above this one in a ranking.",
    "bot_separated": "The rank range of a bot no longer overlaps with that of another one. Only on request.",
    "match_over": "A match of a bot is over, with its place. Only on request.",
    "ladder_frozen": "A ladder starts no more matches, now or from a time on.",
    "season_over": "A season ended, with its champion.",
    "test_over": "A version test ended, with its outcome. Only on request.",
    "tournament_begins": "A tournament with a bot of yours begins. Only on request.",
}
# Events that tell what a ranking is, so that only hosts get them while results of the ladder are hidden.
RESULTS: Final = frozenset({"bot_overtaken", "bot_separated", "match_over", "season_over", "test_over"})
# Only for receivers that name them.
ON_REQUEST: Final = frozenset({"bot_separated", "match_over", "test_over", "tournament_begins"})


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened.

    Attributes:
        event: One of `EVENTS`, or `TEST`.
        at: When it happened; of a ladder that was frozen, from when on, which may be later.
        text: What happened, as one sentence.
        path: Path of the page that shows more.
        owner: Owner of the bot; empty if it is about a ladder.
        bot: Name of the bot; empty if it is about a ladder.
        version: Label of the version; empty if it is about all versions.
        ladder: Name of the ladder; empty if it is about none.
        details: Facts for programs, by name.
        audience: Owners who may know, beside `owner`. They are not part of the body.
    """

    event: str
    at: datetime
    text: str
    path: str
    owner: str = ""
    bot: str = ""
    version: str = ""
    ladder: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    audience: Collection[str] = ()

    @property
    def id(self) -> str:
        """The ID: 32 hexadecimal digits."""
        return sha256(_json(self._content()).encode()).hexdigest()[:32]

    def body(self) -> str:
        """Format the body, in which `link` is still a path."""
        return _json({"schema": SCHEMA, "id": self.id, **self._content()})

    def _content(self) -> dict[str, object]:
        return {
            "event": self.event,
            "at": self.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "text": self.text,
            "owner": self.owner or None,
            "bot": self.bot or None,
            "version": self.version or None,
            "ladder": self.ladder or None,
            "link": self.path,
            "details": dict(self.details),
        }


def submission_accepted(at: datetime, owner: str, bot: str, version: str) -> Notice:
    """Return the notice of a version that passed its check."""
    text = f"{owner}/{bot}:{version} was accepted and plays from now on."
    path = f"/me/submissions/{_segment(bot)}/{_segment(version)}"
    return Notice("submission_accepted", at, text, path, owner, bot, version)


def submission_rejected(at: datetime, owner: str, bot: str, version: str, why: str) -> Notice:
    """Return the notice of a version that was refused."""
    text = _sentence(f"{owner}/{bot}:{version} was rejected: {why or 'its log says why'}")
    path = f"/me/submissions/{_segment(bot)}/{_segment(version)}"
    return Notice("submission_rejected", at, text, path, owner, bot, version, details={"reason": why})


def bot_faulted(
    at: datetime, owner: str, bot: str, version: str, ladder: str, match: str, faults: int, end_cause: str
) -> Notice:
    """Return the notice of the first match with a fault after one without."""
    count = "a fault" if faults == 1 else f"{faults} faults"
    text = f"{owner}/{bot}:{version} made {count} in match {match} on ladder {ladder}."
    details = {"match": match, "faults": faults, "end_cause": end_cause}
    return Notice("bot_faulted", at, text, f"/matches/{_segment(match)}", owner, bot, version, ladder, details)


def bot_paused(at: datetime, owner: str, bot: str, version: str, ladder: str, match: str, cause: str) -> Notice:
    """Return the notice of a version that was paused by a match."""
    text = _sentence(f"{owner}/{bot}:{version} is paused: {cause}")
    details = {"match": match, "reason": cause}
    return Notice("bot_paused", at, text, f"/matches/{_segment(match)}", owner, bot, version, ladder, details)


def bot_overtaken(
    at: datetime, owner: str, bot: str, ladder: str, place: int, others: Sequence[tuple[str, str]]
) -> Notice:
    """Return the notice of a bot that has others above it which were below, or had no place.

    Args:
        at: When the ranking was computed.
        owner: Owner of the bot.
        bot: Name of the bot.
        ladder: The ladder.
        place: Place of the bot now.
        others: Owner and name of each bot that overtook it, the best first.
    """
    text = f"{_names(others)} overtook {owner}/{bot} on ladder {ladder}; it is in place {place} now."
    details = {
        "place": place,
        "overtaken_by": [{"owner": other_owner, "bot": other} for other_owner, other in others[:MAX_NAMED]],
        "overtaken_by_count": len(others),
    }
    path = f"/ladders/{_segment(ladder)}"
    return Notice("bot_overtaken", at, text, path, owner, bot, ladder=ladder, details=details)


def bot_separated(
    at: datetime,
    owner: str,
    bot: str,
    ladder: str,
    above: Sequence[tuple[str, str]],
    below: Sequence[tuple[str, str]],
) -> Notice:
    """Return the notice of a bot whose rank range no longer overlaps with those of others.

    Args:
        at: When the ranking was computed.
        owner: Owner of the bot.
        bot: Name of the bot.
        ladder: The ladder.
        above: Owner and name of each of them that is surely better now, the best first.
        below: The same of those that are surely worse.
    """
    parts = [f"{word} {_names(bots)}" for word, bots in (("below", above), ("above", below)) if bots]
    text = f"{owner}/{bot} is now surely {' and '.join(parts)} on ladder {ladder}."
    details = {
        name: [{"owner": other_owner, "bot": other} for other_owner, other in bots[:MAX_NAMED]]
        for name, bots in (("above", above), ("below", below))
    }
    path = f"/ladders/{_segment(ladder)}"
    return Notice("bot_separated", at, text, path, owner, bot, ladder=ladder, details=details)


def match_over(
    at: datetime, owner: str, bot: str, version: str, ladder: str, match: str, place: int, seats: int
) -> Notice:
    """Return the notice of a match that a bot has finished."""
    text = f"{owner}/{bot}:{version} came in place {place} of {seats} in match {match} on ladder {ladder}."
    details = {"match": match, "place": place, "seats": seats}
    return Notice("match_over", at, text, f"/matches/{_segment(match)}", owner, bot, version, ladder, details)


def ladder_frozen(frozen: datetime, ladder: str, audience: Collection[str]) -> Notice:
    """Return the notice of a ladder that starts no match from `frozen` on."""
    text = f"Ladder {ladder} starts no matches from {frozen.astimezone(UTC):%Y-%m-%d %H:%M} UTC on."
    path = f"/ladders/{_segment(ladder)}"
    return Notice("ladder_frozen", frozen, text, path, ladder=ladder, audience=audience)


def season_over(
    at: datetime, series: str, name: str, number: int, ladder: str, champion: str, audience: Collection[str]
) -> Notice:
    """Return the notice of a season that ended.

    Args:
        at: When it ended.
        series: ID of its series.
        name: Name of the series.
        number: Number of the season.
        ladder: Ladder of its first division, whose terms decide who may know.
        champion: Owner and name of the bot that won it; empty if none did.
        audience: Owners of its bots.
    """
    won = f"{champion} won it" if champion else "no bot won it"
    text = f"Season {number} of {name} is over: {won}."
    details = {"series": series, "season": number, "champion": champion or None}
    path = f"/events/{_segment(series)}/{number}"
    return Notice("season_over", at, text, path, ladder=ladder, details=details, audience=audience)


def test_over(
    at: datetime, event: str, ladder: str, new: Sequence[str], old: Sequence[str], outcome: str, boards: int
) -> Notice:
    """Return the notice of a version test that ended.

    Args:
        at: When it ended.
        event: ID of the test.
        ladder: Its ladder.
        new: Owner, bot and version of the version that might be better.
        old: The same of the version that it was compared with.
        outcome: How it ended.
        boards: Number of its boards that count.
    """
    owner, bot, version = new
    _, old_bot, old_version = old
    count = "1 board" if boards == 1 else f"{boards:,} boards"
    text = (
        f"The test of {owner}/{bot}:{version} against {owner}/{old_bot}:{old_version} on ladder {ladder} "
        f"is over after {count}: {outcome}."
    )
    details = {"test": event, "old_bot": old_bot, "old_version": old_version, "outcome": outcome, "boards": boards}
    return Notice("test_over", at, text, f"/tests/{_segment(event)}", owner, bot, version, ladder, details)


def tournament_begins(at: datetime, event: str, ladder: str, bots: int, audience: Collection[str]) -> Notice:
    """Return the notice of a tournament that begins, for the owners of its bots."""
    text = f"A tournament of {bots} bots begins on ladder {ladder}."
    details = {"tournament": event, "bots": bots}
    path = f"/events/{_segment(event)}"
    return Notice("tournament_begins", at, text, path, ladder=ladder, details=details, audience=audience)


def test_of(at: datetime, receiver: int) -> Notice:
    """Return a notice that tries out a receiver."""
    return Notice(TEST, at, f"This is a test of receiver {receiver}.", "/me", details={"receiver": receiver})


def _names(bots: Sequence[tuple[str, str]]) -> str:
    named = ", ".join(f"{owner}/{bot}" for owner, bot in bots[:MAX_NAMED])
    return f"{named} and {len(bots) - MAX_NAMED} more" if len(bots) > MAX_NAMED else named


def _segment(name: str) -> str:
    return quote(name, safe="")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _json(content: Mapping[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
