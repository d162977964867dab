"""One number called rating: page, API, CLI, both CSVs and gRPC show the same, in the order of what they show."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import FinishedMatch, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_bot_name, league_at, ranking_pages, rankings
from tests.leaderboard.sample_results import LADDER, add_version, prepare, result
from tests.page.serving import page_of_file
from tests.typed import run

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Shown(NamedTuple):
    """What one place shows of one bot, rounded to a tenth; None where it shows no rating or no place."""

    place: int | None
    bot: str
    rating: float | None
    half: float | None


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight bots of 40 matches; `fresh`, of five; `newcomer`, which won its only three; `late`, in no estimate yet."""
    path = tmp_path_factory.mktemp("one rating") / "league.db"
    with Store(path) as store:
        versions = prepare(store)[:8]
        results = [_by_skill(f"m{number}", Random(number).sample(versions, 4), number) for number in range(80)]
        newcomer = add_version(store, "owner 9", "newcomer", "1.0")
        results += [result(f"new{number}", [newcomer, *versions[number : number + 3]]) for number in range(3)]
        fresh = add_version(store, "owner 9", "fresh", "1.0")
        results += [result(f"fresh{number}", [versions[0], fresh, *versions[1:3]]) for number in range(5)]
        for future in [store.submit(one) for one in results]:
            future.result()
        store.write(put_estimates, store.run(ladder_results, LADDER).estimates(), NOW)
        late = add_version(store, "owner 9", "late", "1.0")
        store.submit(result("late", [late, *versions[:3]])).result()
    return path


def _by_skill(match: str, seated: list[Identity], number: int) -> FinishedMatch:
    """A match in which a bot with a lower number is better, with luck."""
    chance = Random(f"luck {number}")
    return result(
        match, seated, [round(100 * chance.gauss(-int(player.bot.removeprefix("bot ")), 4.0)) for player in seated]
    )


@pytest.fixture(scope="module")
def page(league: Path) -> Iterator[TestClient]:
    with page_of_file(league) as client:
        yield client


