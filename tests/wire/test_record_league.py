"""The league of a file of matches: what the page and programs read of local matches."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.local import LocalRun, play
from cutpurse.sdk.matches import record_league as module
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.matches.record_league import record_league
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import League

MATCHES = 12


class Wrong:
    """Answers what was not offered."""

    def choose(self, view: object, decision: object) -> object:
        return "nothing"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records") / "greed.jsonl"


@pytest.fixture(scope="module")
def run(file: Path) -> LocalRun:
    return play("greed", ["greedy", "random", "first_option"], matches=MATCHES, record=file)


@pytest.fixture(scope="module")
def league(run: LocalRun, file: Path) -> League:
    return record_league(file)


def listed(league: League, **asked: object) -> list[ladder_pb2.MatchShown]:
    return list(league.ListMatches(ladder_pb2.ListMatchesRequest(**asked)).matches)  # type: ignore[arg-type]


def test_the_results_are_those_of_the_run(league: League, run: LocalRun) -> None:
    (ladder,) = league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders
    assert (ladder.defined.name, ladder.defined.seats, ladder.matches, ladder.bots) == ("greed", 3, MATCHES, 3)
    rankings = league.ListRankings(ladder_pb2.ListRankingsRequest(ladder="greed")).rankings
    seats = sorted(run.seats, key=lambda one: one.mean_place)
    assert [(one.bot.bot, one.matches, one.wins) for one in rankings] == [
        (one.bot, MATCHES, one.first_places) for one in seats
    ]
    assert [one.place for one in rankings] == [1, 2, 3]
    assert not any(one.HasField("rating") for one in rankings)
    newest = run.rows[-1]
    assert {seat.bot.bot: (seat.place, seat.score) for seat in listed(league)[0].seats} == {
        bot: (newest.places[number], newest.scores[number])
        for number, bot in enumerate(("greedy", "random", "first_option"))
    }


def test_matches_are_listed_in_pages_the_newest_first(league: League) -> None:
    everything = [one.number for one in listed(league)]
    assert everything == list(range(MATCHES, 0, -1))
    turned, before = list[int](), 0
    while True:
        page = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=5, before=before))
        turned += [one.number for one in page.matches]
        if not (before := page.next):
            break
    assert turned == everything
    assert listed(league, bots=[ladder_pb2.BotName(owner="local", bot="nobody")]) == []
    assert listed(league, faulted=True) == []


def test_a_match_is_found_with_the_lines_that_verify(league: League, file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    for number, one in enumerate(reversed(listed(league))):
        told = league.GetMatch(ladder_pb2.GetMatchRequest(match=one.match[:8]))
        assert told.match == one
        assert told.has_record
        assert not told.commitment
        piece = b"".join(part.piece for part in league.GetRecord(ladder_pb2.GetRecordRequest(match=one.match)))
        assert piece == lines[number]
        (filed,) = read_matches(piece)
        assert len(filed.record().choices) == one.decisions


def test_meetings_are_counted_from_both_sides(league: League) -> None:
    def met(bot: str) -> dict[str, tuple[int, int, int]]:
        request = ladder_pb2.ListOpponentsRequest(ladder="greed", bot=ladder_pb2.BotName(owner="local", bot=bot))
        return {one.bot.bot: (one.matches, one.ahead, one.level) for one in league.ListOpponents(request).opponents}

    for bot in ("greedy", "random", "first_option"):
        for other, (matches, ahead, level) in met(bot).items():
            assert matches == MATCHES
            assert met(other)[bot] == (matches, matches - ahead - level, level)


def test_faults_have_their_decision_and_cause(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    play("greed", [Wrong, "random"], matches=1, record=file)
    league = record_league(file)
    (match,) = listed(league, faulted=True)
    courses = league.GetMatch(ladder_pb2.GetMatchRequest(match=match.match)).courses
    (seat,) = [number for number, one in enumerate(match.seats) if one.faults]
    fault = courses[seat].faults[0]
    assert (fault.decision, fault.cause) == (1, arena_pb2.END_CAUSE_ILLEGAL)
    choices = next(read_matches(file.read_bytes())).record().choices
    assert choices[fault.at][0] == seat
    assert len(courses[seat].faults) == match.seats[seat].faults


def test_what_is_no_file_of_matches_is_a_line(tmp_path: Path, file: Path, run: LocalRun) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        record_league(tmp_path / "nothing.jsonl")
    with pytest.raises(UsageError, match="cannot be read"):
        record_league(tmp_path)
    for name, content in (
        ("empty", b""),
        ("text", b"hello\n"),
        ("bytes", b"\xff\xfe\n"),
        ("altered", file.read_bytes().replace(b'"greedy"', b'"greedz"', 1)),
        ("cut", file.read_bytes()[:-100]),
    ):
        (bad := tmp_path / f"{name}.jsonl").write_bytes(content)
        with pytest.raises(UsageError, match="is no file of matches") as raised:
            record_league(bad)
        assert "\n" not in str(raised.value)


def test_a_file_with_too_many_matches_is_refused(league: League, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MATCHES", MATCHES - 1)
    with pytest.raises(UsageError, match=f"more than {MATCHES - 1} matches"):
        record_league(file)


def test_what_needs_a_server_and_what_is_not_there(league: League) -> None:
    with pytest.raises(CutpurseError, match="takes a server"):
        league.RequestMatch(ladder_pb2.RequestMatchRequest(ladder="greed"))
    for name in ("ffffffff", "", listed(league)[0].match[:4]):
        with pytest.raises(NotFound):
            league.GetMatch(ladder_pb2.GetMatchRequest(match=name))


def test_a_record_with_an_unknown_end_is_refused(tmp_path: Path, file: Path, run: LocalRun) -> None:
    body = json.loads(file.read_text().splitlines()[0])
    del body["digest"]
    body["result"]["end_causes"][0] = "bored"
    text = json.dumps(body, separators=(",", ":"))
    (bad := tmp_path / "bored.jsonl").write_text(f'{text[:-1]},"digest":"{sha256(text[:-1].encode()).hexdigest()}"}}\n')
    with pytest.raises(UsageError, match="bored"):
        record_league(bad)
