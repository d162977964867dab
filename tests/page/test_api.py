"""The API: what it answers is what its description says and what the league tells; errors are documents."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.page.api.endpoints import CALLS, PREFIX
from cutpurse.page.api.plain import enum_name, plain
from cutpurse.page.api.tables import cell
from cutpurse.page.problems import http_status
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused
from tests.page.leagues import PRIVATE
from tests.page.serving import page_of, page_of_file

SNEAK = "/bots/ann/sneak"


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


@pytest.fixture(scope="module")
def described(page: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = page.get(f"{PREFIX}/openapi.json").json()
    return document


def wrong(document: dict[str, Any], schema: dict[str, Any], value: Any, where: str = "$") -> list[str]:
    """Where a value is not as a schema of the document has it; of JSON Schema, what the document uses."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        tried = [wrong(document, one, value, where) for one in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    python = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    fits = [
        type(value) is int
        if kind == "integer"
        else type(value) in (int, float)
        if kind == "number"
        else isinstance(value, python[kind])
        for kind in kinds
    ]
    if not any(fits) or value not in schema.get("enum", [value]):
        return [f"{where} is {value!r:.60}, not {schema}"]
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        return [f"{where} is {value!r:.60}, not {schema['pattern']}"]
    if isinstance(value, list):
        return [
            one for at, item in enumerate(value) for one in wrong(document, schema["items"], item, f"{where}[{at}]")
        ]
    if not isinstance(value, dict):
        return []
    found = [f"{where}.{name} is missing" for name in schema["required"] if name not in value]
    found += [f"{where}.{name} is not described" for name in value if name not in schema["properties"]]
    for name, inner in schema["properties"].items():
        if name in value:
            found += wrong(document, inner, value[name], f"{where}.{name}")
    return found


def asked(page: TestClient) -> dict[str, str]:
    """An address of each call."""
    match = page.get(f"{PREFIX}/matches?limit=1&ladder=greed&faulted=true").json()["matches"][0]["match"]
    return {
        "/ladders": "/ladders?game=greed",
        "/ladders/{ladder}": "/ladders/szmal",
        "/ladders/{ladder}/rankings": "/ladders/greed/rankings?every_version=true",
        "/ladders/{ladder}/bots/{owner}/{bot}/history": f"/ladders/greed{SNEAK}/history?limit=3&version=1",
        "/ladders/{ladder}/bots/{owner}/{bot}/opponents": f"/ladders/greed{SNEAK}/opponents",
        "/matches": "/matches?owner=ann&bot=sneak&limit=7&since_ms=1",
        "/matches/{match}": f"/matches/{match}",
        "/open-matches": "/open-matches?ladder=greed",
        "/bots": "/bots?owner=cid",
    }


