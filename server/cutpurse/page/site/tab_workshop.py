"""The bot that a reader writes in the tab: matches against house bots, its faults, a comparison, and its folder.

It loads and plays the bot as `cutpurse play` and `cutpurse compare` do. Before the bot's code runs it sends where that
is, so that the page can name a bot that never returns. This module knows no browser.
"""

from __future__ import annotations

import io
import json
import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.lab.comparison import compare
from cutpurse.leaderboard.statistics.sprt import Design, Sprt, State
from cutpurse.page.language.speaking import gettext
from cutpurse.page.site.tab_file import environment
from cutpurse.sdk.bot import BotMaker, load_bot, where_a_bot_was, where_it_failed
from cutpurse.sdk.local import Failure, LocalMatch, LocalRun, play
from cutpurse.sdk.starter.folder import write_starter
from cutpurse.wire.packing import pack

__all__ = ["MATCHES", "TRIAL", "Workshop"]

BOT: Final = "my_bot.py"
BEFORE: Final = "before.py"  # the version that it is compared with
TRIAL: Final = 5  # matches after which a bot with faults plays no more; nor does any against `search`, which is slow
MATCHES: Final = {"random": 100, "greedy": 100}
DESIGN: Final = Design(max_boards=400)  # a minute for most games
MAX_SHOWN: Final = 20_000  # characters of what a bot prints
MAX_PRINTED: Final = 2_000_000  # after which it is stopped
OUT_OF_MEMORY: Final = "MemoryError"
_LINE: Final = re.compile(rf"{re.escape(BOT)}:(\d+)")


class _Stopped(BaseException):
    """The reason why a bot was stopped; no bot catches it as an Exception."""


class _Prints(io.TextIOBase):
    """What a bot prints: the beginning is stored, and a bot that goes on and on is stopped."""

    def __init__(self) -> None:
        self.text = ""
        self._length = 0

    def write(self, text: str) -> int:
        """Take some text.  Raises _Stopped if it is too much."""
        self.text += text[: MAX_SHOWN - len(self.text)]
        self._length += len(text)
        if self._length > MAX_PRINTED:
            raise _Stopped(gettext("it printed more than %(count)s characters", count=f"{MAX_PRINTED:,}"))
        return len(text)


class _Count:
    """A count of matches and of first places, sent after each match."""

    def __init__(self, matches: int, send: Callable[..., None]) -> None:
        self._matches = matches
        self._send = send
        self._first_places = 0

    def __call__(self, match: LocalMatch) -> None:
        """Count a match."""
        self._first_places += match.places[0] == 1
        done, first = match.match + 1, self._first_places
        text = gettext("%(done)s of %(all)s matches, first in %(first)s", done=done, all=self._matches, first=first)
        self._send("counted", text=text)


