"""A match of a person against house bots in one process: who is asked, what the person sees, and the answers.

It streams what a browser shows in the form of the page's seat. This module knows no browser and draws no seed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.games import game_named
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.speaking import gettext
from cutpurse.page.match_view.drawing import changes, lines_of
from cutpurse.page.match_view.match_end import match_end
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.scores import decided, timeline, turning_points
from cutpurse.page.seat.moment import SeatPicture, with_clock
from cutpurse.page.site.addresses import THIS_TAB, with_relative_links
from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.playing.seating import MatchBots
from cutpurse.sdk.views.base import GameView
from cutpurse.wire.person_names import seat_counts

__all__ = ["HOUSE", "SEARCH_S", "TabTable"]

HOUSE: Final = ("random", "greedy", "search")  # opponents; `expert` needs numpy
SEARCH_S: Final = 4.0  # base time of a bot; `search` takes up to half of it
NO_ANSWER: Final = "first_option"  # sits on the person's seat, and is never asked


class _BotsWithTime(MatchBots):
    """Bots with as much time for each decision, so that the person does not wait long."""

    def choose(self, seat: int, view: GameView[Any], decision: Decision, again: bool) -> Any:
        began = time.monotonic()
        decision.keep_time(lambda: (SEARCH_S - (time.monotonic() - began), 0.0))
        return super().choose(seat, view, decision, again)


class TabTable:
    """A match of a person, from the deal to the end."""

    def __init__(
        self, game: str, opponents: Sequence[str], key: bytes, seat: int, file: str, send: Callable[[str, str], None]
    ) -> None:
        """Deal.

        Args:
            game: Name of the game.
            opponents: House bots, in the order of their seats.
            key: Seed of the match.
            seat: Seat of the person.
            file: File of the site from which links lead on.
            send: Gets the kind and the data of what the browser is to show.

        Raises:
            UsageError: If the game is unknown, or is not played with these opponents.
        """
        words = game_named(game).words
        counts = seat_counts(game, HOUSE)
        if len(opponents) + 1 not in counts or not {*opponents} <= {*HOUSE}:
            raise UsageError(
                gettext(
                    "%(game)s is played here with %(counts)s of the opponents %(bots)s",
                    game=words.title,
                    counts=f" {gettext('or')} ".join([str(count - 1) for count in counts]),
                    bots=", ".join(HOUSE),
                )
            )
        names = [*opponents]
        names.insert(seat, gettext("you"))
        bots = [*opponents]
        bots.insert(seat, NO_ANSWER)
        self._file = file
        self._send = send
        self._seat = seat
        self._names = names
        self._match = Match(game_named(game), names, key, log=True)
        self._bots = _BotsWithTime(self._match, bot_makers(bots))
        self._picture = SeatPicture(spoken(words), seat, names, THIS_TAB)
        self._seen = 0  # number of events that the person has seen
        self._step = 0
        self._lines: list[str] = []  # that the browser shows
        self._is_over = False

    def begin(self) -> None:
        """Show the table, and let the bots play until the person is asked."""
        self._picture.see(self._match.game.view(self._seat))
        self._show()
        self._go_on()

    def look(self) -> None:
        """Show the table as it is, to a browser that shows nothing of it."""
        self._lines = []
        self._show()

    def answer(self, number: int, option: int) -> str:
        """Answer the open decision, and let the bots play on; return why the answer is refused, or nothing."""
        question = self._match.decision(self._seat)
        if question is None or number != question.number + 1:
            return gettext("Decision %(decision)s is not open.", decision=str(number))
        if not 0 <= option < len(question.options):
            text = "%(option)s is none of the options; they have the numbers 0 to %(last)s."
            return gettext(text, option=str(option), last=len(question.options) - 1)
        self._picture.answered()
        self._match.answer(self._seat, question.number, option)
        self._see()
        self._go_on()
        return ""

    def _go_on(self) -> None:
        """Let the bots play until only the person is asked, or nobody."""
        match, seat = self._match, self._seat
        while bot := next((question for question in match.decisions() if question.seat != seat), None):
            self._bots.ask(bot)
            self._see()
        question = match.decision(seat)
        if question is None:
            self._end()
            return
        self._picture.ask(match.game.view(seat), *self._fresh(), question.options)
        self._show()

    def _fresh(self) -> tuple[list[Any], int]:
        """Return the events that the person has not seen, and the number of the first of them."""
        log, first = self._match.game.log or [], self._seen
        self._seen = len(log)
        return [event.to(self._seat) for event in log[first:]], first

    def _see(self) -> None:
        """Show what a bot did."""
        if self._picture.update(self._match.game.view(self._seat), *self._fresh()):
            self._show()

    def _end(self) -> None:
        result = self._match.result()
        self._bots.end(result)
        self._picture.end(result, *self._fresh())
        self._is_over = True
        self._send("record", write_record(self._match))
        self._show()

    def _show(self) -> None:
        """Send the state of the table, as changes of the one before."""
        question = self._match.decision(self._seat) if self._picture.choices else None
        number = question.number + 1 if question is not None else 0
        self._step += 1
        html = with_clock(self._picture.drawing(number, has_clock=False)(), 0, 0)
        before, self._lines = self._lines, lines_of(with_relative_links(html, self._file))
        kind, lines = ("step", changes(before, self._lines)) if before else ("whole", self._lines)
        self._send("status", json.dumps({"text": self._status(number), "trouble": False}))
        self._send(kind, json.dumps({"number": self._step, "lines": lines}))
        if self._is_over:
            self._send("over", "{}")

    def _status(self, number: int) -> str:
        if self._is_over:
            return gettext("The match is over.")
        return gettext("It is your turn.") if number else self._picture.thinking()

    def story(self) -> str:
        """Return a part of a page: the end of the match with all cards open, and how it was decided."""
        replayed = Replayed(read_record(write_record(self._match)), self._names)
        seat = self._seat
        best_first = sorted(range(replayed.seats), key=self._match.result().places.__getitem__)

        def link(index: int) -> str:
            return f"/matches/{THIS_TAB}/replay?at={index}"

        story: Mapping[str, Any] = {
            "decided": decided(replayed, link, seat),
            "timeline": timeline(replayed, None, link),
            "turning_points": turning_points(replayed, link, seat),
            "legend": [(other, self._names[other]) for other in best_first],
            "worst": (),
        }
        return with_relative_links(match_end(replayed, THIS_TAB, seat, story), self._file)