@pytest.mark.full
def test_every_answer_is_as_the_description_says(page: TestClient, described: dict[str, Any]) -> None:
    addresses = asked(page)
    assert {call.path for call in CALLS} == set(addresses)
    for call in CALLS:
        answer = page.get(PREFIX + addresses[call.path])
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), call.path
        operation = described["paths"][PREFIX + call.path]["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        told = answer.json()
        assert wrong(described, schema, told) == []
        if call.path != "/open-matches":
            assert any(told.values()), call.path


def test_the_description_is_whole(page: TestClient, described: dict[str, Any]) -> None:
    assert described["openapi"] == "3.1.0"
    known = described["components"]["schemas"]
    references = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described))
    assert set(references) <= set(known)
    names = [path["get"]["operationId"] for path in described["paths"].values()]
    assert len(set(names)) == len(names) == len(CALLS) + 1
    for path, operations in described["paths"].items():
        parameters = operations["get"]["parameters"]
        in_path = {one["name"] for one in parameters if one["in"] == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        assert all(one["description"] for one in parameters)
    listing = page.get(PREFIX).text
    for call in CALLS:
        assert PREFIX + call.path in listing


def test_every_status_of_a_refusal_is_described(described: dict[str, Any]) -> None:
    statuses = {str(http_status(error("no")).value) for error in (UsageError, NotAuthorised, NotFound, ServerRefused)}
    assert statuses == {"400", "403", "404", "503"}
    for described_call in described["paths"].values():
        assert statuses <= described_call["get"]["responses"].keys()


def test_what_is_told_is_what_the_league_tells(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        rankings = reader.run(queries.rankings, "greed")
        told = page.get(f"{PREFIX}/ladders/greed/rankings").json()["rankings"]
        assert [(one["place"], one["bot"]["bot"], one["matches"]) for one in told] == [
            (one.place, one.bot, one.matches) for one in rankings
        ]
        assert [one["rating"] for one in told] == [one.rating for one in rankings]
        assert not any("skill" in one for one in told)
        entry = reader.run(queries.matches, ladder="szmal", limit=1)[0]
        match = page.get(f"{PREFIX}/matches/{entry.match}").json()
        assert match["commitment"] == entry.deal.commitment.hex()
        assert match["match"]["finished_ms"] == int(entry.finished.timestamp() * 1_000)
        assert [seat["end_cause"] for seat in match["match"]["seats"]] == [seat.end_cause for seat in entry.seats]
        names = {one["defined"]["name"] for one in page.get(f"{PREFIX}/ladders").json()["ladders"]}
        assert names == {one.name for one in reader.run(queries.ladders)} - {PRIVATE}
        (filed,) = read_matches(page.get(f"{PREFIX}/matches/{entry.match[:8]}/record").content)
        assert filed.head is not None
        assert filed.head.match == entry.match


def test_nothing_that_is_an_owners_alone_is_told() -> None:
    fault = ladder_pb2.SeatFault(decision=1, cause=arena_pb2.END_CAUSE_CRASHED, text="my secret")
    assert plain(fault) == {"decision": 1, "at": 0, "cause": "crashed"}
    assert "paused_for" not in plain(ladder_pb2.BotShown(paused_for="my secret"))


def test_values_of_enums_are_their_names() -> None:
    causes = arena_pb2.DESCRIPTOR.enum_types_by_name["EndCause"]
    assert [enum_name(causes, number) for number in (0, 1, 6, 99)] == [None, "normal", "void_server", "99"]
    assert plain(ladder_pb2.LadderDefined(boards=ladder_pb2.BOARD_KIND_PLAIN))["boards"] == "plain"


@pytest.mark.parametrize(("path", "name"), [("/matches", "matches"), (f"/ladders/duel{SNEAK}/history", "steps")])
def test_pages_lead_to_the_next_until_there_is_none(page: TestClient, path: str, name: str) -> None:
    whole = page.get(f"{PREFIX}{path}?limit=500").json()[name]
    found = []
    address: str | None = f"{PREFIX}{path}?limit=5"
    while address is not None:
        answer = page.get(address)
        found += answer.json()[name]
        address = answer.json()["next"]
        assert answer.headers.get("link") == (f'<{address}>; rel="next"' if address else None)
    assert found == whole
    assert len(found) > 10


def test_rankings_lead_to_the_next_page_by_how_many_there_were(page: TestClient) -> None:
    whole = page.get(f"{PREFIX}/ladders/greed/rankings?every_version=true").json()
    assert whole["next"] is None
    assert len(whole["rankings"]) > 2
    found = []
    address = f"{PREFIX}/ladders/greed/rankings?every_version=true&limit=1"
    for number, _ in enumerate(whole["rankings"], 1):
        told = page.get(address).json()
        found += told["rankings"]
        address = told["next"]
        is_last = number == len(whole["rankings"])
        assert address == (
            None if is_last else f"{PREFIX}/ladders/greed/rankings?every_version=true&limit=1&after={number}"
        )
    assert found == whole["rankings"]


def test_a_filter_goes_on_to_the_next_page(page: TestClient) -> None:
    answer = page.get(f"{PREFIX}/matches?owner=ann&bot=sneak&faulted=false&limit=2").json()
    assert re.fullmatch(rf"{PREFIX}/matches\?owner=ann&bot=sneak&limit=2&before=\d+", answer["next"])


def test_an_answer_that_is_had_is_not_sent_again(page: TestClient) -> None:
    first = page.get(f"{PREFIX}/ladders")
    tag = first.headers["etag"]
    assert "max-age=" in first.headers["cache-control"]
    for had in (tag, f'"x", {tag}', tag.removeprefix("W/"), "*"):
        again = page.get(f"{PREFIX}/ladders", headers={"If-None-Match": had})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["vary"] == first.headers["vary"] == "Accept-Encoding"  # as caches on the way want it
    assert page.get(f"{PREFIX}/ladders", headers={"If-None-Match": '"other"'}).status_code == 200


def test_scripts_of_other_pages_may_read_the_headers_that_are_documented(page: TestClient) -> None:
    """A browser takes that from the answer itself."""
    answer = page.get(f"{PREFIX}/matches?limit=2", headers={"Origin": "https://elsewhere.example"})
    assert {"etag", "link"} <= set(answer.headers)
    assert answer.headers["access-control-expose-headers"] == "ETag, Link"


def test_any_page_may_read_it_and_nobody_may_write(page: TestClient) -> None:
    for path in ("/ladders", "/openapi.json", "/matches/nothing0"):
        answer = page.get(PREFIX + path, headers={"Origin": "https://elsewhere.example"})
        assert answer.headers["access-control-allow-origin"] == "*", path
        assert "access-control-allow-credentials" not in answer.headers
        before = page.options(PREFIX + path, headers={"Origin": "https://elsewhere.example"})
        assert (before.status_code, before.headers["access-control-allow-methods"]) == (204, "GET, HEAD")
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            refused = page.request(method, PREFIX + path)
            assert (refused.status_code, refused.json()["status"]) == (405, 405)
        head = page.head(PREFIX + path)
        assert (head.status_code, head.content) == (answer.status_code, b"")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing", 404, "listed at"),
        ("/ladders/nothing", 404, "nothing"),
        (f"/ladders/{PRIVATE}", 404, "there is no ladder"),
        (f"/ladders/{PRIVATE}/rankings", 404, "no ladder"),
        (f"/matches?ladder={PRIVATE}", 404, "no ladder"),
        (f"/bots?ladder={PRIVATE}", 404, "no ladder"),
        ("/ladders/greed/bots/ann/nobody/history", 404, "nobody"),
        ("/ladders/greed?x=1", 400, "no parameter 'x'"),
        ("/matches?limit=1&limit=2", 400, "twice"),
        ("/matches?limit=501", 400, "0 to 500"),
        ("/matches?limit=-1", 400, "limit"),
        ("/matches?limit=1.5", 400, "limit"),
        ("/matches?limit=\N{ARABIC-INDIC DIGIT THREE}", 400, "limit"),
        ("/matches?before=99999999999999999", 400, "before"),
        ("/ladders/greed/rankings?limit=1001", 400, "limit"),
        ("/matches?faulted=maybe", 400, "true or false"),
        ("/matches?bot=sneak", 400, "owner"),
        ("/matches/f", 400, ""),
        ("/ladders/greed/rankings?ladder=szmal", 400, "no parameter 'ladder'"),
    ],
)
def test_what_cannot_be_answered_is_told_as_a_document(page: TestClient, path: str, status: int, words: str) -> None:
    answer = page.get(PREFIX + path)
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, told["status"]) == (status, status) or (path == "/matches/f" and status == 400)
    assert words in told["detail"]