def words_of(page: TestClient, path: str) -> str:
    """What is read on a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.get(path).text)).split()).replace(" ,", ",")


def _rounded(place: object, bot: str, rating: float | None, low: float | None, high: float | None) -> Shown:
    if rating is None or low is None or high is None:
        return Shown(int(str(place)) if place else None, bot, None, None)
    return Shown(int(str(place)) if place else None, bot, float(f"{rating:.1f}"), float(f"{(high - low) / 2:.1f}"))


def from_leaderboard(path: Path) -> list[Shown]:
    with LeaderboardReader(path) as reader:
        return [
            _rounded(one.place, f"{one.owner}/{one.bot}", one.rating, one.low, one.high)
            for one in reader.run(queries.rankings, LADDER)
        ]


def from_page(page: TestClient) -> list[Shown]:
    text = page.get(f"/ladders/{LADDER}").text
    found = []
    for row in re.findall(r"<tr data-key=.*?</tr>", text, re.DOTALL):
        words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", row)).split())
        match = re.match(
            r"(\d+|not placed yet)(?: provisional)?(?: \d+–\d+)? (.*?) 1\.0 (?:(-?\d+\.\d) ± (\d+\.\d))?", words
        )
        assert match, words
        place = int(match[1]) if match[1].isdigit() else None
        found.append(
            Shown(place, match[2], float(match[3]) if match[3] else None, float(match[4]) if match[4] else None)
        )
    return found


def from_api(page: TestClient) -> list[Shown]:
    return _from_documents(page.get(f"/api/v1/ladders/{LADDER}/rankings").json()["rankings"])


def _from_documents(rows: list[dict[str, object]]) -> list[Shown]:
    found = []
    for row in rows:
        bot = row["bot"]
        name = f"{bot['owner']}/{bot['bot']}" if isinstance(bot, dict) else f"{row['owner']}/{bot}"
        found.append(_rounded(row["place"], name, *(row[key] for key in ("rating", "low", "high"))))  # type: ignore[arg-type]
    return found


def from_sheet(text: str) -> list[Shown]:
    found = []
    for row in csv.DictReader(io.StringIO(text.lstrip("\N{BYTE ORDER MARK}"), newline="")):
        numbers = [float(row[key]) if row[key] else None for key in ("rating", "low", "high")]
        found.append(_rounded(row["place"], f"{row['owner']}/{row['bot']}", *numbers))
    return found


def from_table(text: str) -> list[Shown]:
    found = []
    for line in text.splitlines()[1:]:
        match = re.match(
            r" *(\d+|-)  (?:[\d-]+)? +(\S+ \d/\S+(?: \d)?):1\.0 +(?:(-?\d+\.\d) \((-?\d+\.\d) to (-?\d+\.\d)\))?", line
        )
        assert match, line
        place = int(match[1]) if match[1].isdigit() else None
        if match[3] is None:
            found.append(Shown(place, match[2], None, None))
        else:
            found.append(Shown(place, match[2], float(match[3]), (float(match[5]) - float(match[4])) / 2))
    return found


def test_every_place_shows_the_same_number_in_the_same_order(league: Path, page: TestClient) -> None:
    expected = from_leaderboard(league)
    assert from_page(page) == expected
    assert from_api(page) == expected
    assert from_sheet(page.get(f"/ladders/{LADDER}/rankings.csv").text) == expected
    command = ("ladder", "rankings", LADDER, "--db", str(league))
    assert _from_documents(json.loads(run(*command, "--json").stdout)["rankings"]) == expected
    assert from_sheet(run(*command, "--csv").stdout) == expected
    table = from_table(run(*command).stdout)
    assert [one[:3] for one in table] == [one[:3] for one in expected]
    assert [one.half for one in table] == [one.half and pytest.approx(one.half, abs=0.11) for one in expected]
    with league_at(db=league) as asked:
        listed = [
            _rounded(
                one.place,
                f"{one.bot.owner}/{one.bot.bot}",
                one.rating if one.HasField("rating") else None,
                one.low,
                one.high,
            )
            for one in rankings(asked, LADDER)
        ]
    assert listed == expected


def test_a_newcomer_after_three_won_matches_stands_below_the_placed_bots_everywhere(
    league: Path, page: TestClient
) -> None:
    command = ("ladder", "rankings", LADDER, "--db", str(league))
    for listed in (
        from_leaderboard(league),
        from_page(page),
        from_api(page),
        from_sheet(page.get(f"/ladders/{LADDER}/rankings.csv").text),
        from_sheet(run(*command, "--csv").stdout),
        from_table(run(*command).stdout),
    ):
        *placed, newcomer, late = listed
        assert [one.place for one in placed] == list(range(1, 10))
        assert [one.rating for one in placed] == sorted((one.rating or 0.0 for one in placed), reverse=True)
        assert newcomer[:2] == (None, "owner 9/newcomer")
        assert newcomer.rating is not None
        assert late == (None, "owner 9/late", None, None)
    first = from_page(page)[0]
    for path in ("/", f"/ladders/{LADDER}"):
        words = words_of(page, path)
        assert first.bot in words
        if path == "/":
            assert "newcomer" not in words.split("Newest matches")[0]
        else:
            assert f"{first.bot} 1.0 leads." in words
            assert "estimated from all results up to board 88 of 89." in words
    assert "not placed yet, provisional rating" in words_of(page, "/bots/owner%209/newcomer")
    described = re.search(r'name="description" content="(.*?)"', page.get(f"/ladders/{LADDER}").text)
    assert described
    assert "newcomer" not in described[1]


def test_a_provisional_place_is_marked_everywhere(league: Path, page: TestClient) -> None:
    command = ("ladder", "rankings", LADDER, "--db", str(league))
    with LeaderboardReader(league) as reader:
        assert {one.bot: one.place > 0 for one in reader.run(queries.rankings, LADDER) if one.is_provisional} == {
            "fresh": True,
            "newcomer": False,
        }
    for text in (page.get(f"/ladders/{LADDER}/rankings.csv").text, run(*command, "--csv").stdout):
        sheet = csv.DictReader(io.StringIO(text.lstrip("\N{BYTE ORDER MARK}"), newline=""))
        marked = {row["bot"]: bool(row["place"]) for row in sheet if row["is_provisional"] == "true"}
        assert marked == {"fresh": True, "newcomer": False}
    (row,) = [line for line in run(*command).stdout.splitlines() if line.endswith("  provisional")]
    assert "owner 9/fresh:1.0" in row
    documents = json.loads(run(*command, "--json").stdout)["rankings"]
    assert {row["bot"] for row in documents if row["is_provisional"]} == {"fresh", "newcomer"}
    api = page.get(f"/api/v1/ladders/{LADDER}/rankings").json()["rankings"]
    assert {row["bot"]["bot"] for row in api if row.get("is_provisional")} == {"fresh", "newcomer"}
    assert re.search(r"\d provisional \d+–\d+ owner 9/fresh", words_of(page, f"/ladders/{LADDER}"))
    assert "provisional rating" in words_of(page, "/bots/owner%209/fresh")


@pytest.mark.parametrize("size", [1, 3, 4, 8, 9, 10, 50])
def test_pages_of_any_size_list_each_bot_once_in_the_same_order(league: Path, page: TestClient, size: int) -> None:
    expected = [one.bot for one in from_leaderboard(league)]
    with league_at(db=league) as asked:
        pages = ranking_pages(asked.ListRankings, LADDER, limit=size)
        assert [f"{one.bot.owner}/{one.bot.bot}" for one in pages] == expected
        state = asked.ListRankings(ladder_pb2.ListRankingsRequest(ladder=LADDER, limit=size, after=9))
        assert (state.placed, state.estimated, state.boards) == (9, 88, 89)
    listed, address = [], f"/api/v1/ladders/{LADDER}/rankings?limit={size}"
    while address:
        told = page.get(address).json()
        listed += [
            format_bot_name(ladder_pb2.BotName(owner=one["bot"]["owner"], bot=one["bot"]["bot"]))
            for one in told["rankings"]
        ]
        address = told["next"]
    assert listed == expected
    limited = json.loads(run("ladder", "rankings", LADDER, "--db", str(league), "--limit", str(size), "--json").stdout)
    assert [f"{one['owner']}/{one['bot']}" for one in limited["rankings"]] == expected[:size]


def test_the_pairing_skill_is_in_no_ranking(league: Path, page: TestClient) -> None:
    command = ("ladder", "rankings", LADDER, "--db", str(league))
    texts = [
        page.get(f"/ladders/{LADDER}/rankings.csv").text,
        page.get(f"/api/v1/ladders/{LADDER}/rankings").text,
        *(run(*command, *more).stdout for more in ((), ("--csv",), ("--json",))),
    ]
    with LeaderboardReader(league) as reader:
        skills = [one.pairing_skill.mu for one in reader.run(queries.rankings, LADDER)]
    for text in texts:
        assert not re.search(r"\b(mu|sigma|skill)\b", text)
        assert not any(f"{mu:.3f}" in text for mu in skills)
