"""The choice of opponents on a ladder: mostly bots near in pairing skill, and sometimes one that is far.

The bot with the fewest matches sits first. For each further seat, a target skill is drawn around its own from a Cauchy
distribution. Half of that lies within its width, and its tails are heavy. The bot nearest to the target sits down,
among those that have not played much more than the others. The width is beta, the performance noise. It is limited to
the range that holds half of the bots; otherwise all would count as near in a game with much noise.

So most matches separate bots of similar skill, and enough of them connect the whole scale. A ladder of near pairs alone
would converge slowly. Ties are broken by fewest matches, then by fewest meetings with the others, then by chance, which
is passed in.

This module knows no ladder and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, tan
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.server.matches.roster import PairingCandidate

__all__ = ["MOST_WORDS", "SLACK", "choose_opponents", "pick_least_played", "pairing_reason"]

SLACK: Final = 2  # matches that a bot may have played more than the one with the fewest
MOST_WORDS: Final = 300  # maximum characters of a reason
STEPS: Final = 4  # steps per width: bots within one step are equally near
MOST_ASKED: Final = 16  # maximum equals whose meetings are compared
_SHARES: Final = 1 << 30


def choose_opponents(
    free: Sequence[PairingCandidate], seats: int, beta: float, chance: Chance
) -> list[PairingCandidate] | None:
    """Choose the bots of a match, the one with the fewest matches first.

    Returns:
        The bots; None if too few different ones are free.
    """
    if len(free) < seats or not free:
        return None
    width = _width(free, beta)
    chosen = [pick_least_played(free, chance)]
    rest: Iterable[PairingCandidate] = free
    while len(chosen) < seats:
        side = chosen[-1].side
        rest = [entry for entry in rest if entry.side != side]
        if not rest:
            return None
        target = chosen[0].mu + width * tan(pi * ((chance.below(_SHARES) + 0.5) / _SHARES - 0.5))
        chosen.append(_nearest(rest, chosen, target, width, chance))
    return chosen


def pick_least_played(entries: Iterable[PairingCandidate], chance: Chance) -> PairingCandidate:
    """Return one of the bots with the fewest matches."""
    least: int | None = None
    equals: list[PairingCandidate] = []
    for entry in entries:
        matches = entry.matches
        if least is None or matches < least:
            least = matches
            equals = [entry]
        elif matches == least:
            equals.append(entry)
    return _one_of(equals, chance)


def _width(free: Sequence[PairingCandidate], beta: float) -> float:
    """Return how far away half of the opponents are looked for.

    It is beta, or half the range of the middle half of all skills if that is less.
    """
    mus = sorted([entry.mu for entry in free])
    spread = (mus[len(mus) * 3 // 4] - mus[len(mus) // 4]) / 2
    return min(beta, spread) if spread > 0.0 else beta


def _nearest(
    entries: Sequence[PairingCandidate], chosen: Sequence[PairingCandidate], target: float, width: float, chance: Chance
) -> PairingCandidate:
    """Return the bot nearest to the target, in steps.

    Ties are broken by fewest matches, then by fewest meetings with the chosen bots.
    """
    most = min([entry.matches for entry in entries]) + SLACK
    per_step = STEPS / width
    best, fewest_matches = 0, -1
    equals: list[PairingCandidate] = []
    for entry in entries:
        matches = entry.matches
        if matches > most:
            continue
        away = int(abs(entry.mu - target) * per_step)
        if not equals or away < best or (away == best and matches < fewest_matches):
            best, fewest_matches = away, matches
            equals = [entry]
        elif away == best and matches == fewest_matches:
            equals.append(entry)
    if len(equals) > 1:
        if len(equals) > MOST_ASKED:
            first = chance.below(len(equals) - MOST_ASKED + 1)
            equals = equals[first : first + MOST_ASKED]
        mets = [other.met for other in chosen]
        met = [sum([counts[entry.side] for counts in mets]) for entry in equals]
        least = min(met)
        equals = [entry for entry, count in zip(equals, met, strict=True) if count == least]
    return _one_of(equals, chance)


def _one_of(equals: Sequence[PairingCandidate], chance: Chance) -> PairingCandidate:
    return equals[chance.below(len(equals))] if len(equals) > 1 else equals[0]


def pairing_reason(
    chosen: Sequence[PairingCandidate], house: Sequence[PairingCandidate], does: str, beta: float
) -> str:
    """Describe why these bots meet.  `does` says what the house bots among them are there for."""
    first = chosen[0]
    parts = [f"{first.player.identity.shown} had fewest matches ({first.matches})"]
    company = []
    for entry in chosen[1:]:
        away = abs(entry.mu - first.mu) / beta
        company.append(f"{entry.player.identity.shown} {'near' if away <= 1.0 else 'far'} ({away:.1f} beta)")
    if company:
        parts.append(", ".join(company))
    parts += [f"{entry.player.identity.shown} {does}" for entry in house]
    text = "; ".join(parts)
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 3] + "..."