def test_a_file_is_named_after_its_match(page: TestClient) -> None:
    match = page.get(f"{PREFIX}/matches?limit=1").json()["matches"][0]["match"]
    answer = page.get(f"{PREFIX}/matches/{match}/record")
    assert answer.headers["content-disposition"] == f'attachment; filename="{match}.jsonl"'
    assert answer.headers["content-type"].startswith("application/jsonl")


# -- tables
def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\N{BYTE ORDER MARK}")
    return list(csv.DictReader(io.StringIO(text[1:])))


def test_a_teacher_gets_the_rankings_as_a_table(page: TestClient, league_db: Path) -> None:
    answer = page.get("/ladders/greed/rankings.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="greed-rankings.csv"'
    with LeaderboardReader(league_db) as reader:
        rankings = reader.run(queries.rankings, "greed", every_version=True)
    told = rows(answer.content.decode())
    assert [(one["place"], one["owner"], one["version"]) for one in told] == [
        (str(one.place or ""), str(cell(one.owner)), str(cell(one.version))) for one in rankings
    ]
    assert {"\N{MONEY BAG}\N{OCTOPUS} robber", "'=cmd|'/c calc'!A1"} <= {one["bot"] for one in told}
    assert not any(value.startswith(("=", "+", "-", "@")) for one in told for value in (one["bot"], one["version"]))


def test_and_every_match_with_a_line_for_each_seat(page: TestClient, league_db: Path) -> None:
    told = rows(page.get("/ladders/duel/matches.csv").content.decode())
    with LeaderboardReader(league_db) as reader:
        stored = reader.run(queries.matches, ladder="duel", limit=1_000)
    assert [(one["match"], int(one["seat"])) for one in told] == [
        (match.match, seat) for match in stored for seat in range(len(match.seats))
    ]
    assert {one["void_cause"] for one in told} == {"", "void_server"}
    assert all(one["place"] == one["score"] == "" for one in told if one["void_cause"])


def test_matches_are_sent_page_by_page() -> None:
    pages = []

    def matches(request: ladder_pb2.ListMatchesRequest) -> ladder_pb2.ListMatchesResponse:
        pages.append(request.before)
        number = (request.before or 4) - 1
        seat = ladder_pb2.MatchSeat(bot=ladder_pb2.BotName(owner="ann", bot="@now", version="-1"), score=-5)
        seat.usage.CopyFrom(ladder_pb2.UsageTotal(input_tokens=7, cost_micros=9, model="@model"))
        match = ladder_pb2.MatchShown(number=number, match=f"m{number}", ladder="it", seats=[seat] * 300)
        return ladder_pb2.ListMatchesResponse(matches=[match], next=number if number > 1 else 0)

    def ladders(request: ladder_pb2.ListLaddersRequest) -> ladder_pb2.ListLaddersResponse:
        return ladder_pb2.ListLaddersResponse(
            ladders=[ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name="it"))]
        )

    page = page_of({"ListMatches": matches, "ListLadders": ladders})
    told = rows(page.get("/ladders/it/matches.csv").content.decode())
    assert [one["match"] for one in told] == [f"m{number}" for number in (3, 2, 1) for _ in range(300)]
    assert pages == [0, 3, 2]
    assert (told[0]["bot"], told[0]["version"], told[0]["score"]) == ("'@now", "'-1", "-5")
    assert (told[0]["input_tokens"], told[0]["cost_micros"], told[0]["model"]) == ("7", "9", "'@model")
    pages.clear()
    head = page.head("/ladders/it/matches.csv")
    assert (head.status_code, head.content) == (200, b"")
    assert "content-length" not in head.headers  # it is not 0, and not known
    assert pages == []


@pytest.mark.parametrize("name", ["nothing", PRIVATE, quote("=1+1")])
def test_there_is_no_table_of_a_ladder_that_is_not_there(page: TestClient, name: str) -> None:
    for table in ("rankings", "matches"):
        assert page.get(f"/ladders/{name}/{table}.csv").status_code == 404
