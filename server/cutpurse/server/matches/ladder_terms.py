"""Ladder terms: which bots may play on which ladder.

An obstacle is described in one line, which names no ladder that the asking owner may not see. This module knows no
session, no match and no clock: counts and the time of day are passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.server.errors import CallRefused
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.ladder_config import Ladder

__all__ = [
    "OtherEntrants",
    "check_entry",
    "frozen_message",
    "may_play",
    "may_see",
    "why_full",
    "why_no_match",
    "paused_message",
]

_Obstacle = tuple[str, str]  # reason and text


class OtherEntrants(NamedTuple):
    """The other bots on a ladder, without house bots."""

    bots: int
    own: tuple[str, ...]  # bots of the same owner, by name; all versions of a bot count once

    @classmethod
    def of(cls, identity: Identity, there: Iterable[Identity]) -> OtherEntrants:
        """Return the bots among `there` other than `identity`."""
        others = [bot for bot in there if bot != identity]
        own = [bot.bot for bot in others if bot.owner == identity.owner and bot.bot != identity.bot]
        return cls(len(others), tuple(dict.fromkeys(own)))


def may_play(ladder: Ladder, identity: Identity) -> bool:
    """Return whether the terms of a ladder admit this bot.

    The terms name their house bots. Other bots are admitted by owner; without a list of owners, every owner is. Owners
    who play in person need a term of their own. A division of a season admits its own bots. Nobody plays in this
    process on a hosted ladder.
    """
    if ladder.is_hosted:
        return False
    terms = ladder.terms
    if identity.owner == HOUSE:
        return identity.bot in terms.house
    if identity.is_person and not terms.admits_people:
        return False
    if ladder.members is not None and not ladder.members.admits(identity.owner, identity.bot):
        return False
    return not terms.owners or identity.owner in terms.owners


def may_see(ladder: Ladder, owner: str) -> bool:
    """Return whether a ladder is visible to this owner's bots; an inner one is only to those that play there."""
    terms = ladder.terms
    return not ((terms.is_private and terms.owners) or is_inner(terms)) or owner in (*terms.owners, HOUSE)


def paused_message(identity: Identity) -> str:
    """Format the message for a paused bot."""
    return (
        f"{identity.shown} is paused: it was taken over in too many of its recent rated matches. "
        "Mend it, then: cutpurse bot check BOT --unpause"
    )


def frozen_message(ladder: Ladder) -> str:
    """Format the message about a frozen ladder."""
    frozen = ladder.terms.frozen
    since = f" since {frozen.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if frozen is not None else ""
    return f"ladder {ladder.name} is frozen{since}: no match starts there"


def check_entry(
    identity: Identity,
    wanted: Mapping[str, Sequence[str]],
    ladders: Iterable[Ladder],
    others_on: Callable[[Ladder], OtherEntrants],
    is_paused: bool,
    at: datetime,
    forgets: bool = False,
) -> None:
    """Check that a bot may enter for the ladders that it wants to play.

    House bots may always enter.

    Args:
        identity: The bot.
        wanted: Names of existing ladders by game; () means every ladder of that game, and empty means every game.
        ladders: All ladders.
        others_on: Lists the other bots on a ladder.
        is_paused: Whether this version is paused.
        at: The time of day.
        forgets: Whether the bot keeps no memory between matches.

    Raises:
        CallRefused: PAUSED, NOT_YOURS, FROZEN or FULL, if a named ladder has an obstacle or every wanted ladder has
            one.
    """
    if identity.owner == HOUSE:
        return
    if is_paused:
        raise CallRefused("PAUSED", paused_message(identity))
    first: _Obstacle | None = None
    has_one = False
    for ladder in ladders:
        names = wanted.get(ladder.game) if wanted else ()
        if names is None or (names and ladder.name not in names):
            continue
        obstacle = _obstacle(ladder, identity, others_on, at, forgets)
        if obstacle is None:
            has_one = True
        elif names:
            raise CallRefused(*obstacle)
        elif may_see(ladder, identity.owner):
            first = first or obstacle
    if first is not None and not has_one:
        raise CallRefused(*first)


def why_no_match(
    identity: Identity,
    plays: Callable[[str, str], bool],
    ladders: Iterable[Ladder],
    others_on: Callable[[Ladder], OtherEntrants],
    at: datetime,
    forgets: bool = False,
) -> tuple[str, str] | None:
    """Return why an online bot can get no match, as reason and text; None if it can.

    For a house bot the answer is always None.

    Args:
        identity: The bot.
        plays: Whether the bot wants to play, by game and ladder.
        ladders: All ladders.
        others_on: Lists the other bots on a ladder.
        at: The time of day.
        forgets: Whether the bot keeps no memory between matches.
    """
    if identity.owner == HOUSE:
        return None
    first: _Obstacle | None = None
    for ladder in ladders:
        if not plays(ladder.game, ladder.name):
            continue
        obstacle = _obstacle(ladder, identity, others_on, at, forgets)
        if obstacle is None:
            return None
        if may_see(ladder, identity.owner):
            first = first or obstacle
    return first or ("NOT_YOURS", "this bot may not play on any ladder; ask the operator of the server")


def _obstacle(
    ladder: Ladder, identity: Identity, others_on: Callable[[Ladder], OtherEntrants], at: datetime, forgets: bool
) -> _Obstacle | None:
    if ladder.is_hosted:
        return "NOT_YOURS", f"ladder {ladder.name} is for submitted bots only: cutpurse bot submit FOLDER"
    if identity.is_person and not ladder.terms.admits_people:
        return "NOT_YOURS", f"ladder {ladder.name} admits programs only, and no people"
    if not may_play(ladder, identity):
        if ladder.members is not None and not ladder.members.admits(identity.owner, identity.bot):
            text = f"ladder {ladder.name} is a division of a season, and {identity.owner}/{identity.bot} is not in it"
            return "NOT_YOURS", f"{text}; name no ladder, and your bot plays in its own"
        text = f"ladder {ladder.name} is not for bots of {identity.owner}; ask the operator of the server"
        return "NOT_YOURS", text
    if ladder.boards == "rotation" and not forgets:
        text = (
            f"ladder {ladder.name} plays rotations, where a bot meets the same cards again in another seat: only bots "
            "that the server runs itself and that keep no memory may play there; hand yours in, or name another ladder"
        )
        return "NOT_YOURS", text
    if ladder.is_frozen(at) and not (ladder.members is not None and ladder.members.is_waiting):
        return "FROZEN", frozen_message(ladder)
    if ladder.terms.is_limited and (text := why_full(ladder, identity, others_on(ladder))):
        return "FULL", text
    return None


def why_full(ladder: Ladder, identity: Identity, others: OtherEntrants) -> str:
    """Return why a ladder has no room for this bot beside the others; empty if it has room.

    Not meant for house bots, which need no room.
    """
    most, of_owner = ladder.terms.most_bots, ladder.terms.most_per_owner
    if most and others.bots >= most:
        bots = "its one bot" if most == 1 else f"its {most} bots"
        return f"ladder {ladder.name} has {bots}; there is room when one of them leaves"
    if of_owner and len(others.own) >= of_owner and identity.owner != NOBODY:
        bots, gone = ("one bot", "it leaves") if of_owner == 1 else (f"{of_owner} bots", "one of them leaves")
        there = f"{identity.owner} has {', '.join(others.own[:of_owner])} there"
        return f"ladder {ladder.name} takes {bots} of an owner, and {there}; there is room when {gone}"
    return ""
