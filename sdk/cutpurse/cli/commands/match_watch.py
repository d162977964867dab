"""`cutpurse match watch`: matches of a server while they are played."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Server, ladder_named, local_time, open_league, short
from cutpurse.cli.screen import Screen
from cutpurse.cli.view_row import view_row
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.record import event_to_json
from cutpurse.process.terminal import json_text, print_message
from cutpurse.sdk.text_view import event_lines, render_table
from cutpurse.sdk.views import VIEWS
from cutpurse.wire.errors import ServerUnreachable

if TYPE_CHECKING:
    from cutpurse.engine.events import Event
    from cutpurse.engine.view import View
    from cutpurse.sdk.matches.watching import WatchBegin, Watched, WatchEnd, WatchUpdate
    from cutpurse.sdk.views.base import GameView
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["watch"]

GIVES_UP_S: Final = 60.0  # after a lost stream, seconds without a server before giving up
LOOK_S: Final = 0.2  # longest delay of an interrupt
SILENCE_S: Final = 3.0  # seconds without a match on a ladder before the reason is printed
ASKS_S: Final = 30.0  # between checks for a new reason
_PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0)  # between attempts to reconnect; the last one repeats


def watch(
    match: Annotated[
        str | None, typer.Argument(metavar="MATCH", help="Match ID, or its first 8 or more characters.")
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Watch the matches of this ladder, one after another, until stopped.",
            autocompletion=complete_ladders,
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            metavar="S", help="Show the view of this seat, without delay; needs the token of the bot's owner."
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per update.")] = False,
) -> None:
    """Follow a match, or a ladder, as it is played; spectators see it some seconds later than the bots.

    Ctrl-C ends it. A lost stream is opened again.

    Example: cutpurse match watch --ladder greed
    """
    from cutpurse.sdk.matches.watching import watched
    from cutpurse.v1 import ladder_pb2

    if bool(match) == bool(ladder):
        raise UsageError("name a match, or with --ladder a ladder")
    if seat is not None and (ladder or not 0 <= seat < 2**32):
        raise UsageError(f"--seat {seat}: one seat of a match that is named, from 0")
    request = ladder_pb2.WatchMatchRequest(match=match or "", ladder=ladder or "", seat=seat)
    show = _JsonLines() if as_json else _Pictures(Screen(sys.stdout))
    with open_league(server, ca, None) as league:
        why = partial(_why_nothing_comes, league, ladder) if ladder else None
        steps = _Told(watched(_messages(league, request), seat), why)
        for step in steps:
            show(step, steps.behind)


# -- messages
def _messages(league: League, request: ladder_pb2.WatchMatchRequest) -> Iterator[ladder_pb2.WatchMatchResponse]:
    """Yield the server's messages, and reconnect lost streams.  Raises what the calls of `League` raise."""
    has_begun, lost_at, tries = False, 0.0, 0
    while True:
        try:
            for message in league.WatchMatch(request):
                has_begun, lost_at, tries = True, 0.0, 0
                yield message
            return
        except ServerUnreachable as problem:
            now = time.monotonic()
            lost_at = lost_at or now
            if not has_begun or now - lost_at > GIVES_UP_S:
                raise
            if not tries:
                print_message(f"the stream was lost: {problem}; reconnecting")
            time.sleep(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)])
            tries += 1


def _why_nothing_comes(league: League, ladder: str) -> str:
    """Return the reason why no match of a ladder is shown; empty if the server does not answer."""
    try:
        there = ladder_named(league, ladder)
    except CutpurseError:
        return ""  # the watch call itself ends or reconnects
    if there.is_frozen:
        since = local_time(there.defined.terms.frozen_ms)
        return f"ladder {ladder} is frozen since {since}: no match starts there"
    bots = "" if there.bots or there.tables else ", and no bot is online"
    return f"no match of ladder {ladder} is being played{bots}; the next match is shown when it starts"


class _Told:
    """The steps of the matches, read in a separate thread so that the server never waits for the display."""

    def __init__(self, steps: Iterator[Watched], why: Callable[[], str] | None = None) -> None:
        """Start to read.  `why` returns a message to print after a time without a match; it is printed once."""
        self._why = why
        self._said = ""
        self._waiting: SimpleQueue[Watched | BaseException | None] = SimpleQueue()
        Thread(target=self._read, args=(steps,), name="watching", daemon=True).start()

    @property
    def behind(self) -> int:
        """The number of steps that wait to be shown."""
        return self._waiting.qsize()

    def _read(self, steps: Iterator[Watched]) -> None:
        try:
            for step in steps:
                self._waiting.put(step)
        except Exception as problem:  # raised by the iterator
            self._waiting.put(problem)
        else:
            self._waiting.put(None)

    def __iter__(self) -> Iterator[Watched]:
        from cutpurse.sdk.matches.watching import WatchEnd

        asks_at: float | None = time.monotonic() + SILENCE_S  # None while a match is shown
        while True:
            try:
                step = self._waiting.get(timeout=LOOK_S)  # without one, Ctrl-C waits too on some systems
            except Empty:
                if self._why is not None and asks_at is not None and time.monotonic() >= asks_at:
                    self._say(self._why())
                    asks_at = time.monotonic() + ASKS_S
                continue
            if step is None:
                return
            if isinstance(step, BaseException):
                raise step
            yield step
            asks_at = time.monotonic() + SILENCE_S if isinstance(step, WatchEnd) else None

    def _say(self, why: str) -> None:
        if why and why != self._said:
            self._said = why
            print_message(why)


