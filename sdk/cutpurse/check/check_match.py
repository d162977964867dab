"""A match for the check of a bot: the bot has one seat, the others answer at random, the same each time.

This module knows the match and its messages, no scenario and no clock.
"""

from __future__ import annotations

import random
from hashlib import sha256
from typing import Final

from cutpurse.engine.errors import IllegalAnswer
from cutpurse.engine.match import CORRECTIONS, EndCause, Match
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder
from cutpurse.wire.guest import Guest, HostTable
from cutpurse.wire.local_match import match_ended, match_started

__all__ = ["Sitting"]

EXTRA: Final = 2_047  # number of a field that this version does not have


class Sitting:
    """The bot's seat in one match, and its table."""

    def __init__(
        self,
        guest: Guest,
        game: str,
        number: int,
        seats: int | None = None,
        extra: bytes = b"",
        nonce_ms: int = 0,
    ) -> None:
        """Start a match.

        Args:
            guest: The bot.
            game: Name of the game.
            number: Determines the deal and the bot's seat.
            seats: Number of seats. Default: the game's usual number.
            extra: Appended to every message.
            nonce_ms: Time for a nonce; 0: none is asked for.
        """
        rules = GAMES[game]
        seats = seats or rules.usual_seats
        self.guest = guest
        self.game = game
        self.seat = number % seats
        self.extra = extra
        names = tuple([guest.hello.bot if seat == self.seat else "random" for seat in range(seats)])
        name = sha256(f"cutpurse/check/{game}/{number}".encode()).hexdigest()
        self.match = Match(rules, names, bytes.fromhex(name), log=True, ask_all=True)  # as on a server
        self.encoder = MatchEncoder(rules, self.match.game.settings, seats)
        self.chance = random.Random(name)
        self.told = 0
        started = match_started(game, self.match.game.settings, names, self.seat, name[:16])
        started.nonce_ms = nonce_ms
        started.MergeFromString(extra)
        self.table: HostTable = guest.start(started)
        self.gave_up: list[str] = []
        self._play_others()

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.match.over

    @property
    def decision(self) -> int | None:
        """The number of the open decision in the engine; None if there is none."""
        asked = self.match.decision(self.seat)
        return None if asked is None else asked.number

    @property
    def options(self) -> int:
        """The number of options of the open decision."""
        asked = self.match.decision(self.seat)
        return len(asked.options) if asked is not None else 0

    def _play_others(self) -> None:
        while asked := next((one for one in self.match.decisions() if one.seat != self.seat), None):
            count = len(asked.options)
            self.match.answer(asked.seat, asked.number, int(self.chance.random() * count) if count > 1 else 0)

    def put(self) -> None:
        """Send the open decision to the bot."""
        asked = self.match.decision(self.seat)
        assert asked is not None
        hello, log = self.guest.hello, self.match.game.log
        assert log is not None
        encoder = self.encoder
        body = encoder.decision(
            table=self.table.number,
            number=asked.number,
            ask=asked.ask,
            options=asked.options,
            observation=encoder.observation_of(self.match.game, self.seat, "agenda" in hello.features),
            events=encoder.events(DECISION_EVENTS, log[self.told :], self.seat) if hello.events else b"",
            first_event=self.told,
            base_left_ms=1_000,
            bank_left_ms=10_000,
            safe_option=self.match.safe_option(self.seat),
        )
        self.told = len(log)
        self.guest.ask(self.table, asked.number + 1, body + self.extra)

    def take(self) -> str:
        """Judge the bot's reply as a server would, and continue; return what was wrong with it, if anything."""
        reply, asked = self.table.reply, self.match.decision(self.seat)
        assert reply is not None
        assert asked is not None
        if isinstance(reply, arena_pb2.GiveUp):
            reason = " ".join(reply.reason.split())[:200]
            self.gave_up.append(reason)
            if reply.whole_match:
                self.match.take_over(self.seat, EndCause.CRASHED, reason)
            else:
                self.match.give_up(self.seat, asked.number, reason)
            self.guest.accept(self.table)
            self._play_others()
            return f"it gave up at decision {reply.decision} ({asked.ask}): {reason or 'it did not say why'}"
        option = reply.option if reply.HasField("option") else -1
        try:
            self.match.answer(self.seat, asked.number, option)
        except IllegalAnswer:
            left = self.match.corrections_left(self.seat) if self.match.decision(self.seat) is asked else 0
            self.refuse(left)
            if not left:
                self._play_others()
            said = str(option) if option >= 0 else "without an option"
            possible = f"which has options 0 to {len(asked.options) - 1}"
            return f"it answered {said} to decision {reply.decision} ({asked.ask}), {possible}"
        self.guest.accept(self.table)
        self._play_others()
        return ""

    def refuse(self, corrections_left: int = CORRECTIONS) -> None:
        """Refuse the reply as illegal, whether it is or not."""
        self.guest.refuse(
            self.table,
            arena_pb2.REFUSAL_REASON_ILLEGAL,
            corrections_left=corrections_left,
            options_count=self.options,
            text="the check of the bot refuses this answer",
        )

    def safe(self, cause: EndCause) -> None:
        """Take the safe option for the bot, and continue the match."""
        asked = self.match.decision(self.seat)
        assert asked is not None
        self.match.fault(self.seat, asked.number, cause, "so says the check")
        self._play_others()

    def end(self) -> None:
        """End the match for the bot; an unfinished match becomes void."""
        if not self.match.over:
            self.match.void(EndCause.VOID_OPERATOR)
        log = self.match.game.log
        assert log is not None
        events = self.encoder.events(ENDED_EVENTS, log[self.told :], self.seat) if self.guest.hello.events else b""
        self.guest.end(self.table, match_ended(self.table.number, self.match.result(), self.told, events) + self.extra)
