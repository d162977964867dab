"""Match files: what a leaderboard writes of real matches is checked by the SDK from the file alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cutpurse.engine.commitment import commitment
from cutpurse.engine.errors import RecordError, UnknownGame
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.leaderboard import match_file_writer as writing
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches import match_file as reading
from cutpurse.sdk.matches.match_file import MatchFileCheck, check, read_matches
from cutpurse.server.ladder_config import Ladder
from tests.server.small_world import Manner, World
from tests.server.stores import match_of
from tests.typed import run

# No file can prove these, and every answer of `match verify` says so.
SERVERS_WORD = {"match", "ladder", "started", "finished", "rated_number", "thinking_ms", "reason", "requested_by"}


def played(game: str, seats: int) -> FinishedMatch:
    """A match in which now and then a bot is illegal, silent or gives up."""
    world = World([Ladder("it", game, seats, matches_wanted=1)], seed=f"{game}/{seats}")
    for name in ("ann", "bob", "cid", "dan", "eve")[:seats]:
        world.bot(name, manner=Manner(illegal=0.05, never=0.02, gives_up=0.02))
    world.run(lambda: world.lobby.is_complete)
    (result,) = world.store.kept.values()
    return result


def stored(folder: Path, *results: FinishedMatch) -> list[str]:
    """The files of matches, from a leaderboard that has stored them."""
    with Store(folder / "cutpurse.db") as store:
        for result in results:
            store.write(ensure_ladder, Ladder(result.ladder, match_of(result).rules.words.game, len(result.seats)).kept)
            store.submit(result).result(240)
        return [
            match_file(
                store.run(queries.match, result.match),
                store.run(queries.record, result.match) if result.record() else None,
            )
            for result in results
        ]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A match file of each game."""
    results = [replace(played(game, 3), ladder=game) for game in GAMES]
    return dict(zip(GAMES, stored(tmp_path_factory.mktemp("files"), *results), strict=True))


def checked(content: str | bytes) -> list[MatchFileCheck]:
    return [check(one) for one in read_matches(content if isinstance(content, bytes) else content.encode())]