# -- for people
class _Pictures:
    """A display of events and the table."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.names: tuple[str, ...] = ()
        self._last: View | None = None

    def __call__(self, step: Watched, behind: int) -> None:
        from cutpurse.sdk.matches.watching import WatchBegin, WatchEnd

        if isinstance(step, WatchBegin):
            self.names = step.names
            self._last = None
            self.screen.show(_began_lines(step), render_table(self._view(step, (), 0), self.names), behind)
        elif isinstance(step, WatchEnd):
            self.screen.say(_over_lines(step, self.names))
        else:
            view = self._view(step, step.events, step.first_event)
            self.screen.show(event_lines(view), render_table(view, self.names), behind)

    def _view(self, step: WatchBegin | WatchUpdate, events: Sequence[Event], first_event: int) -> GameView[Any]:
        """Return the view of a step with the names of its game, and the events that led to it."""
        view, before, self._last = step.view, self._last, step.view
        return VIEWS[step.table.game](lambda: view, lambda: list(events), first_event, before)


def _began_lines(step: WatchBegin) -> list[str]:
    table = step.table
    who = "a spectator" if step.seat is None else f"seat {step.seat}"
    when = f", {step.delay_ms / 1_000:g} s later than the bots" if step.delay_ms else ""
    where = f" on {table.ladder}" if table.ladder else ", which is not rated"
    return [f"match {short(table.match)} of {table.game}{where}, as {who} sees it{when}"]


def _over_lines(step: WatchEnd, names: tuple[str, ...]) -> list[str]:
    result = step.result
    lines = [f"match {short(step.table.match)} is over"]
    if result.places:
        lines += [
            f"  seat {seat} ({name}): place {result.places[seat]}, score {result.scores[seat]:,}, "
            f"{result.end_causes[seat].value}"
            for seat, name in enumerate(names)
        ]
    else:
        lines.append(f"  it is void: {result.end_causes[0].value}")
    if step.broken_promise == "":
        lines.append("  the deal was fixed in advance: the published seed matches the commitment")
    elif step.broken_promise:
        lines.append(f"  WARNING: {step.broken_promise}")
    return [*lines, ""]


# -- for programs
class _JsonLines:
    """An output of one line of JSON for each beginning and end of a match, and for each event."""

    def __call__(self, step: Watched, behind: int) -> None:
        from cutpurse.sdk.matches.watching import WatchBegin, WatchEnd, WatchUpdate

        match step:
            case WatchBegin():
                self._write(_began_row(step))
            case WatchUpdate():
                for row in _event_rows(step, step.at_ms):
                    self._write(row)
            case WatchEnd():
                for row in [*_event_rows(step, None), _over_row(step)]:
                    self._write(row)

    def _write(self, row: dict[str, Any]) -> None:
        sys.stdout.write(f"{json_text(row)}\n")
        sys.stdout.flush()


def _began_row(step: WatchBegin) -> dict[str, Any]:
    table = step.table
    return {
        "match": table.match,
        "began": {
            "ladder": table.ladder or None,
            "game": table.game,
            "rules_version": table.info.rules.words.version,
            "settings": table.info.settings.changed(),
            "seats": list(step.names),
            "seat": step.seat,
            "delay_ms": step.delay_ms,
            "commitment": table.commitment.hex(),
            "view": view_row(step.view),
        },
    }


def _event_rows(step: WatchUpdate | WatchEnd, at_ms: int | None) -> list[dict[str, Any]]:
    return [
        {"match": step.table.match, "at_ms": at_ms, "number": number, "event": event_to_json(event)}
        for number, event in enumerate(step.events, step.first_event)
    ]


def _over_row(step: WatchEnd) -> dict[str, Any]:
    result = step.result
    return {
        "match": step.table.match,
        "over": {
            "places": list(result.places),
            "scores": list(result.scores),
            "end_causes": [cause.value for cause in result.end_causes],
            "rated": step.rated,
            "seed": step.seed.hex(),
            "params": step.params.decode(errors="replace"),
            "broken_promise": step.broken_promise or None,
        },
    }
