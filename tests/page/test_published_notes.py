"""The notes that an owner publishes, beside the decisions of a replay: escaped, cut, and gone when they are kept."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path

from sqlalchemy import Connection, insert, select

from cutpurse.leaderboard.decision_logs import pack_notes
from cutpurse.leaderboard.owner_registry import change_bot
from cutpurse.leaderboard.relations import MATCHES, NOTES
from cutpurse.leaderboard.results import SeatNote
from cutpurse.leaderboard.store import Store
from cutpurse.page.match_view.filed_replay import MOST_NOTE
from cutpurse.sdk.notes import NoteBuffer
from cutpurse.server.matches.seat_notes import SeatNotes
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.page.accounts import Person, text_of
from tests.page.serving import page_of_file
from tests.server.league_world import league_world

HOSTILE = {
    1: "<script>alert(1)</script></bdi></q><b onclick=alert(1)>",
    2: "a \N{RIGHT-TO-LEFT OVERRIDE}gnp.evil\N{RIGHT-TO-LEFT ISOLATE}\x00\x1b[31m\r\n b",
    3: "half \ud83d a pair",
    4: "x" * 65_536,
}


def sent_notes() -> tuple[SeatNote, ...]:
    """Send the notes as a bot does, and store them as the server does."""
    seat = SeatNotes(1_000_000)
    for decision, text in HOSTILE.items():
        buffer = NoteBuffer()
        buffer.add(text)
        seat.take(decision, buffer.take())
    return seat.kept()


def put_notes(connection: Connection, match: str, seat: int) -> None:
    """Store notes of a match without notes."""
    number = connection.scalar(select(MATCHES.c.number).where(MATCHES.c.id == match))
    row = {"match_number": number, "seat": seat, "dropped_bytes": 0, "notes": pack_notes(sent_notes())}
    connection.execute(insert(NOTES).values(row))


def test_hostile_notes_are_shown_as_text_and_cut(league_db: Path, tmp_path: Path) -> None:
    database = Path(shutil.copy(league_db, tmp_path / "league.db"))
    with Store(database) as store, page_of_file(database) as page:
        with league_at(db=database) as league:
            listed = league.ListMatches(ladder_pb2.ListMatchesRequest(ladder="greed", limit=500)).matches
        match_id, seat = next(
            (match.match, seat)
            for match in listed
            for seat, taken in enumerate(match.seats)
            if taken.bot.owner == "ann" and taken.bot.bot == "sneak" and match.decisions > 40
        )
        replay = f"/matches/{match_id}/replay"
        store.write(put_notes, match_id, seat)

        def noted(viewer: int | str = "") -> list[str]:
            moments = page.get(f"{replay}/moments?seat={viewer}&first=0").text.replace('\\"', '"')
            return re.findall(r'<p class="noted">.*?</p>', moments)

        store.write(change_bot, "ann", "sneak", publishes_notes=True)
        notes = noted(seat)
        assert len(notes) == len(HOSTILE)
        texts = [unescape(re.findall(r"<bdi>(.*?)</bdi>", note)[0]) for note in notes]
        assert texts[0] == HOSTILE[1]
        assert "<script" not in notes[0]
        assert texts[1] == "a gnp.evil [31m b"
        assert re.fullmatch("half .{1,3} a pair", texts[2])
        assert (len(texts[3]), texts[3][-1]) == (MOST_NOTE, "\N{HORIZONTAL ELLIPSIS}")
        assert noted() == [note for note in noted() if note in notes], "with all cards, too"
        assert noted(1 - seat if seat < 2 else 0) == [], "another seat did not see them"
        store.write(change_bot, "ann", "sneak", publishes_notes=False)
        assert noted(seat) == [], "no cached moment has them any more"


async def test_the_switch_on_the_page_of_a_bot(tmp_path: Path) -> None:
    async with league_world(tmp_path) as world:
        await world.ask("ChangeBot", "ann", bot={"bot": "sneak"}, declines_people=True)
        ann, bob = Person(world.arena.address), Person(world.arena.address)
        await ann.sign_in(world.tokens["ann"])
        await bob.sign_in(world.tokens["bob"])
        assert "Only you see what it notes" in text_of((await ann.get("/me/bots/sneak")).text)
        assert (await bob.post("/me/bots/sneak/settings", {"publishes_notes": "yes"})).status_code == 404
        published = await ann.post("/me/bots/sneak/settings", {"publishes_notes": "yes"})
        assert "Everybody sees what it notes" in text_of(published.text)
        assert [
            (bot.publishes_notes, bot.declines_people) for bot in (await world.ask("ListBots", owner="ann")).bots
        ] == [(True, True)]
        kept = await ann.post("/me/bots/sneak/settings", {"publishes_notes": "no"})
        assert "Only you see what it notes" in text_of(kept.text)
        ann.close()
        bob.close()