class Workshop:
    """The workshop of a tab."""

    def __init__(self, send: Callable[[str, str], None]) -> None:
        """Set up; `send` gets the kind of a message and its data, as JSON."""
        self._sender = send
        self._folder = ""
        self._match = ""  # that is played, in words
        self._where = ""  # the bot's code runs, in words

    def run(self, game: str, source: str, opponent: str, seed: str) -> None:
        """Play matches against copies of a house bot, and send a table of results and a record.

        The record is of the first match in which the bot had its worst place. A bot that fails in its first matches
        plays no more of them.
        """
        with self._at_work(game) as folder:
            others = [load_bot(opponent)] * (game_named(game).usual_seats - 1)
            bots = [self._loaded(folder / BOT, source), *others]
            records = folder / "records.jsonl"
            for matches in sorted({TRIAL, MATCHES.get(opponent, TRIAL)}):
                count = _Count(matches, self._send)
                begin, watch = self._begin_match, self._watch
                played = play(
                    game, bots, matches=matches, seed=seed, record=records, progress=begin, watch=watch, on_match=count
                )
                if played.failures:
                    break
            worst = max(played.rows, key=lambda row: row.places[0])
            record = records.read_text(encoding="utf-8").splitlines()[worst.match]
            self._send("results", html=_table(played), lost=worst.places[0] > 1, record=record)
            self._faults(played.failures, played.faults)

    def compare(self, game: str, source: str, before: str, opponent: str, seed: str) -> None:
        """Play the same deals with both versions of the bot, and send the verdict."""

        def progress(state: State) -> None:
            self._begin(gettext("board %(number)s", number=state.boards))
            if state.boards:
                self._send("counted", text=Sprt(state).result().reason)

        with self._at_work(game) as folder:
            done = compare(
                game,
                self._loaded(folder / BOT, source),
                self._loaded(folder / BEFORE, before),
                field=[opponent],
                seed=seed,
                design=DESIGN,
                progress=progress,
                watch=self._watch,
            )
            failed = gettext(
                "no verdict: %(bot)s failed on %(count)s of %(boards)s boards",
                bot=BOT,
                count=done.taken_over[0],
                boards=done.result.boards,
            )
            self._send("verdict", text=done.result.reason if done.has_verdict else failed)
            self._faults(done.failures)

    def pack(self, game: str, source: str, name: str, for_league: bool) -> None:
        """Send the folder of `cutpurse bot init` with this bot in it, or what a league needs of it, as a zip."""
        with self._at_work() as folder:
            self._begin(gettext("the match of its test"))
            own, new = folder / "own", folder / "new"
            own.mkdir()
            new.mkdir()
            try:
                files = write_starter(name, game, own, source)
            except CutpurseError:  # no test can be made of a bot with a fault, and its author may mend it elsewhere
                files = write_starter(name, game, new)
                files[0].write_text(source, encoding="utf-8")
            content = pack(files[0].parent).content if for_league else _zipped(files)
            self._send("packed", name=name, zip=b64encode(content).decode())

    # -- the bot's code at work
    @contextmanager
    def _at_work(self, game: str = "") -> Iterator[Path]:
        """Run a bot's code in a new folder; send what it printed, and why it could not go on."""
        prints = _Prints()
        try:
            with TemporaryDirectory() as path, redirect_stdout(prints), redirect_stderr(prints):
                self._folder = f"{path}/"
                if game:
                    self._measure(game)
                yield Path(path)
        except CutpurseError as problem:
            self._fault(str(problem))
        except BaseException as problem:  # of the bot: `play` takes faults only
            why = where_it_failed(problem, f"{self._folder}{BOT}")
            if isinstance(problem, _Stopped):
                why = f"{problem}{where_a_bot_was(problem)}"
            self._fault(gettext("%(bot)s was stopped in %(where)s: %(why)s", bot=BOT, where=self._where, why=why))
        self._send("done", prints=prints.text)

    def _measure(self, game: str) -> None:
        """Send how long a match takes here, so that a slow machine is not taken for a bot that never returns."""
        began = time.perf_counter()
        play(game, ["random"] * game_named(game).usual_seats)
        self._send("speed", seconds=time.perf_counter() - began)

    def _loaded(self, file: Path, source: str) -> BotMaker:
        """Load a bot.  Raises BotNotLoaded."""
        file.write_text(source, encoding="utf-8")
        self._begin(gettext("the import of %(file)s", file=file.name))
        return replace(load_bot(str(file)), name=file.name)

    def _begin(self, what: str) -> None:
        """Send that code of the bot may run now."""
        self._match = self._where = what
        self._send("asks", where=what, own=True)

    def _begin_match(self, done: int, _: int) -> None:
        self._begin(gettext("match %(number)s", number=done))

    def _watch(self, match: Match) -> None:
        """Send who is asked next.  Raises _Stopped if the bot has no memory left."""
        if match.faults and OUT_OF_MEMORY in match.faults[-1].reason:
            raise _Stopped(gettext("it used more than 1 GB of memory: %(why)s", why=match.faults[-1].reason))
        opened = match.decision()
        if opened is not None:
            self._where = gettext(
                "%(match)s, decision %(number)s (%(ask)s)", match=self._match, number=len(match.choices), ask=opened.ask
            )
            self._send("asks", where=self._where, own=match.seats[opened.seat] in (BOT, BEFORE))

    def _faults(self, failures: Sequence[Failure], counts: Sequence[int] = ()) -> None:
        """Send the first failure of each version."""
        for failure in failures:
            more = counts[failure.bot] - 1 if failure.bot < len(counts) else 0
            self._fault(failure.text() + (gettext(" (and %(count)s more faults)", count=f"{more:,}") if more else ""))

    def _fault(self, text: str) -> None:
        """Send a fault, with its line in the editor."""
        text = text.replace(self._folder, "")
        line = _LINE.search(text)
        self._send("fault", text=text, line=int(line[1]) if line else 0)

    def _send(self, kind: str, **data: object) -> None:
        self._sender(kind, json.dumps(data))


def _zipped(files: Sequence[Path]) -> bytes:
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    return made.getvalue()


def _table(played: LocalRun) -> str:
    """Return the table of results as HTML."""
    me, others = played.seats[0], played.seats[1:]
    chance = (1 + len(played.seats)) / 2
    low, high = me.place_interval
    return (
        environment()
        .get_template("tab_results.html")
        .render(
            seats=played.seats,
            me=me,
            matches=played.matches,
            opponent=others[0].bot,
            chance=chance,
            is_better=high < chance,
            is_worse=low > chance,
        )
    )
