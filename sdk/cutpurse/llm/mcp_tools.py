"""The six tools with which an MCP client sits down: at a match of this process, or on a ladder of a server.

The docstrings of the tools are what a model reads about them. This module knows no transport.
"""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.games import GAMES, game_named
from cutpurse.llm.budget import Usage
from cutpurse.llm.client_match import ClientMatch, ClientSeat
from cutpurse.llm.decision_text import NAMES, rules_text
from cutpurse.sdk.bot import BotMaker, built_in_bots
from cutpurse.sdk.local import play
from cutpurse.sdk.run import connect
from cutpurse.wire.errors import needs
from cutpurse.wire.usage import MOST_COST_MICROS, MOST_TOKENS

with needs("llm"):
    import anyio.to_thread
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import BeforeValidator, Field

    from cutpurse.llm.tool_server import Count, ToolServer, not_bool

__all__ = ["McpTools"]

WAIT_S: Final = 25.0  # longest wait in a call: clients give up after 60 s or so
MOST_TABLES: Final = 8  # open at once
LEAVE_S: Final = 5.0  # time at the end for open ladder matches to be played by safe options

INSTRUCTIONS: Final = (
    "Play card games of hidden information. Read `rules` once, then `sit_down`. Each decision has a number and "
    f"numbered options: `answer` with both, and you get the next decision. Games: {', '.join(GAMES)}. {NAMES}"
)

Tokens = Annotated[int, BeforeValidator(not_bool), Field(ge=0, le=MOST_TOKENS)]
Micros = Annotated[int, BeforeValidator(not_bool), Field(ge=0, le=MOST_COST_MICROS)]


