"""The page of the overall table, with the ladders that everybody sees."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("choix")

from tests.page.accounts import Person, text_of
from tests.server.league_world import LeagueWorld


async def test_bots_of_public_ladders_are_ranked_and_of_private_and_hidden_ones_not(world: LeagueWorld) -> None:
    ann = Person(world.arena.address)
    text = text_of((await ann.get("/overall")).text)
    assert "1st ann/sneak" in text
    assert "2nd bob/thug" in text
    assert "hush" not in text
    assert 'href="/overall"' in (await ann.get("/ladders")).text
    until = datetime.now(UTC) + timedelta(hours=1)
    terms = {"results_hidden_until_ms": int(until.timestamp() * 1_000)}
    await world.ask("ChangeLadder", "root", ladder="duel", terms=terms)
    text = text_of((await ann.get("/overall")).text)
    assert "There are no rated matches yet." in text
    assert "sneak" not in text
    ann.close()


async def test_without_its_library_the_page_says_what_the_host_can_do(
    world: LeagueWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    ann = Person(world.arena.address)
    page = await ann.get("/overall")
    assert (page.status_code, "pip install &#39;.[overall]&#39;" in page.text) == (200, True)
    ann.close()
