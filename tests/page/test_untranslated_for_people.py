"""No text is left out of the catalogue where people sign in or play: in brackets stand all words that are no names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from cutpurse.games import GAMES
from tests.looking import until
from tests.page.accounts import Person
from tests.page.drawings import seats_in
from tests.page.people import Visitor, decision_of, people_page
from tests.page.pseudo_language import PSEUDO, pseudo_language, untranslated
from tests.server.league_world import league_world

OWNERS: Final = ("ann", "bob", "cid", "root", "player", "watcher", "reader", "house", "people", "host")
LADDERS: Final = ("hidden", "feed", "duel", *GAMES)
SCOPES: Final = ("play", "read", "submit", "admin", "link")
NAMES: Final = frozenset(
    [
        *OWNERS,
        *LADDERS,
        *SCOPES,
        "hush_too",
        "match000",
        "feedc0de",
        "place",
        "sneak",
        "thug",
        "hush",
        "random",
        "greedy",
    ]
)


@pytest.mark.parametrize(
    ("owner", "paths"),
    [
        (
            "ann",
            ("/me", "/me/bots/sneak", "/me/bots/hush", "/me/ladders/hidden", "/me/tokens", "/me/nothing", "/sign-in"),
        ),
        ("root", ("/host", "/host/tokens", "/host/ladders/hidden", "/host/ladders/nothing")),
    ],
)
async def test_pages_of_people_who_are_signed_in_have_no_english_left(
    tmp_path: Path, owner: str, paths: tuple[str, ...]
) -> None:
    async with league_world(tmp_path) as world:
        person = Person(world.arena.address)
        try:
            await person.sign_in(world.tokens[owner])
            with pseudo_language():
                for path in paths:
                    text = (await person.get(f"{path}?lang=eo")).text
                    assert '<html lang="eo">' in text
                    assert untranslated(text, NAMES) == [], path
        finally:
            person.close()


@pytest.mark.full
def test_a_table_of_a_person_has_no_english_left(tmp_path: Path) -> None:
    with pseudo_language(), people_page(tmp_path) as page, Visitor(page.address) as person:
        person.http.cookies.set("lang", PSEUDO.tag)
        for game in ("szmal", "steal_and_plunder"):
            assert untranslated(person.get(f"/play/{game}").text, NAMES) == []
            person.sit_down(game)
            table = person.table()
            assert untranslated(table, NAMES) == []
            person.answer(decision_of(table), 0)
            assert untranslated(person.table(decision_of(table)), NAMES) == []
            assert untranslated(person.answer(decision_of(table), 99).text, NAMES) == []
            assert untranslated(person.get("/play").text, NAMES) == []
            person.post("/seat/leave", {})


def have_tables(*people: Visitor) -> bool:
    """Whether each has seen the table; those who are asked take the first option, so that the others are asked."""
    pages = [person.get("/seat").text for person in people]
    for person, page in zip(people, pages, strict=True):
        if decision_of(page):
            person.answer(decision_of(page), 0)
    return all(seats_in(page) for page in pages)


@pytest.mark.full
def test_friends_read_a_table_each_in_their_own_language(tmp_path: Path) -> None:
    with pseudo_language(), people_page(tmp_path) as page, Visitor(page.address) as ann, Visitor(page.address) as bob:
        ann.http.cookies.set("lang", PSEUDO.tag)
        ann.post("/play/greed", {"opponent": ["random", "greedy"], "with": "friends"})
        waits = ann.get("/seat").text
        assert untranslated(waits, NAMES) == []
        (link,) = [part.split('"')[0] for part in waits.split('value="') if "/join/" in part.split('"')[0]]
        bob.post(link.partition("/join")[2] and "/join" + link.partition("/join")[2], {})
        assert "2 of 3 seats have a person." in bob.get("/seat").text
        assert "⟦2 of 3 seats have a person.⟧" in ann.get("/seat").text
        ann.post("/seat/begin", {})
        until(lambda: have_tables(ann, bob), "both tables")
        assert untranslated(ann.get("/seat").text, NAMES) == []
        assert "⟦" not in bob.get("/seat").text.replace(PSEUDO.name, "")
