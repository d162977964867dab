"""A bot that plays on a server until it is stopped.

    from cutpurse.sdk.run import run

    if __name__ == "__main__":
        run(Bot, "greed")

A notebook already runs an event loop; there, use `await connect(Bot, "greed")`.

`cutpurse bot run` does the same. Ctrl-C finishes the open matches and leaves; a second Ctrl-C leaves at once.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import game_named
from cutpurse.process.child_processes import ends_new_children
from cutpurse.process.program_command import PROGRAM
from cutpurse.process.signals import run_async
from cutpurse.process.terminal import ignore_closed_stderr, paint, print_message
from cutpurse.sdk.bot import BotMaker, bot_makers, check_not_loading
from cutpurse.sdk.bot_calls import hides_time, is_async, wants_events
from cutpurse.sdk.notes import prints_are_noted
from cutpurse.sdk.online.arena_streams import ArenaStreams
from cutpurse.sdk.online.bot_pool import PlayedMatch, RemoteBots
from cutpurse.sdk.online.client import Client, Companions, StayOptions
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.graceful_leave import leave_on_signal
from cutpurse.sdk.online.stored_times import StoredTimes
from cutpurse.sdk.online.thinking import Thinker
from cutpurse.wire.client_session import ClientSession
from cutpurse.wire.connection import Dialling, dialling
from cutpurse.wire.errors import BOT_FAILED, INTERRUPTED, exit_code
from cutpurse.wire.server_address import RECONNECT_VARIABLE, SERVER_VARIABLE
from cutpurse.wire.text import check_word, format_count

__all__ = ["PlayedMatch", "RunSummary", "connect", "default_bot_name", "run"]

NAME_MOST: Final = 32
BUSY_S: Final = 10.0  # seconds to wait for a bot that is busy after its last match


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The results of a bot's time on a server."""

    bot: str
    version: str
    server: str
    matches: int
    faults: int  # exceptions in the bot's methods, and illegal answers
    taken_over: int = 0  # matches in which its seat was taken over, for any cause

    @property
    def has_failed(self) -> bool:
        """Whether the bot made faults or lost a seat, which is exit code 3."""
        return bool(self.faults or self.taken_over)


def run(
    bot: str | type | Callable[[], Any] | BotMaker,
    games: str | Sequence[str] = (),
    *,
    ladders: str | Sequence[str] = (),
    server: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    trust: Sequence[str] = (),
    name: str | None = None,
    version: str = "1",
    max_tables: int | None = None,
    matches: int | None = None,
    on_match: Callable[[PlayedMatch], None] | None = None,
    reconnect_timeout_s: float | None = None,
    send_output: bool = False,
    decline_requests: bool = False,
    quiet: bool = False,
    debug: bool = False,
) -> int:
    """Connect a bot to a server and play until stopped.

    Prints errors to stderr and returns an exit code. Use `connect` in a running event loop. The token comes from
    $CUTPURSE_TOKEN or a file, see `cutpurse.wire.connection`.

    Args:
        bot: Bot class, path to a Python file, or name of a built-in bot.
        games: Games to play. Default: all games the server offers.
        ladders: Ladders to play on. Default: every ladder of `games`.
        server: `host:port`, `https://host:port` (TLS) or `unix:/path`. Default: $CUTPURSE_SERVER, else 127.0.0.1:7777.
        ca: PEM file with certificates to trust. Default: $CUTPURSE_CA, else the system's.
        trust: Other hosts of the league that the bot may be sent to. Default: $CUTPURSE_TRUST.
        name: Bot name in the rankings. Default: the name of the class or file.
        version: Bot version. Each version has its own ranking entry.
        max_tables: Maximum number of simultaneous matches. Default: as many as the bot is fast enough for.
        matches: Leave after this many matches. Default: never.
        on_match: Called with each finished match.
        reconnect_timeout_s: Seconds to keep reconnecting. Default: 10 for the first connection, then unlimited.
        send_output: Send what the bot prints to the server, for `cutpurse bot logs`.
        decline_requests: Keep other owners from asking for matches with the bot.
        quiet: Print no line per match and no waiting hints.
        debug: Raise errors instead of printing one line.

    Returns:
        0, or 3 if the bot made faults (see `cutpurse.wire.errors`).

    Raises:
        RuntimeError: If called while the bot's module is being imported.
    """
    check_not_loading()
    try:
        _check_no_loop()
        with ends_new_children(), ignore_closed_stderr():
            stay = run_async(
                lambda: connect(
                    bot,
                    games,
                    ladders=ladders,
                    server=server,
                    ca=ca,
                    trust=trust,
                    name=name,
                    version=version,
                    max_tables=max_tables,
                    matches=matches,
                    on_match=on_match,
                    reconnect_timeout_s=reconnect_timeout_s,
                    send_output=send_output,
                    decline_requests=decline_requests,
                    quiet=quiet,
                    debug=debug,
                )
            )
    except CutpurseError as problem:
        if debug:
            raise
        print_message(str(problem))
        return exit_code(problem)
    except KeyboardInterrupt:
        print_message("interrupted")
        return INTERRUPTED
    return BOT_FAILED if stay.has_failed else 0


