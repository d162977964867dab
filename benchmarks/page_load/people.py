"""People who each play a seat on the page over HTTP, as a browser does (`python -m benchmarks.page_load.people`).

A person sits down, reads the stream of the table, thinks for some seconds about each question, and posts an answer.
After a match they sit down again. The time of a click is that from the answer to the next view of the table.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Final
from urllib.parse import urlencode

from benchmarks.arena.child import Does, serve
from benchmarks.page_load.http_connection import HttpConnection, ServerEvent, server_events
from cutpurse.games import GAMES
from cutpurse.wire.person_names import seat_counts

__all__ = ["HOUSE", "prepare"]

HOUSE: Final = ("random", "greedy")
ARRIVAL_S: Final = 0.1  # between two people who sit down
AGAIN_S: Final = 1.0  # after an error
_OWN: Final = {"Sec-Fetch-Site": "same-origin"}
_DECISION: Final = re.compile(r'name="decision" value="(\d+)"')
_OPTION: Final = re.compile(r'<button[^>]* name="option" value="(\d+)"')


class Clicks:
    """What all people of this process observed."""

    def __init__(self) -> None:
        self.took_s: list[float] = []  # from a click to the next view
        self.matches = 0  # that ended
        self.errors: list[str] = []
        self.seated: set[int] = set()  # people who were asked something


class PersonClient:
    """One person."""

    def __init__(self, number: int, page: str, thinks_s: float, clicks: Clicks) -> None:
        self._number = number
        self._page = page
        self._thinks_s = thinks_s
        self._clicks = clicks
        self._http = HttpConnection(page)
        self._clicked_at = 0.0

    async def play(self) -> None:
        """Play one match after another."""
        await asyncio.sleep(ARRIVAL_S * self._number)
        try:
            while True:
                try:
                    await self._match()
                    self._clicks.matches += 1
                except (OSError, EOFError) as problem:
                    self._clicks.errors.append(f"{type(problem).__name__} {problem}"[:200])
                    await asyncio.sleep(AGAIN_S)
        finally:
            await self._http.close()

    async def _match(self) -> None:
        game = list(GAMES)[self._number % len(GAMES)]
        opponents = HOUSE[: seat_counts(game, HOUSE)[-1] - 1]
        form = urlencode([("opponent", bot) for bot in opponents])
        seated = await self._http.send(f"/play/{game}", _OWN, form)
        if seated.status != 303:
            raise OSError(f"sitting down: status {seated.status}")
        cookie = {"Cookie": seated.headers["set-cookie"].partition(";")[0], **_OWN}
        async with aclosing(server_events(self._page, "/seat/events", cookie)) as events:
            await self._played(events, cookie)
        await self._http.send("/seat/leave", cookie, "")

    async def _played(self, events: AsyncIterator[ServerEvent], cookie: Mapping[str, str]) -> None:
        """Play until the match is over.  Raises OSError if it does not go on."""
        answered = 0
        lines: list[str] = []
        async for event in events:
            if event.kind in ("whole", "step"):
                self._note_view()
                parts = json.loads(event.data)["lines"]  # new lines, and ranges of those before
                lines = [line for part in parts for line in ([part] if isinstance(part, str) else lines[slice(*part)])]
                table = "\n".join(lines)
                match = _DECISION.search(table)
                if match is not None and int(match[1]) > answered:
                    answered = int(match[1])
                    self._clicks.seated.add(self._number)
                    await self._answer(answered, _OPTION.findall(table), cookie)
            elif event.kind == "status":
                status = json.loads(event.data)
                if status["trouble"]:
                    raise OSError(status["text"])
            elif event.kind == "over":
                return
        raise OSError("the stream of the table ended before the match")

    def _note_view(self) -> None:
        if self._clicked_at:
            self._clicks.took_s.append(time.monotonic() - self._clicked_at)
            self._clicked_at = 0.0

    async def _answer(self, decision: int, options: list[str], cookie: Mapping[str, str]) -> None:
        await asyncio.sleep(random.uniform(0.5, 1.5) * self._thinks_s)
        form = urlencode({"decision": decision, "option": random.choice(options)})
        self._clicked_at = time.monotonic()
        answer = await self._http.send("/seat/answer", {**cookie, "Accept": "application/json"}, form)
        if answer.status != 204:
            self._clicked_at = 0.0
            raise OSError(f"an answer: status {answer.status}")


class Tables:
    """All people of this process."""

    def __init__(self) -> None:
        self._clicks = Clicks()
        self._tasks: list[asyncio.Task[None]] = []

    async def sit_down(self, page: str, count: int, thinks_s: float, patience_s: float) -> dict[str, object]:
        """Let `count` people sit down, and wait until all were asked something; return their number."""
        people = [PersonClient(number, page, thinks_s, self._clicks) for number in range(count)]
        self._tasks = [asyncio.create_task(person.play()) for person in people]
        until = time.monotonic() + patience_s
        while len(self._clicks.seated) < count and time.monotonic() < until:
            await asyncio.sleep(0.1)
        return {"seated": len(self._clicks.seated), "errors": self._clicks.errors[-3:]}

    async def listen(self, seconds: float) -> dict[str, object]:
        """Collect observations for `seconds`."""
        self._clicks.took_s.clear()
        self._clicks.errors.clear()
        self._clicks.matches = 0
        await asyncio.sleep(seconds)
        for task in self._tasks:
            if task.done():
                task.result()  # raises the error that ended it
        return {"took_s": self._clicks.took_s, "errors": self._clicks.errors, "matches": self._clicks.matches}

    async def leave(self) -> dict[str, object]:
        """Let all people go."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return {}


def prepare() -> Does:
    """Return the commands of this process, by name."""
    tables = Tables()
    return {"sit_down": tables.sit_down, "listen": tables.listen, "leave": tables.leave}


if __name__ == "__main__":
    serve(prepare)
