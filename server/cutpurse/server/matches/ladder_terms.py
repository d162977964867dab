"""Who may play on which ladder, by its terms.

What is wrong is told in one line, which names no ladder that whoever asks may not see. This module knows no session, no
match and no clock: what is counted, and the time of day, are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.errors import CallRefused
from cutpurse.server.finished_match import HOUSE, Identity
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
    """The other bots that play on a ladder, house bots left out."""

    bots: int
    own: tuple[str, ...]  # those of the same owner, by their names: versions of a bot are one

    @classmethod
    def of(cls, identity: Identity, there: Iterable[Identity]) -> OtherEntrants:
        """Of those who are there, the others than this one."""
        others = [one for one in there if one != identity]
        own = [one.bot for one in others if one.owner == identity.owner and one.bot != identity.bot]
        return cls(len(others), tuple(dict.fromkeys(own)))


def may_play(ladder: Ladder, identity: Identity) -> bool:
    """Whether the terms of a ladder are for this bot: a house bot is named there, others by their owner, if any is."""
    terms = ladder.terms
    if identity.owner == HOUSE:
        return identity.bot in terms.house
    return not terms.owners or identity.owner in terms.owners


def may_see(ladder: Ladder, owner: str) -> bool:
    """Whether a ladder is there at all for this owner."""
    terms = ladder.terms
    return not (terms.is_private and terms.owners) or owner in (*terms.owners, HOUSE)


def paused_message(identity: Identity) -> str:
    """Format the message for a paused bot."""
    return (
        f"{identity.shown} is paused: it was taken over in too many of its recent rated matches. "
        "Mend it, then: cutpurse bot check BOT --lift"
    )


def frozen_message(ladder: Ladder) -> str:
    """Format the message about a frozen ladder."""
    frozen = ladder.terms.frozen
    since = f" since {frozen.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if frozen is not None else ""
    return f"ladder {ladder.name} is frozen{since}: no match begins there any more"


def check_entry(
    identity: Identity,
    wanted: Mapping[str, Sequence[str]],
    ladders: Iterable[Ladder],
    others_on: Callable[[Ladder], OtherEntrants],
    is_paused: bool,
    at: datetime,
    forgets: bool = False,
) -> None:
    """Whether a bot that wants to play these ladders of these games may come in.

    wanted: ladders by game, () is every ladder; empty is every game. Those named are all there. others_on: who else
    plays on a ladder now. forgets: it keeps no memory from match to match. Raises
    Refused: PAUSED, NOT_YOURS, FROZEN or FULL, for a ladder that is named, or if there is none left at all. A house bot
    is let in whatever ladders there are.
    """
    if identity.owner == HOUSE:
        return
    if is_paused:
        raise CallRefused("PAUSED", paused_message(identity))
    found: _Obstacle | None = None
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
            found = found or obstacle
    if found is not None and not has_one:
        raise CallRefused(*found)


def why_no_match(
    identity: Identity,
    plays: Callable[[str, str], bool],
    ladders: Iterable[Ladder],
    others_on: Callable[[Ladder], OtherEntrants],
    at: datetime,
    forgets: bool = False,
) -> tuple[str, str] | None:
    """Why no match begins any more for a bot that is there, as reason and text; None if one may, or for a house bot.

    plays: whether it wants to, by game and ladder. The others are those of `check_entry`.
    """
    if identity.owner == HOUSE:
        return None
    found: _Obstacle | None = None
    for ladder in ladders:
        if not plays(ladder.game, ladder.name):
            continue
        obstacle = _obstacle(ladder, identity, others_on, at, forgets)
        if obstacle is None:
            return None
        if may_see(ladder, identity.owner):
            found = found or obstacle
    return found or ("NOT_YOURS", "no ladder is left on which this bot may play; whoever runs the server says who may")


def _obstacle(
    ladder: Ladder, identity: Identity, others_on: Callable[[Ladder], OtherEntrants], at: datetime, forgets: bool
) -> _Obstacle | None:
    if not may_play(ladder, identity):
        text = f"ladder {ladder.name} is not for bots of {identity.owner}; whoever runs the server says who may play"
        return "NOT_YOURS", text
    if ladder.boards == "rotation" and not forgets:
        text = (
            f"ladder {ladder.name} plays rotations, where a bot meets the same cards again in another seat: only bots "
            "that the server runs itself and that keep no memory may play there; hand yours in, or name another ladder"
        )
        return "NOT_YOURS", text
    if ladder.is_frozen(at):
        return "FROZEN", frozen_message(ladder)
    if ladder.terms.is_limited and (text := why_full(ladder, identity, others_on(ladder))):
        return "FULL", text
    return None


def why_full(ladder: Ladder, identity: Identity, others: OtherEntrants) -> str:
    """Why a ladder has no place for a bot, no house bot, beside these others; empty if it has one."""
    most, of_owner = ladder.terms.most_bots, ladder.terms.most_per_owner
    if most and others.bots >= most:
        bots = "its one bot" if most == 1 else f"its {most} bots"
        return f"ladder {ladder.name} has {bots}; there is room when one of them leaves"
    if of_owner and len(others.own) >= of_owner and identity.owner != NOBODY:
        bots, gone = ("one bot", "it leaves") if of_owner == 1 else (f"{of_owner} bots", "one of them leaves")
        there = f"{identity.owner} has {', '.join(others.own[:of_owner])} there"
        return f"ladder {ladder.name} takes {bots} of an owner, and {there}; there is room when {gone}"
    return ""