@pytest.mark.parametrize("game", list(GAMES))
def test_a_match_file_needs_nothing_else_to_be_checked(game: str, files: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_text(files[game], encoding="utf-8", newline="")
    head = json.loads(files[game].splitlines()[0])
    shown = run("match", "verify", path)
    assert (shown.exit_code, shown.stderr) == (0, "")
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert lines[0].startswith(f"line 1: match {head['match']} of {game}, ")
    assert "the deal was fixed before the match: the commitment fits the seed that was opened" in lines
    assert "the cards were dealt from that seed: the record has the key that follows from it" in lines
    assert any(line.startswith("not checked: that this commitment was published") for line in lines)
    assert any(head["commitment"] in line for line in lines)
    assert lines[-1] == "1 of 1 matches are as recorded"
    (match,) = json.loads(run("match", "verify", path, "--json").stdout)["matches"]
    assert (match["match"], len(match["checked"]), len(match["not_checked"])) == (head["match"], 9, 3)
    assert "decision 0: seat " in run("match", "replay", path).stdout


def test_a_file_may_hold_matches_of_both_kinds(files: dict[str, str], tmp_path: Path) -> None:
    greed, szmal = files["greed"], files["szmal"]
    path = tmp_path / "all.jsonl"
    path.write_text(greed + szmal.splitlines()[1] + "\n" + szmal, encoding="utf-8", newline="")
    assert [one.game for one in checked(path.read_bytes())] == ["greed", "szmal", "szmal"]
    assert [len(one.not_checked) for one in checked(path.read_bytes())] == [3, 0, 3]
    assert run("match", "replay", path, "--match", "2").stdout.startswith("szmal, ")


def test_void_matches_are_checked_as_far_as_they_go(tmp_path: Path) -> None:
    result = played("greed", 3)
    later = replace(
        played("greed", 3), match="f" * 32, deal=replaced_deal(result, "e" * 32)
    ).voided()  # its record has a result
    broken = replace(later, match="d" * 32, deal=replaced_deal(result, "c" * 32))
    match_of(broken).game.log = None
    files = stored(tmp_path, result.voided(), broken)
    after, without = (checked(file)[0] for file in files)
    assert "the match was played to its end, and then made void: void_server" in after.checked
    assert without.checked[-1] == "there is no record of it: what was played cannot be shown"
    assert len(without.not_checked) == 3
    path = tmp_path / "void.jsonl"
    path.write_text(files[1], encoding="utf-8", newline="")
    assert run("match", "verify", path).exit_code == 0
    shown = run("match", "replay", path)
    assert (shown.exit_code, "has no record" in shown.stderr) == (1, True)


def replaced_deal(result: FinishedMatch, board: str) -> Any:
    params = json.dumps({**json.loads(result.deal.params), "board": board}, separators=(",", ":"), sort_keys=True)
    seed = result.deal.seed
    return result.deal._replace(board=board, params=params.encode(), commitment=commitment(seed, params.encode()))


def test_a_match_that_was_made_void_under_way_is_checked_to_there(tmp_path: Path) -> None:
    world = World([Ladder("it", "szmal", 3, matches_wanted=1)])
    for name in ("ann", "bob", "cid"):
        world.bot(name)
    world.run(lambda: any(seen.decisions for bot in world.bots for seen in bot.open.values()))
    world.lobby.void_all()
    world.run(lambda: bool(world.store.kept))
    (result,) = world.store.kept.values()
    assert result.void_cause == EndCause.VOID_SERVER.value
    (found,) = checked(stored(tmp_path, result)[0])
    assert "the match is void: void_server" in found.checked


def test_both_sides_mean_the_same_schemas() -> None:
    assert writing.SCHEMAS == (reading.SCHEMA, reading.SCHEMA_WITH_NONCES)


# -- what was altered
def is_found(content: bytes) -> bool:
    """Whether a file is no longer what it was by its own account."""
    try:
        checked(content)
    except (RecordError, UnknownGame):
        return True
    return False


def test_every_byte_that_is_altered_is_found(files: dict[str, str]) -> None:
    content = bytearray(files["greed"].encode())
    assert not is_found(bytes(content))
    random = Random(1)
    for at, right in enumerate(content):
        for wrong in {right ^ 1, right ^ 0x20, ord("\r"), random.randrange(256)} - {right}:
            content[at] = wrong
            assert is_found(bytes(content)), f"byte {at}: {chr(right)!r} became {chr(wrong)!r}"
        content[at] = right


def test_whatever_is_cut_doubled_or_moved_is_found(files: dict[str, str]) -> None:
    content = files["szmal"].encode()
    random = Random(2)
    for _ in range(500):
        here, there = sorted(random.choices(range(len(content)), k=2))
        part = content[here : max(there, here + 1)]
        for changed in (
            content[:here] + content[here + len(part) :],  # cut
            content[: here + len(part)] + part + content[here + len(part) :],  # doubled
            content[:here] + part[::-1] + content[here + len(part) :],  # turned round
        ):
            if changed != content and not harmless(changed, content):
                assert is_found(changed), (here, there)


def harmless(changed: bytes, content: bytes) -> bool:
    """Whether only the end of the last line is missing, or the head is, or whole matches come again."""
    head, record = content.splitlines(keepends=True)
    return changed in (content[:-1], record, record[:-1], content + content, content + record, head + record + record)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each number, text and nothing in a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, dict | list):
        yield path
    for name, part in parts:
        yield from leaves(part, (*path, name))


def with_leaf(document: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    changed = dict(document) if isinstance(document, dict) else list(document)
    changed[path[0]] = with_leaf(document[path[0]], path[1:], other)
    return changed


def line_of(body: dict[str, Any]) -> str:
    """A line of this body with a digest that fits it."""
    rest = {name: value for name, value in body.items() if name not in ("schema", "digest")}
    schema = json.dumps(body["schema"])
    text = f'{{"schema":{schema},' + json.dumps(rest, separators=(",", ":"), sort_keys=True)[1:-1]
    return f'{text},"digest":"{sha256(text.encode()).hexdigest()}"}}'


def others(value: Any) -> list[Any]:
    """What might stand in place of a value: others of its kind, and some of another."""
    if isinstance(value, str):
        flipped = [value[:at] + chr(ord(sign) ^ 1) + value[at + 1 :] for at, sign in list(enumerate(value))[:3]]
        return [*flipped, value + "x", "", value.upper() + "é", 0, None]
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, float(value), str(value), value * 2 + 10**30, None, True]
    return [0, 1, "void_server", "", "0" * 64, [], {}]


