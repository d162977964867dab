"""Pages while names are hidden: no address tells who plays in which seat of a match, and hosts set the time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.page.accounts import Person, text_of
from tests.page.test_hidden_results import NAMED, NO_RESULTS, OWN, SECRETS, addresses, without_noise
from tests.server.hidden_results import LINE, UNTIL, HiddenLeague, hidden_league

OFFERED: Final = re.compile("<datalist.*?</datalist>", re.DOTALL)  # a form offers the names of all bots
# Addresses that list the bots of the league, with the ladders that they play on, but no match.
OF_BOTS: Final = {"/bots", "/api/v1/bots", "/feeds/bots/bob/thug", "/badges/bots/bob/thug/2?ladder=duel"}


@pytest.fixture
async def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch, "names_hidden_until_ms") as league:
        yield league


@pytest.mark.full
async def test_no_address_tells_who_plays_before_the_time_and_all_do_after_it(league: HiddenLeague) -> None:
    ann = Person(league.world.arena.address)
    await ann.sign_in(league.world.tokens["ann"])
    for address in addresses():
        answer = await ann.get(address, follow_redirects=False)
        assert answer.status_code != 500, address
        if NAMED.search(address) and address not in NO_RESULTS:
            assert (answer.status_code, LINE("duel") in text_of(answer.text)) == (403, True), address
        if address != OWN:
            assert SECRETS.findall(without_noise(answer.text)) == [], address
        if address not in OF_BOTS:
            assert "thug" not in OFFERED.sub("", answer.text), address
    league.is_over = True
    for address in ("/", "/ladders/duel", "/bots/ann/sneak", "/matches", "/matches/match0000", "/api/v1/matches"):
        answer = await ann.get(address)
        assert (answer.status_code, "thug" in answer.text) == (200, True), address
    ann.close()


async def test_a_host_hides_and_shows_names_on_the_page(league: HiddenLeague) -> None:
    root = Person(league.world.arena.address)
    await root.sign_in(league.world.tokens["root"])
    page = (await root.get("/host/ladders/duel")).text
    assert page.count(f'value="{UNTIL:%Y-%m-%dT%H:%M:%S}"') == 1
    for address in ("/host/ladders/duel", "/me/ladders/duel"):
        text = text_of((await root.get(address)).text)
        assert "Only hosts see which bot plays in which seat until" in text
        assert "Only hosts see results until" in text
    form = {"names_hidden_until": ""}
    await root.post("/host/ladders/duel", form, page="/host/ladders/duel", follow_redirects=False)
    assert "Only hosts see which bot plays in which seat until" not in text_of(
        (await root.get("/me/ladders/duel")).text
    )
    form = {"names_hidden_until": "soon"}
    answer = await root.post("/host/ladders/duel", form, page="/host/ladders/duel", follow_redirects=False)
    assert (answer.status_code, "'soon' is no time" in text_of(answer.text)) == (400, True)
    made = {"name": "new", "game": "greed", "names_hidden_until": "2027-01-31T18:00"}
    await root.post("/host/ladders", made, page="/host")
    (new,) = [one for one in (await league.world.ask("ListLadders")).ladders if one.defined.name == "new"]
    assert new.defined.terms.names_hidden_until_ms == 1_801_418_400_000
    root.close()