async def connect(
    bot: str | type | Callable[[], Any] | BotMaker,
    games: str | Sequence[str] = (),
    *,
    ladders: str | Sequence[str] = (),
    server: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    trust: Sequence[str] = (),
    name: str | None = None,
    version: str = "1",
    max_tables: int | None = None,
    matches: int | None = None,
    on_match: Callable[[PlayedMatch], None] | None = None,
    on_opened: Callable[[PlayedMatch], None] | None = None,
    first_tables: int | None = None,
    reconnect_timeout_s: float | None = None,
    send_output: bool = False,
    decline_requests: bool = False,
    quiet: bool = False,
    debug: bool = False,
) -> RunSummary:
    """Connect a bot to a server and play, within a running event loop.

    Arguments are those of `run`. In addition, `on_opened` is called with each match whose deal was opened only after
    its end, and `first_tables` is the number of simultaneous matches before the bot has shown how fast it is, one by
    default.

    Raises:
        UsageError: For unknown names and impossible values.
        ServerUnreachable: If no server answers in time.
        ServerRefused: If the server rejects the bot.
        NotAuthorised: If the server rejects the token.
        NotFound: If the server has no such game or ladder.
    """
    if isinstance(bot, str) and bot.startswith(PROGRAM):
        command = bot.removeprefix(PROGRAM)
        raise UsageError(f"a program dials in by itself: run `{command}` with {SERVER_VARIABLE} in its environment")
    (maker,) = bot_makers([bot])
    if reconnect_timeout_s is None:
        reconnect_timeout_s = _patience()
    door = dialling(server, ca, trust=trust)
    name = check_word("name", name) if name is not None else default_bot_name(maker)
    check_word("version", version)
    game_names = [games] if isinstance(games, str) else list(games)
    for game in game_names:
        game_named(game)
    for what, number in (("tables", max_tables), ("matches", matches)):
        if number is not None and number < 1:
            raise UsageError(f"{number} {what} cannot be played at; at least 1 can")

    taken_over = 0

    def over(match: PlayedMatch) -> None:
        nonlocal taken_over
        taken_over += match.result.end_causes[match.seat].is_taken_over
        if not quiet:
            print_message(match.text())
        if on_match is not None:
            on_match(match)

    pace = ConcurrencyControl(max_tables, first_tables)
    # A factory makes one extra bot, which shows what kind it makes.
    kind = maker.make if isinstance(maker.make, type) else maker.make()

    def broken(problem: BaseException) -> None:
        streams.broken(problem)

    thinker = Thinker(is_async(kind), broken)
    times = StoredTimes(name, version, maker.file or _file_of(maker.make))
    seeks = [ladders] if isinstance(ladders, str) else list(ladders)
    options = StayOptions(seeks, matches, reconnect_timeout_s, says_why=not quiet)

    def stream(there: Dialling, companions: Companions) -> tuple[Client, RemoteBots]:
        session = ClientSession(name, version, game_names, pace.tables, wants_events(kind))
        session.declines_requests = decline_requests
        client = Client(there, session, pace, print_message, options, companions=companions)
        bots = RemoteBots(maker, session, thinker, pace, print_message, over, client.wake, debug, send_output)
        bots.hides_time, bots.times = hides_time(kind), times
        if on_opened is not None:
            bots.on_opened = on_opened
        return client, bots

    streams = ArenaStreams(door, stream, print_message, max_tables)
    try:
        with leave_on_signal(streams), prints_are_noted() if send_output else nullcontext():
            await streams.play()
            if not await thinker.finish(BUSY_S):
                print_message(f"the bot was still busy {BUSY_S:g} s after its last match and is left to itself")
    finally:
        thinker.close()
        times.save()
    if taken_over:
        print_message(paint(_taken_over_text(name, taken_over), "bad", sys.stderr))
    return RunSummary(name, version, door.address, streams.played, streams.faults, taken_over)


def _taken_over_text(name: str, matches: int) -> str:
    return f"{name} was taken over in {format_count(matches, 'match', 'matches')}, and came last there"


def default_bot_name(maker: BotMaker) -> str:
    """Return the default name of a bot: of its class, of its file if the class is just `Bot`, or its own.

    Raises:
        UsageError: If none of them makes a valid name.
    """
    file, _, chosen = maker.name.rpartition(":")
    if maker.name.endswith(".py"):
        word = Path(maker.name).stem
    elif file.endswith(".py"):
        word = chosen if chosen != "Bot" else Path(file).stem
    elif maker.name == "Bot" and (path := _file_of(maker.make)):
        word = Path(path).stem
    else:
        word = maker.name
    if word.startswith("<"):
        word = ""  # a lambda
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower()
    name = re.sub(r"[^a-z0-9_.-]+", "_", snake).lstrip("_.-")[:NAME_MOST]
    if not name:
        raise UsageError(f"no name can be made of {maker.name!r}: give one of a-z, 0-9, _, - and .")
    return name


def _check_no_loop() -> None:
    """Check that no event loop runs, since `run` starts its own.  Raises UsageError."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(
        "run() makes an event loop of its own, and one runs here already, as in a notebook: "
        "`await connect(...)` of cutpurse.sdk.run takes the same arguments"
    )


def _patience() -> float | None:
    """Return the reconnect timeout in seconds from the environment.  Raises UsageError if it is no number."""
    given = os.environ.get(RECONNECT_VARIABLE)
    try:
        seconds = float(given) if given else None
    except ValueError:
        seconds = -1.0
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise UsageError(f"{RECONNECT_VARIABLE} is {given!r}; it is a number of seconds")
    return seconds


def _file_of(make: Any) -> str:
    module = sys.modules.get(getattr(make, "__module__", ""))
    return getattr(module, "__file__", None) or ""
