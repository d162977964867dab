"""Bots, and their sessions on the test server over real sockets."""

from __future__ import annotations

import asyncio
from typing import Any

from cutpurse.engine.commitment import board_key
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.playing.seating import play_match
from cutpurse.sdk.run import PlayedMatch, RunSummary, connect
from cutpurse.sdk.views.acts import SeenEvent
from tests.sdk.arena import Arena, Ending, Meeting, others_chance

__all__ = ["LOST", "AsyncDiary", "Diary", "First", "diary", "played_here", "stay"]

LOST = Ending()


class First:
    def choose(self, view: Any, decision: Any) -> int:
        return 0


class Diary:
    """A bot that answers by counting, and records all its input."""

    pages: dict[str, list[str]]  # by game and seat

    def start(self, match: MatchInfo) -> None:
        self.lines = self.pages[f"{match.game} {match.seat}"] = [f"start {match.seats} {dict(match.settings)}"]

    def event(self, event: SeenEvent) -> None:
        self.lines.append(f"{event.number} {event.text}")

    def choose(self, view: Any, decision: Any) -> Any:
        self.lines += [
            f"decision {decision.number} {decision.ask} {decision.rule} {decision.safe.text}",
            view.raw.to_bytes().decode(),
            *[option.text for option in decision.options],
            *[event.text for event in view.events],
        ]
        option = decision.options[decision.number % decision.count]
        return option if decision.number % 2 else option.index

    def end(self, result: Any) -> None:
        self.lines.append(f"end {result}")


class AsyncDiary(Diary):
    async def event(self, event: SeenEvent) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().event(event)

    async def choose(self, view: Any, decision: Any) -> Any:
        await asyncio.sleep(0)
        return super().choose(view, decision)

    async def end(self, result: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().end(result)


def diary(kind: type[Diary] = Diary) -> tuple[type[Diary], dict[str, list[str]]]:
    """Create a class of recording bots, and return it with its records."""
    pages: dict[str, list[str]] = {}
    return type("Writer", (kind,), {"pages": pages}), pages


def played_here(meeting: Meeting) -> list[str]:
    """Return the record of a Diary in local play of the same match."""
    bot, pages = diary()

    class Other:
        chance = others_chance(meeting.game, meeting.number)

        def choose(self, view: Any, decision: Any) -> int:
            return int(self.chance.random() * decision.count)

    makers = [BotMaker(name, bot if name == meeting.bot else Other) for name in meeting.match.seats]
    key = board_key(meeting.seed, meeting.params)
    _, failed, _ = play_match(Match(GAMES[meeting.game], meeting.match.seats, key, log=True), makers)
    assert not failed
    return pages[f"{meeting.game} {meeting.seat}"]


async def stay(
    server: Arena, bot: Any, matches: int | None = None, **wishes: Any
) -> tuple[RunSummary, list[PlayedMatch]]:
    """Let a bot play on a server, by default all matches of the server."""
    played: list[PlayedMatch] = []
    wishes = {"name": "bot", **wishes}
    came = await connect(
        bot, server=server.address, matches=matches or server.matches, on_match=played.append, **wishes
    )
    return came, played
