"""The check of a bot by its name: starts its program here, and runs all scenarios with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from cutpurse.check.check_run import check_program
from cutpurse.check.findings import Finding
from cutpurse.check.local_arena import Host
from cutpurse.check.local_match import CONTROL
from cutpurse.check.scenarios import TRUSTED_DOMAIN, Visit
from cutpurse.engine.clocks import TimeControl
from cutpurse.games import game_named
from cutpurse.process.child import Child
from cutpurse.process.interpreter import module_command
from cutpurse.process.own_time import OwnTime
from cutpurse.process.program_command import PROGRAM, command_of, environment_for
from cutpurse.sdk.bot import load_bot
from cutpurse.v1 import arena_pb2
from cutpurse.wire.errors import BotNotLoaded
from cutpurse.wire.server_address import TRUST_VARIABLE

__all__ = ["check_bot", "program_of"]


def program_of(bot: str, games: Sequence[str], address: str) -> list[str]:
    """Return the command of the process that a bot plays in, connected to the server at `address`.

    Raises:
        UsageError: If a bot or game does not exist.
        BotNotLoaded: If the bot cannot be loaded.
    """
    for game in games:
        game_named(game)
    if bot.startswith(PROGRAM):
        return command_of(bot)
    load_bot(bot)
    options = [word for game in games for word in ("--game", game)]
    return [*module_command("cutpurse.cli"), "bot", "run", bot, "--server", address, "--quiet", *options]


async def check_bot(
    bot: str,
    games: Sequence[str] = (),
    *,
    answer_s: float | None = None,
    control: TimeControl = CONTROL,
    on_finding: Callable[[Finding], None] = lambda finding: None,
    on_hello: Callable[[arena_pb2.Hello], None] = lambda hello: None,
    quiet: bool = True,
) -> list[Finding]:
    """Run every scenario and return the findings in order.

    The check ends after a failed handshake, and after matches without any answer.

    Args:
        bot: Bot to check: a built-in name, a Python file, or `exec:COMMAND`.
        games: Games to check it with. Default: all games that it plays.
        answer_s: Seconds to wait for an answer. Default: as long as the clock gives a decision.
        control: Clock that whole matches are judged by, in the time that the machine gives to the bot.
        on_finding: Called with each finding.
        on_hello: Called with the bot's Hello.
        quiet: Do not pass on the program's output.

    Raises:
        UsageError: If a bot or game does not exist.
        MachineBusy: If the machine was too busy to check the bot.
    """
    own_time = OwnTime()
    async with Host(clock=own_time) as host, Host(clock=own_time, is_on_a_port=True) as other:
        command = program_of(bot, games, host.address)
        environment = {**environment_for(host.address), TRUST_VARIABLE: f"127.0.0.1,{TRUSTED_DOMAIN}"}
        loop = asyncio.get_running_loop()

        def ended() -> None:
            for listener in (host, other):
                loop.call_soon_threadsafe(listener.changed)

        def start() -> Child:
            try:
                return Child(bot, command, environment, ended, quiet, visit.hear)
            except OSError as problem:
                raise BotNotLoaded(f"{bot} cannot be run: {problem.strerror}") from None

        visit = Visit(host, tuple(games), start, own_time, other)
        visit.control = control
        all_ms = control.base_ms + control.bank_ms + control.grace_ms
        visit.answer_s = all_ms / 1_000 if answer_s is None else answer_s
        return await check_program(visit, on_finding=on_finding, on_hello=on_hello)