class McpTools:
    """The tools of one client, and its matches."""

    def __init__(
        self,
        server: str | None = None,
        ca: str | Path | None = None,
        name: str = "mcp",
        version: str = "1",
        wait_s: float = WAIT_S,
    ) -> None:
        """Create the tools of a client that has no match yet.

        Args:
            server: Address of the server for ladders. Default: $CUTPURSE_SERVER, else 127.0.0.1:7777.
            ca: Certificates to trust.
            name: Name of the bot in rankings.
            version: Version of the bot, such as that of the model.
            wait_s: Longest wait for a decision in a call.
        """
        self.server = server
        self.ca = ca
        self.name = name
        self.version = version
        self.wait_s = wait_s
        self.matches: dict[str, ClientMatch] = {}
        self._tables = 0  # names given so far
        self._on_ladder: list[tuple[ClientMatch, threading.Thread]] = []

    def mcp_server(self) -> ToolServer:
        """Return an MCP server with the tools."""
        tools = (self.rules, self.sit_down, self.look, self.answer, self.leave, self.results)
        return ToolServer(INSTRUCTIONS, tools, lambda arguments: self._open_decision(arguments.get("table")))

    def rules(self, game: str) -> str:
        """Return the rules of a game with all its cards. Read them once before you play."""
        try:
            return rules_text(game)
        except CutpurseError as problem:
            raise ToolError(str(problem)) from None

    async def sit_down(
        self,
        game: str = "",
        ladder: str = "",
        others: list[str] | None = None,
        seed: Count = 0,
        settings: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Begin a match. Returns the table's name and your first decision.

        Args:
            game: Play this game here, against built-in bots; give a game or a ladder.
            ladder: Play one rated match on this ladder of the server.
            others: The bots of a match here, such as ["greedy", "random"]; one seat more is yours. Default: as many
                "greedy" as the game usually has.
            seed: Determines the deal and the seats of a match here.
            settings: Settings of a match here that differ from the rules' defaults.
        """
        if bool(game) == bool(ladder):
            raise ToolError("give a game, to play here, or a ladder, to play on the server")
        if sum(not match.is_over for match in self.matches.values()) >= MOST_TABLES:
            raise ToolError(f"{MOST_TABLES} tables are open: play or leave one of them first")
        self._tables += 1
        match = ClientMatch(f"t{self._tables}", bool(ladder))
        if game:
            self._sit_here(match, game, others, seed, settings)
        else:
            if others is not None or settings or seed:
                raise ToolError("a ladder chooses the others, the seed and the settings: leave them out")
            await self._sit_on_ladder(match, ladder)
        self.matches[match.table] = match
        try:
            return await self._state(match)
        except ToolError:
            del self.matches[match.table]
            raise

    def _sit_here(
        self, match: ClientMatch, game: str, others: list[str] | None, seed: int, settings: dict[str, str] | None
    ) -> None:
        known = built_in_bots()
        try:
            rules = game_named(game)
            names = ["greedy"] * (rules.usual_seats - 1) if others is None else others
            rules.set_up(len(names) + 1, settings or {})
        except CutpurseError as problem:
            raise ToolError(str(problem)) from None
        if unknown := [name for name in names if name not in known]:  # no files: they would be run
            raise ToolError(f"no bot is called {unknown[0]!r:.80}; there are: {', '.join(known)}")
        bots: list[str | BotMaker] = [BotMaker("you", partial(ClientSeat, match)), *names]

        def work() -> None:
            try:
                play(game, bots, seed=seed, settings=settings)
            except Exception as problem:
                match.fail(_text_of(problem))

        threading.Thread(target=work, name=match.table, daemon=True).start()

    async def _sit_on_ladder(self, match: ClientMatch, ladder: str) -> None:
        if any(not match_there.is_over for match_there, _ in self._on_ladder):
            raise ToolError("your match on a ladder goes on: end it first, also if you have left it")
        for _, thread in self._on_ladder:  # a bot has one session at a time, and the last one may still be leaving
            await anyio.to_thread.run_sync(thread.join, self.wait_s, abandon_on_cancel=True)
        self._on_ladder.clear()
        loop = asyncio.new_event_loop()
        seated = loop.create_task(self._connected(match, ladder))
        match.withdraw = lambda: _call(loop, seated.cancel)

        def work() -> None:
            try:
                loop.run_until_complete(seated)
                match.fail("the server had no match")
            except asyncio.CancelledError:
                match.fail("you left before a match began")
            except Exception as problem:
                match.fail(_text_of(problem))
            finally:
                loop.close()

        thread = threading.Thread(target=work, name=match.table, daemon=True)
        self._on_ladder.append((match, thread))
        thread.start()

    async def _connected(self, match: ClientMatch, ladder: str) -> None:
        """Play one match on the ladder."""
        await connect(
            BotMaker(self.name, partial(ClientSeat, match)),
            ladders=ladder,
            server=self.server,
            ca=self.ca,
            name=self.name,
            version=self.version,
            max_tables=1,
            matches=1,
            quiet=True,
        )

    async def look(self, table: str, cards: bool = False) -> dict[str, Any]:
        """Return your open decision once more; nothing changes. Waits a while if there is none.

        Args:
            table: The table's name.
            cards: Describe also what the cards in view do.
        """
        return await self._state(self._match(table), cards)

    async def answer(
        self,
        table: str,
        decision: Count,
        option: Count,
        why: str = "",
        input_tokens: Tokens = 0,
        output_tokens: Tokens = 0,
        reasoning_tokens: Tokens = 0,
        cost_micros: Micros = 0,
        model: str = "",
    ) -> dict[str, Any]:
        """Answer your open decision with the number of an option. Returns the next decision, or the result.

        An answer to another decision, or to the same one again, is refused and changes nothing.

        Args:
            table: The table's name.
            decision: Number of the open decision.
            option: Number of the option.
            why: Your reason in a sentence. Only you can read it later.
            input_tokens: Tokens that you read for this decision, if you know. Everyone can read it after the match.
            output_tokens: Tokens that you wrote for it, reasoning included.
            reasoning_tokens: Those of the output tokens that were reasoning.
            cost_micros: What it cost, in millionths of a US dollar.
            model: Your name and version, such as "llama3.2". Everyone can read it after the match.
        """
        match = self._match(table)
        usage = Usage(input_tokens, output_tokens, reasoning_tokens, cost_micros, calls=1)
        refused = match.answer(decision, option, why, usage, model)
        return ({"refused": refused} if refused else {}) | await self._state(match)

    def leave(self, table: str) -> dict[str, Any]:
        """Leave a table. A match that has begun is played to its end with the safe options of your seat."""
        match = self._match(table)
        match.leave()
        return match.state(0)

    def results(self) -> dict[str, Any]:
        """List your matches with places, scores, decisions, and the tokens and cost that you have reported."""
        return {"matches": [match.row() for match in self.matches.values()]}

    async def _state(self, match: ClientMatch, cards: bool = False) -> dict[str, Any]:
        """Wait for the next decision in a thread, which is left alone if the client goes.

        Raises:
            ToolError: If the match cannot go on here.
        """
        state = await anyio.to_thread.run_sync(match.state, self.wait_s, cards, abandon_on_cancel=True)
        if state["state"] == "failed":
            raise ToolError(state["text"])
        return state

    def _match(self, table: str) -> ClientMatch:
        match = self.matches.get(table)
        if match is None:
            known = ", ".join(list(self.matches)[-MOST_TABLES:]) or "none yet: `sit_down` first"
            raise ToolError(f"no table is called {table!r:.40}; there are: {known}")
        return match

    def _open_decision(self, table: object) -> str:
        """Return the open decision of a table, or of the only open one if there is none of this name, to append it."""
        matches = [match for match in self.matches.values() if not match.is_over and not match.has_left]
        chosen = [match for match in matches if match.table == table] or matches
        state = chosen[0].state(0) if len(chosen) == 1 else {}
        if state.get("state") != "decision":
            return ""
        where = f"table {state['table']}, decision {state['decision']}, options 0 to {state['options'] - 1}"
        return f"\n\nStill open: {where}\n{state['text']}"

    def close(self) -> None:
        """Leave all tables, and give ladder matches a while to be played to their end."""
        for match in self.matches.values():
            match.leave()
        for _, thread in self._on_ladder:
            thread.join(LEAVE_S)


def _call(loop: asyncio.AbstractEventLoop, function: Any) -> None:
    """Call a function in a loop of another thread, unless the loop is closed."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)


def _text_of(problem: Exception) -> str:
    if isinstance(problem, CutpurseError):
        return str(problem)
    return f"unexpected {type(problem).__name__}: {problem}"
