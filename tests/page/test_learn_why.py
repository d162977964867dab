"""Why a match went as it did: its end for a player, the worst decisions of a seat, and why these bots met."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cutpurse.page.app import create_app
from cutpurse.page.language.languages import offered_languages
from cutpurse.page.language.speaking import speaking
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.pairing_reason import reason_text
from cutpurse.page.worst_process import WorstProcess
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.matches.record_league import record_league
from tests.page.drawings import taken_apart

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["greedy", "random", "random"], seed=3, record=file)
    return file


def page_of(file: Path, answer: object) -> tuple[TestClient, str]:
    """Serve a file with a process that repeats the first line of its question, and gives an answer."""
    script = f"import sys; sys.stderr.write(sys.stdin.readline()); print({json.dumps(answer)!r})"
    app = create_app(Asking(record_league(file), live=False, keep_s=0.0), live=False)
    app.state.worst = WorstProcess([sys.executable, "-S", "-c", script])
    page = TestClient(app, base_url="http://arena.test")
    return page, f"/matches/{page.get('/api/v1/matches').json()['matches'][0]['match']}"


def first_choice_of(file: Path, seat: int) -> int:
    record = next(read_matches(file.read_bytes())).record()
    return next(at for at, choice in enumerate(record.choices) if choice[0] == seat)


def test_the_end_of_a_match_is_told_to_a_player_with_all_cards_open(file: Path) -> None:
    page, match = page_of(file, {})
    for seat in range(3):
        html = page.get(f"{match}/end?seat={seat}").text
        text = taken_apart(html).text
        assert html.count('<section class="player') == 3
        assert "face down" not in text.partition('id="why"')[0]
        assert ">you<" in html
        assert not re.search(r"\byou (?:\w+s|has|was)\b (?!the battle)", text.replace("you pass ", "")), text
        assert re.search(r"(Nobody else was ever ahead|lead changed for the last time|decided only at the end)", text)
        assert 'class="swings"' in html
        assert "Your three worst decisions" in text
    assert page.get(f"{match}/end?seat=3").status_code == 204
    assert page.get("/matches/00000000/end?seat=0").status_code == 204


def test_worst_decisions_are_looked_for_once_and_shown_with_interval_and_playouts(file: Path) -> None:
    at = first_choice_of(file, 1)
    worse = {"at": at, "taken": 1, "better": 0, "cost": 0.17, "error": 0.05, "playouts": 83}
    page, match = page_of(file, {"decisions": 20, "looked_at": 20, "worst": [worse]})
    assert page.get(match).text.count("look-for-worst") == 3
    answer = page.post(f"{match}/worst", data={"seat": "1"}, headers=SAME_ORIGIN)
    text = taken_apart(answer.text).text
    assert answer.url.path == match
    assert "by 17 ± 5 %" in text
    assert "(83 playouts of each)" in text
    assert "20 of 20 decisions" in text
    assert f"replay?at={at}&amp;seat=1" in answer.text
    assert answer.text.count("look-for-worst") == 2
    mine = page.post(f"{match}/worst", data={"seat": "1", "you": "1"}, headers=SAME_ORIGIN)
    assert mine.url.path == f"{match}/end"
    assert "Your worst decision" in mine.text


def test_nothing_is_said_where_nothing_is_worse_beyond_chance(file: Path) -> None:
    page, match = page_of(file, {"decisions": 20, "looked_at": 18, "worst": []})
    answer = page.post(f"{match}/worst", data={"seat": "2"}, headers=SAME_ORIGIN).text
    assert "none is worse than another option by more than chance explains" in answer
    assert "18 of 20 decisions" in answer


def test_only_a_form_of_this_page_has_search_look_at_a_seat_of_the_match(file: Path) -> None:
    page, match = page_of(file, {"decisions": 1, "looked_at": 1, "worst": []})
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert page.post(f"{match}/worst", data={"seat": "0"}, headers=foreign).status_code == 403
    assert page.get(f"{match}/worst").status_code == 405
    for seat in ("3", "-1", "one", ""):
        assert page.post(f"{match}/worst", data={"seat": seat}, headers=SAME_ORIGIN).status_code == 404
    assert page.get(match).text.count("look-for-worst") == 3


STORED = (
    "ann/sneak:1 had fewest matches (12); cid/x:2 near (0.4 beta), bob/y:1 far (3.1 beta); house/greedy:1 filled a seat"
)


def test_why_bots_met_is_said_without_figures_of_the_rating_and_in_every_language() -> None:
    assert reason_text(STORED) == (
        "ann/sneak:1 had played least (12 matches); cid/x:2 is about as strong; "
        "bob/y:1 is much stronger or weaker; house/greedy:1 filled a seat"
    )
    assert reason_text("a clause of another server...") == "a clause of another server..."
    for language in offered_languages().values():
        with speaking(language):
            assert "beta" not in reason_text(STORED)
