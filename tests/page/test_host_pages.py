"""What a host sees and changes on the page, and that nobody else does."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.page.account import pair_search
from cutpurse.page.account.calls import Account
from cutpurse.page.account.pair_search import PairSearch
from cutpurse.v1 import ladder_pb2, status_pb2
from cutpurse.wire.errors import ServerRefused
from tests.page.accounts import Person, text_of
from tests.server.league_world import LeagueWorld

PATHS = ("/host", "/host/tokens", "/host/ladders/hidden")


@pytest.fixture
async def root(world: LeagueWorld) -> AsyncIterator[Person]:
    person = Person(world.arena.address)
    await person.sign_in(world.tokens["root"])
    yield person
    person.close()


async def ladder_of(world: LeagueWorld, name: str) -> ladder_pb2.LadderShown | None:
    found = [one for one in (await world.ask("ListLadders", "root")).ladders if one.defined.name == name]
    return found[0] if found else None


async def test_a_host_sees_ladders_faults_owners_and_tokens(world: LeagueWorld, root: Person) -> None:
    page = (await root.get("/host")).text
    text = text_of(page)
    assert "hidden private Greed for 2 0 0 4 4 boards are not in the ratings yet" in text
    assert "ann/hush:1" in text
    assert {f'href="/{path}"' in page for path in ("matches/match0000", "me/matches/feedc0de0000")} == {True}
    tokens = text_of((await root.get("/host/tokens")).text)
    assert all(token[5:13] in tokens for name, token in world.tokens.items() if name not in ("unknown", "no token"))
    assert not any(token in tokens for token in world.tokens.values() if len(token) > 13)


async def test_a_host_sees_the_places_or_why_not(root: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    own = text_of((await root.get("/host")).text)
    assert "Submitted bots run on the server itself, or nowhere" in own
    assert "waiting: 0 requested matches, 0 writes to the leaderboard" in own
    assert re.search(r"disk: [\d.]+ of [\d.]+ GiB free", own)

    def tells(status: status_pb2.GetStatusResponse) -> None:
        monkeypatch.setattr(Account, "status", lambda self: status)

    tells(status_pb2.GetStatusResponse(has_places=True))
    assert "No place attends, so no submitted bot runs." in text_of((await root.get("/host")).text)
    attends = status_pb2.PlaceStatus(
        name="<b>barn", address="192.0.2.7", runner="bubblewrap", cores=8, free_cores=2.5, bots=["ann/sneak:1"]
    )
    full = status_pb2.PlaceStatus(name="shed", cores=2, unused="its disk is full", round_trip_us=1_500)
    tells(status_pb2.GetStatusResponse(has_places=True, places=[attends, full]))
    page = (await root.get("/host")).text
    assert "<b>barn" not in page
    text = text_of(page)
    assert "<b>barn 192.0.2.7 bubblewrap 8 2.5 ann/sneak:1 used" in text
    assert "shed 2 0 1.5 ms not used: its disk is full" in text

    def refuses(_: Account) -> status_pb2.GetStatusResponse:
        raise ServerRefused("the server at 192.0.2.1:7777 tells nothing of its machines: it is older than this page")

    monkeypatch.setattr(Account, "status", refuses)
    refused = await root.get("/host")
    assert refused.status_code == 200
    assert "this server tells nothing of its machines: it is older than this page" in text_of(refused.text)
    assert "192.0.2.1" not in refused.text


async def test_nobody_else_sees_or_changes_anything_there(world: LeagueWorld) -> None:
    stranger, ann = Person(world.arena.address), Person(world.arena.address)
    try:
        await ann.sign_in(world.tokens["ann"])
        before = world.store.run(queries.tokens)
        for path in PATHS:
            assert (await stranger.get(path)).url.path == "/sign-in"
            refused = await ann.get(path)
            assert (refused.status_code, "your token lacks the scope admin" in refused.text) == (403, True)
        for path, form in (
            ("/host/ladders", {"name": "mine", "game": "greed"}),
            ("/host/ladders/hidden", {"what": "freeze"}),
            ("/host/ladders/hidden/pairs", {}),
            ("/host/tokens", {"owner": "bob", "scopes": "play"}),
            ("/host/tokens/revoke", {"token": world.tokens["bob"][5:13]}),
        ):
            assert (await stranger.post(path, form)).status_code == 403
            assert (await ann.post(path, form)).status_code in (403, 404), path
        assert [(one.id, one.revoked) for one in world.store.run(queries.tokens)] == [
            (one.id, one.revoked) for one in before
        ]
        hidden = await ladder_of(world, "hidden")
        assert hidden is not None
        assert not hidden.is_frozen
        assert await ladder_of(world, "mine") is None
    finally:
        stranger.close()
        ann.close()


async def test_a_host_creates_changes_and_freezes_a_ladder(world: LeagueWorld, root: Person) -> None:
    form = {"name": "cup", "game": "greed", "seats": "3", "owners": "ann, bob", "private": "1"}
    made = await root.post("/host/ladders", form)
    assert made.url.path == "/host/ladders/cup"
    cup = await ladder_of(world, "cup")
    assert cup is not None
    assert (cup.defined.seats, [*cup.defined.terms.owners], cup.defined.terms.private) == (3, ["ann", "bob"], True)
    changes = {"owners": "ann", "most_bots": "8", "most_per_owner": "2", "title": " Cup of <b>spring</b> "}
    changed = await root.post("/host/ladders/cup", changes)
    assert 'value="Cup of &lt;b&gt;spring&lt;/b&gt;"' in changed.text
    frozen = await root.post("/host/ladders/cup", {"what": "freeze"})
    assert "Open it again" in frozen.text
    cup = await ladder_of(world, "cup")
    assert cup is not None
    terms = cup.defined.terms
    assert (cup.is_frozen, [*terms.owners], terms.private, terms.most_bots) == (True, ["ann"], False, 8)
    assert (terms.most_per_owner, terms.title) == (2, "Cup of <b>spring</b>")
    opened = await root.post("/host/ladders/cup", {"what": "open"})
    assert "Freeze it now" in opened.text
    again = await root.post("/host/ladders", form)
    assert again.status_code == 400
    host = text_of((await root.get("/host")).text)
    assert re.search(
        r"root ladder changed cup, frozen \S+ .*root ladder changed cup .*root ladder created cup", host
    ), host
    wrong = await root.post("/host/ladders/cup", {"most_bots": "many"})
    assert "is no number" in wrong.text
    for title, said in (("x" * 81, "the title has 81 characters; the maximum is 80"), ("a\u202eb", "of visible")):
        assert said in (await root.post("/host/ladders/cup", {"title": title})).text


async def test_a_host_lets_an_owner_in_by_a_link(world: LeagueWorld, root: Person) -> None:
    made = await root.post("/host/tokens", {"owner": "eve", "scopes": ["play", "read"], "link": "1", "days": "120"})
    link = re.findall(r"<code>(https://page\.test/sign-in#cutp_\w{38})</code>", made.text)[0]
    eve = Person(world.arena.address)
    try:
        assert "Signed in as eve" in text_of((await eve.sign_in(link)).text)
        token = world.store.run(queries.tokens, "eve")[-1]
        assert token.expires is not None
        await root.post("/host/tokens/revoke", {"token": token.id})
        gone = await eve.get("/me")
        assert (gone.status_code, "not valid any more" in gone.text) == (403, True)
        host = text_of((await root.get("/host")).text)
        assert f"root token revoked {token.id} of eve" in host
        assert re.search(rf"eve token made {token.id} of eve, good for play, read, with \w{{8}} ", host), host
        assert link[-32:] not in host
    finally:
        eve.close()


# -- agreements
PACT = {
    "bots": [{"owner": "ann", "bot": "<b>north"}, {"owner": "", "bot": "south"}],
    "matches": 30,
    "kind": "less",
    "verb": "raid",
    "is_mutual": True,
    "seen": 0,
    "usual": 53.91,
    "p": 8e-15,
    "newest": ["0000006afeed", "00000069feed"],
}
FOUND = {
    "matches": 110,
    "with_records": 100,
    "pairs": 21,
    "tests": 300,
    "findings": [PACT, PACT | {"kind": "transfer", "verb": None, "seen": 0.234, "usual": 0}],
    "of_one_owner": [PACT | {"kind": "more", "is_mutual": False, "seen": 12}],
}


def finding(document: object, keep: Path) -> PairSearch:
    """A search that stores what it is asked, and finds this."""
    script = f"import sys; open({str(keep)!r}, 'wb').write(sys.stdin.buffer.read()); print({json.dumps(document)!r})"
    return PairSearch([sys.executable, "-S", "-c", script])


async def test_a_host_searches_a_ladder_for_agreements(root: Person, tmp_path: Path) -> None:
    await root.post("/host/ladders", {"name": "cup", "game": "greed", "seats": "3"})
    page = (await root.get("/host/ladders/cup")).text
    assert "Agreements between bots" in page
    root.http.app.state.pairs = finding(FOUND, tmp_path / "asked")
    found = await root.post("/host/ladders/cup/pairs", {})
    text = text_of(found.text)
    assert "110 matches were used. 21 pairs met often enough." in text
    assert "ann/<b>north , south 30 raid each other less 0 53.9 0000006a 00000069" in text
    assert "south gives way 0.23 points a match 0" in text
    assert "ann/<b>north does it more to the other: raid 12 53.9" in text
    assert "<b>north" not in found.text
    assert 'href="/matches/0000006afeed"' in found.text
    assert "on 1,000 ladders of honest bots, about one search names anybody" in text
    assert (tmp_path / "asked").read_bytes() == b""  # no match yet
    root.http.app.state.pairs = finding({**FOUND, "findings": [], "of_one_owner": []}, tmp_path / "asked")
    assert "No pair stands out." in text_of((await root.post("/host/ladders/cup/pairs", {})).text)


async def test_a_search_gets_the_matches_with_their_records(
    world: LeagueWorld, root: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_search, "LEAST_SEATS", 2)
    root.http.app.state.pairs = finding(FOUND, tmp_path / "asked")
    found = await root.post("/host/ladders/hidden/pairs", {}, page="/host/ladders/hidden")
    assert found.status_code == 200
    lines = (tmp_path / "asked").read_bytes().splitlines()
    shown = (await world.ask("ListMatches", "root", ladder="hidden")).matches
    assert [ladder_pb2.MatchShown.FromString(base64.b64decode(json.loads(line)[0])) for line in lines] == [*shown]
    assert len(lines) == 4


async def test_a_search_that_cannot_be_is_refused_in_a_line(root: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await root.post("/host/ladders", {"name": "cup", "game": "greed", "seats": "3"})

    async def said(ladder: str = "cup") -> tuple[int, str]:
        answer = await root.post(f"/host/ladders/{ladder}/pairs", {}, page="/host/ladders/cup")
        return answer.status_code, text_of(answer.text)

    status, text = await said("hidden")
    assert (status, "with two seats, there is nobody to gain from together" in text) == (400, True)
    root.http.app.state.pairs = PairSearch(["false"])
    status, text = await said()
    assert (status >= 400, "the pairs of this ladder could not be searched" in text) == (True, True)
    root.http.app.state.pairs._turn.acquire()
    status, text = await said()
    assert (status >= 400, "the pairs of a ladder are being searched" in text) == (True, True)
    monkeypatch.setattr(pair_search, "find_spec", lambda name: None)
    assert "pip install '.[learn]'" in (await said())[1]


# -- forms
async def test_a_form_that_is_refused_keeps_what_was_typed(world: LeagueWorld, root: Person) -> None:
    form = {
        "name": "cup",
        "game": "greed",
        "base": "0.5",
        "bank": "soon",
        "house": ["greedy"],
        "greed.max_rounds": "30",
        "private": "1",
        "title": '"><b>Cup',
    }
    wrong = await root.post("/host/ladders", form)
    assert (wrong.status_code, await ladder_of(world, "cup")) == (400, None)
    assert "'soon' is no number of seconds, such as 2 or 0.5" in text_of(wrong.text)
    assert re.search(r'name="bank" value="soon"[^>]* aria-invalid="true"', wrong.text)
    for kept in ('name="base" value="0.5"', 'name="greed.max_rounds" value="30"', "&#34;&gt;&lt;b&gt;Cup"):
        assert kept in wrong.text
    assert re.findall(r'name="(?:house|private|people)" value="(\w+)" checked', wrong.text) == ["greedy", "1"]
    await root.post("/host/ladders", {**form, "bank": "5"})
    cup = await ladder_of(world, "cup")
    assert cup is not None
    clock, terms = cup.defined.clock, cup.defined.terms
    assert (clock.base_ms, clock.bank_ms, [*terms.house], terms.private) == (500, 5_000, ["greedy"], True)
    assert [(setting.name, setting.value) for setting in cup.defined.settings] == [("max_rounds", "30")]
    page = (await root.get("/host/ladders/cup")).text
    assert "House bots that are not online: greedy." in text_of(page)
    assert re.findall(r'name="(?:house|private|people)" value="(\w+)" checked', page) == ["greedy", "1"]
    refused = await root.post("/host/ladders/cup", {"title": "Spring", "most_bots": "many", "house": ["random"]})
    assert (refused.status_code, "'many' is no number" in text_of(refused.text)) == (400, True)
    assert 'value="Spring"' in refused.text
    assert 'value="random" checked' in refused.text


async def test_bots_picked_for_seasons_fill_the_divisions_by_the_ranking(world: LeagueWorld, root: Person) -> None:
    rankings = (await world.ask("ListRankings", ladder="duel")).rankings
    best, other = [f"{ranking.bot.owner}/{ranking.bot.bot}" for ranking in rankings]
    form = {
        "kind": "season",
        "name": "cup",
        "ladder": "duel",
        "divisions": "2",
        "size": "2",
        "down": "1",
        "rated": "10",
        "seasons": "2",
    }
    picks = [other, "cid/hush_too", best]
    plan = await root.post("/host/events/plan", {**form, "bots": picks})
    first, second = re.split("Division 2", text_of(plan.text).partition("Division 1")[2])
    assert all(bot in first for bot in (best, other))
    assert "cid/hush_too" in second
    digest = re.findall(r'name="plan" value="(\w+)"', plan.text)[0]
    changed = await root.post("/host/events", {**form, "bots": picks[:2], "plan": digest})
    assert (changed.status_code, 'name="name" value="cup"' in changed.text) == (400, True)
    started = await root.post("/host/events", {**form, "bots": picks, "plan": digest, "force": "on"})
    assert re.search("/host/events/[0-9a-f]{12}$", str(started.url))
    rows = re.findall(r'<th scope="row"><a href="/host/ladders/([\w-]+)"', (await root.get("/host")).text)
    assert rows == ["duel", "hidden"], "the ladders of divisions stand at their season"
    for field, value, problem in (
        ("size", "", "say how many bots are in each but the last"),
        ("divisions", "17", "17 is too large; it can be 0 to 16"),
        ("ladder", "none", "there is no ladder 'none'"),
    ):
        answer = await root.post("/host/events/plan", {**form, field: value})
        assert (answer.status_code in (400, 404), problem in text_of(answer.text)) == (True, True), field