@pytest.mark.full
@pytest.mark.parametrize("game", ["greed", "szmal"])
def test_every_field_that_is_altered_with_its_digests_renewed_is_found(game: str, files: dict[str, str]) -> None:
    head, record = (json.loads(line) for line in files[game].splitlines())
    assert line_of(head) + "\n" + line_of(record) + "\n" == files[game]
    unproven = set()
    for path in leaves(head):
        for other in others(reached(head, path)):
            changed = with_leaf(head, path, other)
            if path == ("digest",) or changed == head:
                continue
            if not is_found(f"{line_of(changed)}\n{line_of(record)}\n".encode()):
                unproven.add(path[-1])
    assert unproven <= SERVERS_WORD
    for path in leaves(record):
        if path == ("digest",):
            continue
        for other in others(reached(record, path))[:2]:  # each plays the match anew
            changed = with_leaf(record, path, other)
            if json.dumps(changed) == json.dumps(record):
                continue
            line = line_of(changed)
            named = {**head, "record": sha256(line.encode()).hexdigest()}
            assert is_found(f"{line_of(named)}\n{line}\n".encode()), (path, other)


def reached(document: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        document = document[name]
    return document


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": "00" * 32}, "the commitment does not fit the seed"),
        ({"board": "another"}, "other board than the head"),
        ({"rules": "0"}, "other rules than the head"),
        ({"settings": {"cards": "9"}}, "other settings than the head"),
        ({"schema": "match/9"}, "this version reads match/1"),
        ({"decisions": -1}, "decisions is less than 0"),
        ({"decisions": 1}, "by the head, decisions is 1; by the match played again it is "),
        ({"record": None}, "the match counts, and has no record"),
        ({"record": "00" * 32}, "not the record that the head of match"),
        ({"void_cause": "void_server"}, "the match is void, and seat 0 has a result"),
        ({"void_cause": "rain"}, "a match is void for void_server or void_operator"),
        ({"rated_number": 0}, "numbered from 1"),
        ({"requested_by": "ann"}, "the match was asked for, and is said to be rated"),
        ({"more": 1}, "its fields are not "),
        ({"params": "\ud800"}, "not a head of this form"),
    ],
)
def test_what_does_not_hold_is_told(change: dict[str, Any], said: str, files: dict[str, str], tmp_path: Path) -> None:
    head, record = files["greed"].splitlines()
    path = tmp_path / "match.jsonl"
    path.write_text(f"{line_of({**json.loads(head), **change})}\n{record}\n", encoding="utf-8", newline="")
    shown = run("match", "verify", path)
    assert shown.exit_code == 1
    (line,) = shown.stderr.splitlines()
    assert said in line
    assert str(path) in line


@pytest.mark.parametrize(
    "params",
    [
        "[]",
        "no JSON",
        '{"seats":' + "[" * 100_000,
        '{"seats":7}',
        '{"seats":[7,7,7]}',
        '{"boards":"rotation","tables":[]}',
        '{"boards":"rotation","tables":{"a":1}}',
        '{"boards":"duplicate","tables":[{"match":[],"seats":"abc"}]}',
    ],
)
def test_parameters_of_any_form_are_refused_in_a_line(params: str, files: dict[str, str]) -> None:
    head, record = files["greed"].splitlines()
    body = json.loads(head)
    body |= {"params": params, "commitment": commitment(bytes.fromhex(body["seed"]), params.encode()).hex()}
    with pytest.raises(RecordError, match=r"\(params\) cannot be read"):
        checked(f"{line_of(body)}\n{record}\n")


def test_a_head_whose_record_is_missing_is_told(files: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_text(files["greed"].splitlines()[0] + "\n", encoding="utf-8", newline="")
    assert "line 2: this is not the record that" in run("match", "verify", path).stderr
