"""A match for the check of a bot: the bot has one seat, the others answer at random, the same each time.

This module knows the match and its messages, no scenario; the time of each reply is handed in.
"""

from __future__ import annotations

import random
from hashlib import sha256
from typing import Final

from cutpurse.check.guest import Guest, HostTable
from cutpurse.check.local_match import CONTROL, match_ended, match_started
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import IllegalAnswer
from cutpurse.engine.match import CORRECTIONS, EndCause, Match
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder

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
        control: TimeControl = CONTROL,
    ) -> None:
        """Start a match.

        Args:
            guest: The bot.
            game: Name of the game.
            number: Determines the deal and the bot's seat.
            seats: Number of seats. Default: the game's usual number.
            extra: Appended to every message.
            nonce_ms: Time for a nonce; 0: none is asked for.
            control: Time control, as the bot is informed of it.
        """
        rules = GAMES[game]
        seats = seats or rules.usual_seats
        self.guest = guest
        self.game = game
        self.seat = number % seats
        self.extra = extra
        self.control = control
        self.bank_left_ms = float(control.bank_ms)
        names = tuple([guest.hello.bot if seat == self.seat else "random" for seat in range(seats)])
        name = sha256(f"cutpurse/check/{game}/{number}".encode()).hexdigest()
        self.match = Match(rules, names, bytes.fromhex(name), log=True, ask_all=True)  # as on a server
        self.encoder = MatchEncoder(rules, self.match.game.settings, seats)
        self.chance = random.Random(name)
        self.events_sent = 0
        started = match_started(game, self.match.game.settings, names, self.seat, name[:16], control)
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
        open_decision = self.match.decision(self.seat)
        return None if open_decision is None else open_decision.number

    @property
    def options(self) -> int:
        """The number of options of the open decision."""
        open_decision = self.match.decision(self.seat)
        return len(open_decision.options) if open_decision is not None else 0

    def _play_others(self) -> None:
        while open_decision := next(
            (candidate for candidate in self.match.decisions() if candidate.seat != self.seat), None
        ):
            count = len(open_decision.options)
            self.match.answer(
                open_decision.seat, open_decision.number, int(self.chance.random() * count) if count > 1 else 0
            )

    def put(self) -> None:
        """Send the open decision to the bot."""
        open_decision = self.match.decision(self.seat)
        assert open_decision is not None
        hello, log = self.guest.hello, self.match.game.log
        assert log is not None
        encoder = self.encoder
        body = encoder.decision(
            table=self.table.number,
            number=open_decision.number,
            ask=open_decision.ask,
            options=open_decision.options,
            observation=encoder.observation_of(self.match.game, self.seat, "agenda" in hello.features),
            events=encoder.events(DECISION_EVENTS, log[self.events_sent :], self.seat) if hello.events else b"",
            first_event=self.events_sent,
            base_left_ms=self.control.base_ms,
            bank_left_ms=max(0, int(self.bank_left_ms)),
            safe_option=self.match.safe_option(self.seat),
        )
        self.events_sent = len(log)
        self.guest.ask(self.table, open_decision.number + 1, body + self.extra)

    def spend(self, seconds: float) -> bool:
        """Take from the bank what a reply after this time costs, as `engine.clocks`; return whether it was in time."""
        control = self.control
        self.bank_left_ms -= max(0.0, seconds * 1_000 - control.grace_ms - control.base_ms)
        return self.bank_left_ms >= 0

    def take(self) -> str:
        """Judge the bot's reply as a server would, and continue; return what was wrong with it, if anything."""
        reply, open_decision = self.table.reply, self.match.decision(self.seat)
        assert reply is not None
        assert open_decision is not None
        if isinstance(reply, arena_pb2.GiveUp):
            reason = " ".join(reply.reason.split())[:200]
            self.gave_up.append(reason)
            if reply.whole_match:
                self.match.take_over(self.seat, EndCause.CRASHED, reason)
            else:
                self.match.give_up(self.seat, open_decision.number, reason)
            self.guest.accept(self.table)
            self._play_others()
            return f"it gave up at decision {reply.decision} ({open_decision.ask}): {reason or 'it did not say why'}"
        option = reply.option if reply.HasField("option") else -1
        try:
            self.match.answer(self.seat, open_decision.number, option)
        except IllegalAnswer:
            left = self.match.corrections_left(self.seat) if self.match.decision(self.seat) is open_decision else 0
            self.refuse(left)
            if not left:
                self._play_others()
            said = str(option) if option >= 0 else "without an option"
            possible = f"which has options 0 to {len(open_decision.options) - 1}"
            return f"it answered {said} to decision {reply.decision} ({open_decision.ask}), {possible}"
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
        open_decision = self.match.decision(self.seat)
        assert open_decision is not None
        self.match.fault(self.seat, open_decision.number, cause, "so says the check")
        self._play_others()

    def end(self) -> None:
        """End the match for the bot; an unfinished match becomes void."""
        if not self.match.over:
            self.match.void(EndCause.VOID_OPERATOR)
        log = self.match.game.log
        assert log is not None
        events = (
            self.encoder.events(ENDED_EVENTS, log[self.events_sent :], self.seat) if self.guest.hello.events else b""
        )
        self.guest.end(
            self.table, match_ended(self.table.number, self.match.result(), self.events_sent, events) + self.extra
        )
