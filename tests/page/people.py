"""A page on which people play, with its server and opponents, all in this process: each in a thread of its own."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

import httpx
import pytest

from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.page.account.calls import Accounts
from cutpurse.page.app import create_app, end_streams
from cutpurse.page.league_client import Asking
from cutpurse.page.seat.seats import PageSeats
from cutpurse.page.serving import serve_page
from cutpurse.sdk.run import connect
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.people.part import PeoplePart
from cutpurse.server.parts.people.people_ladders import people_ladders
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from cutpurse.wire.person_names import people_bot
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import PATIENCE_S, until, until_so
from tests.parts.open_parts import part_of
from tests.parts.people.seats import seats_for_people
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in

__all__ = ["ENDS", "HOUSE", "PeoplePage", "Visitor", "decision_of", "options_of", "people_page", "with_names"]

HOUSE: Final = ("random", "greedy")  # names of the opponents, which all take the first option
NO_OWNERS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})
ENDS: Final = ("Play again", "does not go on")  # in a table at which nothing more is asked
_DECISION: Final = re.compile(r'name="decision" value="(\d+)"')
_KEY: Final = re.compile(r'name="key" value="([0-9a-f]{64})"')
_OPTION: Final = re.compile(r'<button [^>]*name="option" value="(\d+)"[^>]*>(.*?)</button>', re.DOTALL)


@dataclass
class PeoplePage:
    """A running page: its address, that of its server, and the tokens of this run and of owners."""

    address: str
    arena: str
    house: Token
    people: Token
    seats: PageSeats
    tokens: Mapping[str, str]


class Visitor:
    """A person without scripts: forms and links over HTTP, with a jar for cookies."""

    def __init__(self, address: str) -> None:
        self.http = httpx.Client(base_url=address, timeout=PATIENCE_S, follow_redirects=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.http.close()

    def get(self, path: str) -> httpx.Response:
        """Open a page."""
        return self.http.get(path)

    def post(self, path: str, form: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Send a form, as a browser does for a page of the same site."""
        own = {"Sec-Fetch-Site": "same-origin"}
        return self.http.post(path, data=dict(form), headers=own if headers is None else headers)

    def sit_down(self, game: str, opponents: Sequence[str] = HOUSE) -> httpx.Response:
        """Choose the opponents and sit down."""
        return self.post(f"/play/{game}", {"opponent": list(opponents)})

    def sign_in(self, token: str) -> httpx.Response:
        """Sign in with a token."""
        return self.post("/sign-in", {"token": token})

    def sit_down_rated(self, ladder: str) -> httpx.Response:
        """Press the button on the page of a ladder for people."""
        page = self.get(f"/ladders/{ladder}/play")
        key = _KEY.search(page.text)
        return self.post(f"/ladders/{ladder}/play", {"key": key[1] if key else ""})

    def table(self, after: int = 0) -> str:
        """Open the table until there is a decision after this one, or the match is over."""
        found = ""

        def is_there() -> bool:
            nonlocal found
            page = self.get("/seat")
            assert page.is_success, f"{page.status_code}: {page.text}"
            found = page.text
            return decision_of(found) > after or any(text in found for text in ENDS)

        until(is_there, "the next decision")
        return found

    def answer(self, decision: object, option: object, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Press the button of an option."""
        return self.post("/seat/answer", {"decision": decision, "option": option}, headers)


def decision_of(html: str) -> int:
    """Return the number of the open decision of a table; 0 for none."""
    found = _DECISION.search(html)
    return int(found[1]) if found else 0


def with_names(text: str, names: Sequence[str]) -> str:
    """Return a sentence of the game as the page shows it: in one line, with names in place of seats."""
    return re.sub(r"\bseat (\d)\b", lambda seat: names[int(seat[1])], " ".join(text.split()))


def options_of(html: str) -> list[str]:
    """Return the sentences of the options of a table, in the order of their numbers."""
    found = sorted(_OPTION.findall(html), key=lambda option: int(option[0]))
    texts = [re.sub(r'<b aria-hidden.*?</b><span class="unseen">|<[^>]*>', "", text) for _, text in found]
    return [" ".join(unescape(text).split()) for text in texts]


class FirstOption:
    """An opponent whose answers depend on nothing but its options."""

    hides_time = False

    async def choose(self, view: Any, decision: Any) -> int:
        """Return the first option."""
        return 0


@contextmanager
def people_page(
    folder: Path,
    most: int = 16,
    house: Sequence[str] = HOUSE,
    rated: Sequence[Ladder] = (),
    owners: Mapping[str, Sequence[str]] = NO_OWNERS,
    opponent: Any = FirstOption,
) -> Iterator[PeoplePage]:
    """Run a server, opponents of these names, which all are this bot, and the page on which `most` people may play.

    On the `rated` ladders the opponents play under their own names, and `owners` get a token with these scopes each.
    """
    house_token = new_token()
    parts = [seats_for_people(house, most)]
    tokens = tokens_in(folder / "test.db", **owners)
    is_over, began = threading.Event(), threading.Event()
    addresses: list[str] = []
    people: list[Token] = []

    async def arena() -> None:
        async with running_arena(folder, rated, house=house_token, parts=parts, watch_delay_s=0.0) as running:
            people.append(part_of(running.opened, PeoplePart).token)
            addresses.append(running.address)
            names = [ladder.name for ladder in people_ladders(house)]
            join = partial(connect, opponent, ladders=names, server=running.address, max_tables=most, quiet=True)
            playing = [asyncio.create_task(join(name=people_bot(name))) for name in house]
            join = partial(join, ladders=[ladder.name for ladder in rated if not ladder.terms.is_private])
            playing += [asyncio.create_task(join(name=name)) for name in house if rated]
            await until_so(lambda: len(running.opened.lobby.here()) == len(playing))
            began.set()
            await asyncio.to_thread(is_over.wait)
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(TOKEN_VARIABLE, house_token.reveal())
        server = threading.Thread(target=lambda: asyncio.run(arena()), daemon=True)
        server.start()
        try:
            until(lambda: began.is_set() or not server.is_alive(), "the server and the opponents are there")
            assert addresses, "the server did not start"
            dials = Dialling(addresses[0], token=people[0].reveal())
            with league_at(server=addresses[0], as_stranger=True) as league:
                seats = PageSeats(dials, most, house)
                accounts = Accounts(Dialling(addresses[0])) if owners else None
                app = create_app(Asking(league, live=True, keep_s=0.0), live=True, seats=seats, accounts=accounts)
                listening, bound = listening_socket("127.0.0.1:0")
                words = (app, listening, is_over.is_set, partial(end_streams, app))
                page = threading.Thread(target=serve_page, args=words, daemon=True)
                page.start()
                try:
                    yield PeoplePage(f"http://{bound}", addresses[0], house_token, people[0], seats, tokens)
                finally:
                    is_over.set()
                    page.join(PATIENCE_S)
        finally:
            is_over.set()
            server.join(PATIENCE_S)
