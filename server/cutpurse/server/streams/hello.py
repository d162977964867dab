"""The first envelope: the bot's identity, and what it wants to play.

`introduction` checks a Hello against the protocol's version and the offered ladders, and knows no session. An error is
one line that names what was sent and what is possible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import did_you_mean
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import PERSON, Identity
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.access.owners import Grant, HostedBotIdentity
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from cutpurse.wire.version import PROTOCOL

__all__ = ["FEATURES", "Introduction", "introduction"]

FEATURES: Final = frozenset({"agenda", "nonces", "notes", "usage"})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")


@dataclass(frozen=True, slots=True)
class Introduction:
    """A bot's Hello, with every field checked."""

    identity: Identity
    token: str  # ID of its token; empty if the server requires none
    sdk: str  # printable
    minor: int  # minor protocol version that both sides speak
    max_tables: int
    events: bool  # it wants the events between its decisions
    features: frozenset[str]  # supported by both sides
    wanted: Mapping[str, Sequence[str]]  # ladders by game; () means every ladder; empty means every game
    most_tables: int = 2**32 - 1  # the maximum that `max_tables` may be set to
    declines_requests: bool = False  # only its owner may request matches with it
    forgets: bool = False  # it keeps no memory between matches
    one_match: OneMatch | None = None  # the only match that it plays, if limited to one
    is_run_here: bool = False  # it is a hosted bot
    is_for_tests: bool = False  # it is run for version tests alone

    def plays(self, game: str, ladder: str) -> bool:
        """Return whether it wants to be paired on this ladder of this game."""
        if not self.wanted:
            return True
        ladders = self.wanted.get(game)
        return ladders is not None and (not ladders or ladder in ladders)


def introduction(
    hello: arena_pb2.Hello, grant: Grant, offered: Mapping[str, Sequence[str]], limits: ServerLimits
) -> Introduction:
    """Read and check a Hello of a bot whose owner is known.

    Args:
        hello: The message.
        grant: What the bot's token permits.
        offered: Ladders by game that the owner can see; a game without any counts as not offered.
        limits: The server's limits.

    Raises:
        CallRefused: PROTOCOL_VERSION, RULES_VERSION, NOT_FOUND or HELLO.
    """
    offered = {game: names for game, names in offered.items() if names}
    major, minor = PROTOCOL
    if hello.protocol_major != major:
        raise CallRefused(
            "PROTOCOL_VERSION",
            f"the server speaks version {major}.{minor} of the protocol, the bot {hello.protocol_major}."
            f"{hello.protocol_minor}; use an SDK of version {major}",
        )
    resident = grant.resident
    bot, version = (hello.bot, hello.version or "1") if resident is None else (resident.bot, resident.version)
    most_tables = limits.house_tables if grant.owner == HOUSE else limits.most_tables
    if resident is not None:
        most_tables = min(resident.tables, most_tables)
    one_match = None if resident is None else resident.one_match
    if one_match is not None:
        most_tables = 1
    for field, name in (("bot", bot), ("version", version)):
        if not _NAME.fullmatch(name):
            raise CallRefused(
                "HELLO",
                f"Hello.{field} is '{legible(name, 40)}'; it can be 1 to 32 of a-z, 0-9, '_', '-' and '.', "
                "the first a letter or digit",
            )
    wanted = _narrowed(_wanted(hello.games, offered), grant.resident, offered)
    _check_person(bot, grant, wanted)
    if grant.is_person:
        version, most_tables = "1", 1  # so that all matches of a person are rated as one, and never two at once
    return Introduction(
        identity=Identity(grant.owner, bot, version),
        token=grant.token,
        sdk=legible(hello.sdk, 80),
        minor=min(minor, hello.protocol_minor),
        max_tables=min(hello.max_tables or limits.usual_tables, most_tables),
        events=hello.events,
        features=FEATURES.intersection(hello.features),
        wanted=wanted,
        most_tables=most_tables,
        declines_requests=hello.declines_requests or grant.is_person,
        forgets=grant.forgets,
        one_match=one_match,
        is_run_here=resident is not None,
        is_for_tests=resident is not None and resident.is_for_tests,
    )


def _check_person(bot: str, grant: Grant, wanted: Mapping[str, Sequence[str]]) -> None:
    """Check that a person has the name that is kept for people, and that no program has it.

    Raises:
        CallRefused: HELLO.
    """
    if bot == PERSON and not grant.is_person:
        raise CallRefused("HELLO", f"'{PERSON}' is the name of people who play on the page; give the bot another one")
    if grant.is_person and (bot != PERSON or [len(names) for names in wanted.values()] != [1]):
        raise CallRefused("HELLO", f"a person is called '{PERSON}', and names the one ladder to play on")


def _narrowed(
    wanted: Mapping[str, Sequence[str]], resident: HostedBotIdentity | None, offered: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """Limit what a hosted bot wants to play to the ladders of its submission.

    Raises:
        CallRefused: NOT_FOUND if nothing is left.
    """
    if resident is None or not resident.ladders:
        return wanted
    left = {
        game: names
        for game, there in offered.items()
        if (not wanted or game in wanted)
        and (names := tuple(name for name in there if name in resident.ladders and name in (wanted.get(game) or there)))
    }
    if not left:
        raise CallRefused(
            "NOT_FOUND",
            f"{resident.bot} was submitted for {', '.join(resident.ladders)}, and wants to play elsewhere; "
            "let it play all the games of those ladders",
        )
    return left


def _wanted(games: Sequence[arena_pb2.GameWanted], offered: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    wanted: dict[str, Sequence[str]] = {}
    for game in games:
        name = legible(game.game, 40)
        if game.game not in offered:
            raise CallRefused("NOT_FOUND", f"no game is called '{name}' here; there are: {', '.join(sorted(offered))}")
        version = GAMES[game.game].words.version
        if game.rules_version not in ("", version):
            raise CallRefused(
                "RULES_VERSION",
                f"the server plays rules version {version} of {name}, the bot was written for "
                f"'{legible(game.rules_version, 40)}'",
            )
        for ladder in game.ladders:
            if ladder not in offered[game.game]:
                raise CallRefused(
                    "NOT_FOUND",
                    f"no ladder of {name} is called '{legible(ladder, 40)}'"
                    f"{did_you_mean(ladder, offered[game.game])}; there are: "
                    f"{', '.join(sorted(offered[game.game]))}",
                )
        if game.game in wanted:
            raise CallRefused("HELLO", f"Hello.games names {name} twice; name it once, with all its ladders")
        wanted[game.game] = tuple(dict.fromkeys(game.ladders))  # a session stores them, so each only once
    return wanted
