"""The style of a bot on its page: asked for once, counted beside the page, and shown."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.record_league import record_league
from tests.page.drawings import taken_apart

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["greedy", "random", "random"], matches=9, record=file)
    return TestClient(
        create_app(Asking(record_league(file), live=False, keep_s=0.0), live=False), base_url="http://a.t"
    )


def test_a_style_is_found_once_and_shown_with_its_intervals(page: TestClient) -> None:
    address = "/bots/local/greedy"
    before = page.get(address)
    ladder = before.text.partition('name="ladder" value="')[2].partition('"')[0]
    assert "How does it play?" in before.text
    answer = page.post(address, data={"ladder": ladder}, headers=SAME_ORIGIN)
    text = taken_apart(answer.text).text
    assert (answer.status_code, answer.url.path) == (200, address)
    assert "Its newest 9 matches: how often it does this where it could do otherwise." in text
    assert "goes on with a raid" in text
    assert "Plays most like: greedy (" in text
    assert "How does it play?" not in page.get(address).text
    assert page.post(address, data={"ladder": "none"}, headers=SAME_ORIGIN).status_code == 404
    assert page.post(address, data={"ladder": ladder}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
