"""A match that is played again on the page is the match that was played, for whoever looks."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import Record, read_record, replay, write_record
from cutpurse.engine.text import option_text
from cutpurse.games import GAMES
from cutpurse.page.match_view.course import Swing
from cutpurse.page.match_view.drawing import lines_of, rendered
from cutpurse.page.match_view.frames import asked_of, frame, whole_events, whole_view
from cutpurse.page.match_view.replay_context import BATCH
from cutpurse.page.match_view.replay_path import STRIDE, Replayed
from cutpurse.page.match_view.scores import decided
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.match_view.seat_worth import WORTH
from cutpurse.page.pages import replay as pages
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.page.drawings import taken_apart
from tests.page.leagues import PRIVATE
from tests.page.serving import page_of_file
from tests.properties.random_play import EVERY_GAME


def recorded(game: str, faults: float = 0.03, seats: int | None = None) -> Record:
    """A match at random, with faults of every cause."""
    rules, random = GAMES[game], Random(game)
    seats = seats or rules.usual_seats
    match = Match(rules, [f"ann/bot-{seat} 1" for seat in range(seats)], bytes(range(32)), log=True)
    causes = [EndCause.TIMEOUT, EndCause.CRASHED, EndCause.ILLEGAL, EndCause.DISCONNECTED]
    while decision := match.decision():
        if random.random() < faults:
            match.fault(decision.seat, decision.number, random.choice(causes), "")
        else:
            match.answer(decision.seat, decision.number, random.randrange(len(decision.options)))
    return read_record(write_record(match))


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name == "greed" else pytest.mark.full) for name in EVERY_GAME],
)
def record(request: pytest.FixtureRequest) -> Record:
    return recorded(request.param)


def test_a_seat_sees_what_it_was_sent_and_was_asked(record: Record) -> None:
    """Its observation, its options and the events since its last decision, at each of its decisions and at the end."""
    replayed = Replayed(record, record.seats)
    for seat in range(len(record.seats)):
        told = 0
        history = ZoneHistory(GAMES[record.game].words, len(record.seats))
        moments = iter(replayed.moments(seat, 0, 10**6))
        for match, asked, chosen in replay(record, GAMES[record.game]):
            if asked.seat != seat:
                continue
            moment = next(moments)
            events = [event.to(seat) for event in (match.game.log or [])[told:]]
            view = match.game.view(seat)
            whom = asked_of(view, match.game.log or [])
            marks = {one.seat: one.marks for one in moment.frame.seats}
            history.add(events, told)
            wanted = frame(
                view,
                events,
                record.seats,
                asked=whom,
                first_event=told,
                public=match.game.view(None),
                marks=marks,
                history=history,
            )
            assert moment.frame == wanted
            assert moment.at == len(match.choices)
            assert seat in whom
            decided = moment.decided
            assert decided is not None
            if len(asked.options) <= 60:
                assert [one.text for one in decided.options] == [option_text(match.game, one) for one in asked.options]
            (taken,) = [one.text for one in decided.options if one.is_chosen]
            assert taken == option_text(match.game, chosen.option)
            assert bool(decided.cause) == (chosen.cause is not EndCause.NORMAL)
            told = len(match.game.log or [])
        (end,) = moments
        assert end.decided is None
        assert [one.marks.place for one in sorted(end.frame.seats, key=lambda one: one.seat)] == record.result["places"]


def test_who_has_no_seat_sees_every_decision_and_every_card_before_the_seats(record: Record) -> None:
    replayed = Replayed(record, record.seats)
    moments = list(replayed.moments(None, 0, 10**6))
    told = 0
    naive = []
    for match, _, _ in replay(record, GAMES[record.game]):
        log = match.game.log or []
        view = whole_view(match.game)
        naive.append(
            (len(match.choices), rendered("board.html", frame=frame(view, whole_events(log[told:]), record.seats)))
        )
        told = len(log)
    assert [moment.at for moment in moments[:-1]] == [at for at, _ in naive]
    for moment, (_, wanted) in zip(moments, naive, strict=False):
        mine, theirs = taken_apart(rendered("board.html", frame=moment.frame)), taken_apart(wanted)
        assert (mine.faces, mine.backs, mine.keys) == (theirs.faces, theirs.backs, theirs.keys)
    assert [one.marks.score for one in moments[-1].frame.seats] == record.result["scores"]


def test_a_moment_is_the_same_wherever_one_comes_from(record: Record) -> None:
    replayed = Replayed(record, record.seats)
    for viewer in (None, 1):
        path = replayed.path(viewer)
        moments = list(replayed.moments(viewer, 0, 10**6))
        assert len(moments) == len(path.ats)
        for index in {0, len(moments) - 1, *range(STRIDE - 2, len(moments), STRIDE // 3)}:
            assert next(iter(replayed.moments(viewer, index))) == moments[index]
            assert path.index(path.ats[index]) == index
    assert replayed.path(None).index(-5) == 0
    assert replayed.path(None).index(10**9) == len(replayed.path(None).ats) - 1


def test_a_sentence_about_a_theft_names_whose_it_was() -> None:
    record = recorded("bag_o_loot")
    replayed = Replayed(record, record.seats)
    stolen = 0
    for moment in replayed.moments(None, 0, 10**6):
        for one in moment.frame.lines:
            if found := re.fullmatch(r"seat (\d) steals set \d+ of seat (\d) with .*", one.text):
                assert found[1] != found[2]
                assert any(one.text == row.text and row.is_steal for row in moment.rows)
                stolen += 1
    assert stolen > 3


def test_the_hashes_are_those_of_the_record(record: Record) -> None:
    assert list(Replayed(record, record.seats).hashes) == list(record.events)


def test_jumps_lead_to_faults_steals_and_turns(record: Record) -> None:
    replayed = Replayed(record, record.seats, [[5] * 2_000] * len(record.seats))
    moments = list(replayed.moments(None, 0, 10**6))
    path = replayed.path(None)
    faulted = [moment.index for moment in moments if moment.decided and moment.decided.cause]
    assert set(faulted) <= set(path.faults)
    assert path.turns[0] == 0
    assert len(path.turns) > 3
    for index in path.steals:
        assert any(row.is_steal and row.is_now for row in moments[index].rows)
    with_steals = [moment.index for moment in moments if any(row.is_steal and row.is_now for row in moment.rows)]
    assert with_steals == list(path.steals)
    for moment in moments:
        rows = [row for row in moment.rows if row.is_now]
        assert all(row.at == moment.index for row in rows)
        ats = [row.at for row in moment.rows]
        assert ats == sorted(ats)
        assert all(row.is_now for row in moment.rows if row.at == moment.index)
    seats = moments[-1].frame.seats
    assert all(one.marks.thinking_ms and one.marks.thinking_ms % 5 == 0 for one in seats)


def test_what_a_bot_used_stands_at_its_decision(record: Record) -> None:
    """Decisions are counted from 1 in what is stored, and from 0 in a replay."""
    usages: list[dict[int, str]] = [{} for _ in record.seats]
    replayed = Replayed(record, record.seats, (), usages)
    first, *_, last = [asked for _, asked, _ in replay(record, GAMES[record.game])]
    for asked in (first, last):
        usages[asked.seat][asked.number + 1] = f"{asked.number} tokens"
    moments = replayed.moments(None, 0, len(replayed.path(None).ats))
    decided = [moment.decided for moment in moments if moment.decided]
    assert [(one.seat, one.number, one.usage) for one in decided if one.usage] == [
        (asked.seat, asked.number, f"{asked.number} tokens") for asked in (first, last)
    ]


def test_the_scores_are_told_at_every_moment_and_where_they_moved_most(record: Record) -> None:
    replayed = Replayed(record, record.seats)
    scores = replayed.course.scores
    assert len(scores) == len(replayed.path(None).ats)
    worth = WORTH[record.game]
    assert scores[:-1] == [
        tuple([worth(whole_view(match.game), seat).value for seat in range(match.game.n)])
        for match, _, _ in replay(record, GAMES[record.game])
    ]
    assert list(scores[-1]) == record.result["scores"]
    every = replayed.course.swings(10**6)
    moved = [0] * replayed.seats
    for swing in every:
        before = scores[swing.at - 1]
        changed = {seat: now - before[seat] for seat, now in enumerate(scores[swing.at]) if now != before[seat]}
        assert dict(swing.changed) == changed
        assert abs(swing.changed[0][1]) == max(map(abs, changed.values()))
        for seat, change in swing.changed:
            moved[seat] += change
    assert [first + change for first, change in zip(scores[0], moved, strict=True)] == list(scores[-1])

    def size(swing: Swing) -> int:
        return sum(abs(change) for _, change in swing.changed)

    largest = replayed.course.swings(3)
    assert [one.at for one in largest] == sorted(one.at for one in largest)
    assert sorted(map(size, largest)) == sorted(map(size, every))[-3:]
    moments = list(replayed.moments(None, 0, 10**6))
    if record.game != "szmal":  # whose cards are carried out by the rules
        for one in largest:
            assert one.text in [row.text for row in moments[one.at].rows if row.is_now]


def test_a_turning_point_names_what_changed_the_worth() -> None:
    """In Szmal cards are revealed together and then carried out; one that fails changes nothing."""
    record = recorded("szmal", 0.0)
    replayed = Replayed(record, record.seats)
    texts = [one.text for one in replayed.course.swings(10**6)]
    assert not any("without effect" in text or "reveals" in text for text in texts)
    effects = [text for text in texts if text.endswith("is carried out")]
    assert len(effects) > len(texts) // 3
    assert texts[0] == "Inform! of seat 3 is carried out"
    assert "Every each-turn ability in play" in texts  # which no seat does


@pytest.mark.parametrize(
    ("game", "reasons"),
    [
        ("greed", r"(two|three|four|five|six|seven) (ones|twos|threes|fours|fives|sixes|sevens)"),
        ("bag_o_loot", r"the set of \d+"),
        ("szmal", r"[A-Z].+"),
    ],
)
def test_what_decided_is_named_with_its_reason_in_the_words_of_the_game(game: str, reasons: str) -> None:
    record = recorded(game, 0.0)
    replayed = Replayed(record, record.seats)
    course, decisive = replayed.course, replayed.course.decisive(replayed.winners)
    given = [swing.reason for swing in course.swings(10**6) if swing.reason]
    assert given
    assert all(re.fullmatch(reasons, reason) for reason in given), given
    assert not any(re.match("(Cost|Need):", reason) for reason in given)

    def margin(at: int) -> int:
        others = [score for seat, score in enumerate(course.scores[at]) if seat not in replayed.winners]
        return min(course.scores[at][seat] for seat in replayed.winners) - max(others)

    assert decisive.was_behind == any(margin(at) < 0 for at in range(len(course.scores)))
    assert all(margin(at) > 0 for at in range(decisive.since, len(course.scores)))
    best = decisive.gain or decisive.lead
    assert best is not None
    assert best.changed[0][0] in replayed.winners
    gains = {swing.at: margin(swing.at) - margin(swing.at - 1) for swing in course.swings(10**6)}
    assert gains[best.at] == max(gains.values())
    sentence = taken_apart(decided(replayed, lambda at: f"?at={at}")).text
    assert best.text.partition("seat")[0].strip() in sentence
    assert (best.reason or best.text[-8:]) in sentence
    assert ("Nobody else was ever ahead" in sentence) == (
        not decisive.was_behind and decisive.since < len(course.scores) - 1
    )


def test_a_moment_of_a_long_replay_costs_less_than_50_ms() -> None:
    record = recorded("bag_o_loot", 0.0, seats=6)
    replayed = Replayed(record, record.seats)
    last = len(replayed.path(None).ats) - 2
    assert last > 5 * STRIDE
    times = 20
    began = 0.0
    for number in range(times + 1):
        (moment,) = replayed.moments(None, last - 17 * number)
        rendered("board.html", frame=moment.frame)
        began = began or time.process_time()  # after the first, for which templates are read
    assert (time.process_time() - began) / times < 0.05


# -- the page
@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as opened:
        yield opened


@pytest.fixture(scope="module")
def matches(league_db: Path) -> Sequence[ladder_pb2.MatchShown]:
    with league_at(db=league_db, as_stranger=True) as league:
        matches = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=500)).matches
        return [match for match in matches if not match.void_cause]


def test_every_moment_has_links_that_need_no_script(page: TestClient, matches: Sequence[ladder_pb2.MatchShown]) -> None:
    match = next(one for one in matches if one.game == "greed")
    base = f"/matches/{match.match}/replay"
    text = page.get(base).text
    seen = 0
    while found := re.search(r'data-go="on"[^>]* href="([^"]+)"', text):
        seen += 1
        text = page.get(html.unescape(found[1])).text
        if seen == 5:
            break
    assert 'value="5"' in text
    assert f'href="{base}?at=4"' in text
    last = re.search(r'data-go="last"[^>]* href="([^"]+)"', text)
    assert last is not None
    end = page.get(html.unescape(last[1])).text
    assert "The match is over" in end
    assert 'data-go="on" title="on" aria-disabled="true"' in end
    drawing = taken_apart(end)
    for seat in match.seats:
        assert f"{seat.score:,}" in drawing.text


def test_a_seat_of_the_page_is_a_way_through_its_own_decisions(
    page: TestClient, matches: Sequence[ladder_pb2.MatchShown]
) -> None:
    match = next(one for one in matches if one.game == "steal_and_plunder")
    text = page.get(f"/matches/{match.match}/replay?at=7&seat=2").text
    assert 'data-viewer="2"' in text
    assert text.count("the same</td>") == 5
    assert "NOT the same" not in text
    found = re.search(r'data-ats="([^"]+)"', text)
    assert found is not None
    (filed,) = read_matches(page.app.state.ask.record_bytes(match.match))  # type: ignore[attr-defined]  # FastAPI
    choices = filed.record().choices
    assert json.loads(found[1])[:-1] == [at for at, choice in enumerate(choices) if choice[0] == 2]
    assert json.loads(found[1])[-1] == len(choices)


def test_a_batch_is_made_once_for_all_who_look_at_it(record: Record) -> None:
    replays, replayed = pages.Replays(), Replayed(record, record.seats)
    made: list[int] = []

    def make(first: int) -> bytes:
        made.append(first)
        return b"%d" % first

    for first in (0, 32, 0, 32, 64):
        assert replays.batch("it", replayed, None, first, lambda first=first: make(first)) == b"%d" % first  # type: ignore[misc]
    assert made == [0, 32, 64]
    assert replays.batch("it", replayed, 1, 0, lambda: b"as seat 1") == b"as seat 1"
    for first in range(100, 100 + pages.MOST_BATCHES):
        replays.batch("it", replayed, None, first, lambda: b"")
    assert replays.batch("it", replayed, None, 0, lambda: b"again") == b"again"


def test_a_record_that_was_told_otherwise_is_not_said_to_agree(
    page: TestClient, matches: Sequence[ladder_pb2.MatchShown], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = next(one for one in matches if one.game == "greed")
    agrees = page.get(f"/matches/{match.match}/replay").text
    monkeypatch.setattr(pages, "hashes_of", lambda replayed: [{"who": "seat 0", "recorded": "00", "agrees": False}])
    text = page.get(f"/matches/{match.match}/replay").text
    assert "NOT the same" in text
    assert "events are the same as when it was played" in agrees
    assert "events are the same" not in text


def test_the_pages_tell_the_story_to_who_sees_all_cards(
    page: TestClient, matches: Sequence[ladder_pb2.MatchShown]
) -> None:
    """The chart with a line for each seat, how it was decided, and links to the turning points."""
    match = next(one for one in matches if one.game == "steal_and_plunder")
    text = page.get(f"/matches/{match.match}/replay").text
    (chart,) = re.findall(r'<svg class="timeline".*?</svg>', text, re.DOTALL)
    assert len(re.findall(r'<path class="s-\d"', chart)) == len(match.seats)
    links = re.findall(r'<li><a href="([^"]*)" data-index="(\d+)">', text)
    assert 0 < len(links) <= 6
    assert f'data-points="[{", ".join([moment for _, moment in links])}]"' in text
    for address, moment in links:
        assert f">Moment {moment} of " in page.get(html.unescape(address)).text
    story = page.get(f"/matches/{match.match}").text
    assert chart in story
    (how,) = re.findall(r'<p class="lead how">(.*?)</p>', story, re.DOTALL)
    (main,) = re.findall(r"<main.*</main>", story, re.DOTALL)
    assert taken_apart(main.partition('class="swings"')[0]).text.count(" won with") == 1
    assert re.search(r"won with \$[\d,]+, \$[\d,]+ more than the next\.", taken_apart(how).text)
    for hidden in ("timeline", "swings", "turning"):
        assert f'class="{hidden}"' not in page.get(f"/matches/{match.match}/replay?seat=1").text


def test_a_batch_is_the_same_as_the_pages(page: TestClient, matches: Sequence[ladder_pb2.MatchShown]) -> None:
    match = next(one for one in matches if one.game == "szmal")
    batch: Any = page.get(f"/matches/{match.match}/replay/moments?first=0&seat=").json()
    assert batch["first"] == 0
    before: list[int] = []
    frames = []
    for same, left, *middle in batch["frames"]:
        before = before[:same] + middle + before[len(before) - left :]
        frames.append([batch["lines"][place] for place in before])
    assert len(frames) == BATCH
    for at in (0, 1, BATCH - 1):
        text = page.get(f"/matches/{match.match}/replay?at={at}").text
        whole = re.search(r'<div class="moment" id="moment">\n(.*?</aside>)\n</div>', text, re.DOTALL)
        assert whole is not None
        assert lines_of(whole[1]) == frames[at]


def test_names_of_bots_are_text_in_replays(page: TestClient, matches: Sequence[ladder_pb2.MatchShown]) -> None:
    hostile = 0
    for match in matches:
        if not any("<" in seat.bot.bot + seat.bot.owner for seat in match.seats):
            continue
        hostile += 1
        text = page.get(f"/matches/{match.match}/replay?at=3").text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert re.findall(r"<style|\sstyle=|\son[a-z]+=\"", text) == []
        if hostile == 6:
            break
    assert hostile


def test_seats_have_the_names_of_their_bots_everywhere(
    page: TestClient, matches: Sequence[ladder_pb2.MatchShown]
) -> None:
    """In tabs, options, log and chart; the number is only a tooltip and a label."""
    plain = re.compile(r"[a-z0-9_]+")  # hostile names are shown in part
    match = next(
        one for one in matches if one.game == "greed" and all(plain.fullmatch(seat.bot.bot) for seat in one.seats)
    )
    bots = [seat.bot.bot for seat in match.seats]
    for at in (4, match.decisions):
        text = page.get(f"/matches/{match.match}/replay?at={at}").text
        (main,) = re.findall(r"<main.*(?=<section class=\"proof)", text, re.DOTALL)
        shown = taken_apart(main).text
        assert re.findall(r"\bseat \d", shown) == []
        assert [name for name in bots if name not in shown] == []
    assert f'title="seat 0"><bdi>{bots[0]}</bdi>' in text


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("ann/sneak", "bob/thug"), ("sneak", "thug")),
        (("ann/sneak", "bob/sneak", "cid/thug"), ("ann/sneak", "bob/sneak", "thug")),
        (("ann/sneak", "ann/sneak", "thug"), ("ann/sneak (0)", "ann/sneak (1)", "thug")),
        (("ann/", "bob/a/b"), ("ann/", "a/b")),
    ],
)
def test_a_name_is_as_short_as_tells_the_seats_apart(names: tuple[str, ...], short: tuple[str, ...]) -> None:
    assert short_names(names) == short


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/matches/{match}/replay?at=x", 400),
        ("/matches/{match}/replay?at=99999999999999999999", 400),
        ("/matches/{match}/replay?at=-3", 200),
        ("/matches/{match}/replay?at=999999", 200),
        ("/matches/{match}/replay?seat=9", 404),
        ("/matches/{match}/replay?seat=-1", 404),
        ("/matches/{match}/replay?seat=\N{SUPERSCRIPT TWO}", 404),
        ("/matches/{match}/replay/moments?first=99999", 404),
        ("/matches/{match}/replay/moments?first=-1", 400),
        ("/matches/ffffffffffffffffffffffffffffffff/replay", 404),
        ("/matches/%00/replay", 404),
        ("/matches/{match}/replay/nothing", 404),
    ],
)
def test_what_is_no_moment_is_told(
    page: TestClient, matches: Sequence[ladder_pb2.MatchShown], path: str, status: int
) -> None:
    assert page.get(path.format(match=matches[0].match)).status_code == status


def test_the_first_signs_of_a_match_lead_to_it(page: TestClient, matches: Sequence[ladder_pb2.MatchShown]) -> None:
    answer = page.get(f"/matches/{matches[0].match[:10]}/replay?at=3&seat=1", follow_redirects=False)
    assert answer.status_code == 307
    assert answer.headers["location"] == f"/matches/{matches[0].match}/replay?at=3&seat=1"


def test_matches_of_private_ladders_are_not_there(page: TestClient, league_db: Path) -> None:
    with league_at(db=league_db) as league:
        hidden = league.ListMatches(ladder_pb2.ListMatchesRequest(ladder=PRIVATE)).matches
    assert hidden
    for what in ("replay", "replay/moments"):
        answer = page.get(f"/matches/{hidden[0].match}/{what}")
        unknown = page.get(f"/matches/{'f' * 32}/{what}")
        assert answer.status_code == unknown.status_code == 404
