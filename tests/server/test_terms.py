"""Ladders that change while they are played on: who may come in, who is paired, and until when."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard.ladders import NewLadder, create_ladders
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.results import Change, Identity, LadderTerms, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.server.access.owners import Grant, HostedBotIdentity
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import NUMBERS, Ladder, default_ladders, ladder_defined, ladder_of
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.lobby import Lobby, MatchRequest
from cutpurse.server.streams.hello import introduction
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.server.arenas import QUICK, running_arena
from tests.server.raw_bot import Ended, RawBot
from tests.server.small_world import BotThere, World

START = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=1_000)  # of the world's time


def says_hello(lobby: Lobby, owner: str, *ladders: str, bot: str = "sneak", game: str = "greed") -> None:
    """What a Hello of this owner is answered by, before there is a session."""
    games = [arena_pb2.GameWanted(game=game, ladders=ladders)] if game else []
    hello = arena_pb2.Hello(protocol_major=1, bot=bot, games=games)
    told = introduction(hello, Grant(owner, ""), lobby.ladders(owner), ServerLimits())
    lobby.check(told.identity, told.wanted)


def refused(lobby: Lobby, owner: str, *ladders: str, bot: str = "sneak", game: str = "greed") -> tuple[str, str]:
    """Why a Hello is refused."""
    with pytest.raises(CallRefused) as told:
        says_hello(lobby, owner, *ladders, bot=bot, game=game)
    return told.value.ending.reason, told.value.ending.text


def ladder(name: str, seats: int = 2, game: str = "greed", **terms: object) -> Ladder:
    return Ladder(name, game, seats, {}, QUICK, terms=LadderTerms(**terms))  # type: ignore[arg-type]


def played(world: World) -> list[str]:
    return [result.ladder for result in world.store.kept.values()]


# -- at the door
def test_a_hello_is_judged_by_the_terms_of_the_ladders_that_it_names() -> None:
    world = World(
        [
            ladder("open"),
            ladder("anns", owners=("ann",)),
            ladder("secret", owners=("ann",), is_private=True),
            ladder("over", frozen=START - timedelta(days=1)),
            ladder("soon", frozen=START + timedelta(days=1)),
            ladder("small", most_bots=1),
        ]
    )
    for name in ("open", "anns", "secret", "soon", "small"):
        says_hello(world.lobby, "ann", name)
    assert refused(world.lobby, "ann", "over") == (
        "FROZEN",
        "ladder over is frozen since 2025-12-31 00:16 UTC: no match starts there",
    )
    reason, text = refused(world.lobby, "bob", "anns")
    assert reason == "NOT_YOURS"
    assert text == "ladder anns is not for bots of bob; ask the operator of the server"
    # What is private is not there for others: the answer is that to any other name, and names it nowhere.
    for owner, name in (("bob", "secret"), ("bob", "nothing"), ("local", "secret")):
        reason, text = refused(world.lobby, owner, name)
        assert reason == "NOT_FOUND"
        assert text == f"no ladder of greed is called '{name}'; there are: anns, open, over, small, soon"
    assert "secret" in refused(world.lobby, "ann", "nothing")[1]
    world.bot("first", owner="cid")
    reason, text = refused(world.lobby, "ann", "small")
    assert (reason, text) == ("FULL", "ladder small has its one bot; there is room when one of them leaves")
    says_hello(world.lobby, "cid", "small", bot="first")  # who is there already takes over from itself
    says_hello(world.lobby, HOUSE, "over")


def test_who_names_no_ladder_is_refused_if_none_is_left() -> None:
    world = World([ladder("over", frozen=START), ladder("hers", owners=("ann",), is_private=True)])
    for game in ("greed", ""):
        assert refused(world.lobby, "bob", game=game)[0] == "FROZEN"
        says_hello(world.lobby, "ann", game=game)
    assert refused(world.lobby, "ann", game="szmal")[0] == "NOT_FOUND"


def test_the_moment_decides_whether_a_ladder_is_frozen() -> None:
    world = World([ladder("it", frozen=START + timedelta(seconds=10))])
    says_hello(world.lobby, "ann", "it")
    world.now += 9.999
    says_hello(world.lobby, "ann", "it")
    world.now += 0.001
    assert refused(world.lobby, "ann", "it")[0] == "FROZEN"


async def test_a_stream_is_refused_and_a_paused_bot_comes_back_to_its_tables_only(tmp_path: Path) -> None:
    frozen = datetime(2026, 1, 1, tzinfo=UTC)
    ladders = [
        ladder("it"),
        ladder("over", frozen=frozen),
        ladder("small", most_bots=1),
        ladder("ann", owners=("ann",)),
    ]
    async with running_arena(tmp_path, ladders) as server:
        lobby = server.opened.lobby

        async def told(name: str, wanted: str) -> tuple[grpc.StatusCode, str]:
            async with RawBot(server.address) as bot:
                with pytest.raises(Ended) as ended:
                    await bot.hello(name, games=[arena_pb2.GameWanted(game="greed", ladders=[wanted])])
            return ended.value.code, ended.value.reason

        async with RawBot(server.address) as ann:
            welcome = await ann.hello("sneak", games=[arena_pb2.GameWanted(game="greed", ladders=["small"])])
            assert await told("brute", "over") == (grpc.StatusCode.FAILED_PRECONDITION, "FROZEN")
            assert await told("brute", "small") == (grpc.StatusCode.RESOURCE_EXHAUSTED, "FULL")
            assert await told("brute", "ann") == (grpc.StatusCode.PERMISSION_DENIED, "NOT_YOURS")
            assert await told("brute", "none") == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
            lobby._attendance.pause(Identity("local", "sneak", "1"))
            while not ann.waiting["problems"]:
                await ann._take()
            assert ann.waiting["problems"][0].reason == arena_pb2.ERROR_REASON_PAUSED
        assert await told("sneak", "it") == (grpc.StatusCode.FAILED_PRECONDITION, "PAUSED")
        resume = arena_pb2.Resume(session=welcome.session, secret=welcome.resume_secret)
        async with RawBot(server.address) as ann:
            assert (await ann.hello("sneak", resume=resume)).resumed
            while not ann.waiting["problems"]:
                await ann._take()
            assert [one.ladders for one in lobby.here()] == [()]
            lobby.lifted(Identity("local", "sneak", "1"))
            assert [one.ladders for one in lobby.here()] != [()]


def test_a_game_of_which_all_ladders_are_private_is_none_for_others() -> None:
    public = ladder("open")
    hers = ladder("hers", game="szmal", owners=("ann",), is_private=True)
    said = [refused(World(ladders).lobby, "eve", game="szmal") for ladders in ([public], [public, hers])]
    assert said == [("NOT_FOUND", "no game is called 'szmal' here; there are: greed")] * 2
    says_hello(World([public, hers]).lobby, "ann", game="szmal")


@pytest.mark.parametrize("handed_in_for", [("old", "new"), ("old",), ()])
def test_who_is_run_by_the_server_comes_in_though_a_ladder_is_frozen(handed_in_for: tuple[str, ...]) -> None:
    world = World([ladder("old", frozen=START - timedelta(days=1)), ladder("new")])
    sessions = Sessions(world.lobby, ServerLimits(), "server", secrets.token_bytes)
    hello = arena_pb2.Hello(protocol_major=1, bot="sneak")
    grant = Grant("ann", "pass", ("play",), resident=HostedBotIdentity("sneak", "1", handed_in_for))
    sessions.admit(arena_pb2.PlayRequest(hello=hello), lambda: None, 0.0, grant)
    (bot,) = world.lobby.here()
    assert bot.ladders == (handed_in_for or ("old", "new"))


# -- while it runs
def test_a_frozen_ladder_begins_no_match_and_ends_those_that_are_open() -> None:
    world = World([ladder("it", frozen=START + timedelta(seconds=3))])
    bots = [world.bot(name, tables=2, owner=name) for name in ("ann", "bob", "cid")]
    world.run()
    began = [announced.started for announced in world.store.announced.values()]
    assert len(began) > 5
    assert max(began) < START + timedelta(seconds=3)
    assert world.now > 1_003.0
    assert world.store.kept.keys() == world.store.announced.keys()
    assert all(not result.is_void and result.is_rated for result in world.store.kept.values())
    world.lobby.set_ladder(ladder("it"))  # it is open again
    before = len(world.store.kept)
    world.run(lambda: len(world.store.kept) >= before + 3)
    text = "ladder it is frozen since 2026-01-01 00:16 UTC: no match starts there"
    assert [bot.problems for bot in bots] == [[("FROZEN", text)]] * 3


def told(*bots: BotThere) -> list[list[str]]:
    """Of what trouble each of them was told."""
    return [[f"{reason}: {text}" for reason, text in bot.problems] for bot in bots]


@pytest.mark.full
def test_who_waits_where_nothing_begins_any_more_is_told_why_and_once() -> None:
    world = World([ladder("it", frozen=START + timedelta(seconds=21)), ladder("other", owners=("ann",))])
    ann, bob = world.bot("a", owner="ann"), world.bot("b", owner="bob", games=["greed"])
    cid, house = world.bot("c", owner="cid", games=["szmal"]), world.bot("random", owner=HOUSE)
    world.run(lambda: world.now >= 1_015.0)
    assert told(ann, bob, house) == [[]] * 3
    world.run()  # the moment comes, though nothing else happens
    since = "ladder it is frozen since 2026-01-01 00:17 UTC: no match starts there"
    assert told(ann, bob, house) == [[], [f"FROZEN: {since}"], []]
    world.lobby.set_ladder(ladder("other", frozen=START, owners=("ann",)))
    world.run()
    world.lobby.set_ladder(ladder("other", frozen=START, owners=("ann",), is_private=True))
    world.run()
    assert told(ann, bob, house) == [[f"FROZEN: {since}"], [f"FROZEN: {since}"], []]  # that it is no more than before
    bob.lose_stream(1.0)
    world.run()
    assert told(bob) == [[f"FROZEN: {since}"] * 2]  # when it comes back
    world.lobby.set_ladder(ladder("it", owners=("ann",)))
    world.run()
    world.lobby.set_ladder(ladder("it", owners=("ann",), is_private=True))
    world.run()
    more = told(bob)[0][2:]
    gone = "ask the operator of the server"
    assert more == [
        f"NOT_YOURS: ladder it is not for bots of bob; {gone}",
        f"NOT_YOURS: this bot may not play on any ladder; {gone}",  # no name of what they may not see
    ]
    assert told(cid) == [[f"NOT_YOURS: this bot may not play on any ladder; {gone}"]]


def test_who_has_no_ladder_any_more_is_told_when_it_is_removed() -> None:
    world = World([ladder("it"), ladder("other", game="szmal")])
    ann, bob = world.bot("a", owner="ann", games=["greed"]), world.bot("b", owner="bob")
    world.lobby.remove_ladder("it")
    world.run(lambda: bool(ann.problems))
    gone = "NOT_YOURS: this bot may not play on any ladder; ask the operator of the server"
    assert told(ann, bob) == [[gone], []]


def test_a_ladder_may_have_the_name_of_one_that_was_removed_and_be_another() -> None:
    world = World([ladder("other")], seed="names")
    bots = [world.bot(name, 2, owner=name, games=["szmal"]) for name in ("ann", "bob", "cid")]
    world.lobby.set_ladder(ladder("it", game="szmal"))
    name = world.lobby.request(MatchRequest("it", tuple(bot.identity for bot in bots[:2]), None, "ann"), world.now)
    world.run(lambda: name in world.store.kept)
    world.lobby.set_ladder(ladder("it", frozen=START, game="szmal"))
    world.run(lambda: world.lobby.is_idle)
    world.lobby.remove_ladder("it")
    world.lobby.set_ladder(ladder("it", seats=3, game="szmal"))
    before = len(world.store.kept)
    world.run(lambda: len(world.store.kept) >= before + 3)
    newest = list(world.store.kept.values())[-3:]
    assert [(one.ladder, len(one.seats), one.void_cause) for one in newest] == [("it", 3, None)] * 3


def test_who_is_put_off_a_ladder_that_became_smaller_is_told() -> None:
    world = World([ladder("it")])
    bots = [world.bot(name, owner=name) for name in ("ann", "bob", "cid")]
    world.run(lambda: len(world.store.kept) >= 3)
    world.lobby.set_ladder(ladder("it", most_bots=2))
    world.run(lambda: len(world.store.kept) >= 6)
    text = "FULL: ladder it has its 2 bots; there is room when one of them leaves"
    assert told(*bots) == [[], [], [text]]


def test_a_new_ladder_reaches_bots_that_are_there() -> None:
    world = World([ladder("it", frozen=START)])
    ann, bob = world.bot("a", owner="ann"), world.bot("b", owner="bob")
    picky = world.bot("c", owner="cid", games=["szmal"])
    world.run()
    assert world.store.announced == {}
    world.lobby.set_ladder(ladder("new"))
    world.run(lambda: len(world.store.kept) >= 3)
    assert set(played(world)) == {"new"}
    here = {one.identity: one.ladders for one in world.lobby.here()}
    assert here == {ann.identity: ("it", "new"), bob.identity: ("it", "new"), picky.identity: ()}
    assert world.lobby.ladders() == {"greed": ["it", "new"]}


def test_whoever_may_play_no_more_is_paired_no_more() -> None:
    world = World([ladder("it")])
    bots = [world.bot(f"{name}s", owner=name) for name in ("ann", "bob", "cid")]
    world.run(lambda: len(world.store.kept) >= 3)
    world.lobby.set_ladder(ladder("it", owners=("ann", "bob")))
    open_then = {one.name for one in world.lobby.open_matches()}
    world.run(lambda: len(world.store.kept) >= len(open_then) + 13)
    last = [announced for name, announced in world.store.announced.items() if name not in open_then][-5:]
    assert all({seat.owner for seat in one.players} == {"ann", "bob"} for one in last)
    assert world.lobby.here()[2].ladders == ()
    assert {one.identity for one in world.lobby.here()} == {bot.identity for bot in bots}


def test_a_place_that_gets_free_goes_to_who_waits_for_it() -> None:
    world = World([ladder("small", most_bots=2), ladder("wide")])
    ann, bob, cid = (world.bot(f"{name}s", owner=name) for name in ("ann", "bob", "cid"))
    house = world.bot("random", owner=HOUSE)
    ladders = {one.identity: one.ladders for one in world.lobby.here()}
    assert [ladders[bot.identity] for bot in (ann, bob, cid, house)] == [("small", "wide")] * 2 + [("wide",), ()]
    ann.lose_stream(None)
    assert {one.identity: one.ladders for one in world.lobby.here()}[cid.identity] == ("small", "wide")
    world.lobby.set_ladder(ladder("small", most_bots=1))
    assert sum("small" in one.ladders for one in world.lobby.here()) == 1


def test_an_owner_has_so_many_bots_on_a_ladder_whatever_their_versions() -> None:
    world = World([ladder("one", most_per_owner=1), ladder("any")])
    first = world.bot("sneak", owner="ann", version="1")
    newer = world.bot("sneak", owner="ann", version="2")
    other = world.bot("thug", owner="ann")
    bob = world.bot("bobs", owner="bob")
    house = world.bot("random", owner=HOUSE)
    nobodys = [world.bot(name, owner=NOBODY) for name in ("x", "y")]

    def there() -> list[Identity]:
        return [one.identity for one in world.lobby.here() if "one" in one.ladders]

    assert there() == [first.identity, newer.identity, bob.identity, *[one.identity for one in nobodys]]
    assert refused(world.lobby, "ann", "one", bot="nimble") == (
        "FULL",
        "ladder one takes one bot of an owner, and ann has sneak there; there is room when it leaves",
    )
    says_hello(world.lobby, "ann", "one", bot="sneak")
    says_hello(world.lobby, "bob", "one", bot="bobs")
    says_hello(world.lobby, HOUSE, "one", bot=house.identity.bot)
    for gone in (first, newer):
        assert other.identity not in there()
        gone.lose_stream(None)
    assert other.identity in there()  # who waited has the place
    assert "and ann has thug there" in refused(world.lobby, "ann", "one")[1]


def test_who_has_too_many_bots_on_a_ladder_keeps_the_first_ones() -> None:
    world = World([ladder("it")])
    bots = [world.bot(name, owner=name[0]) for name in ("a1", "b1", "a2", "a3", "b2", "c1")]
    world.lobby.set_ladder(ladder("it", most_per_owner=2, most_bots=4))
    assert [one.identity.bot for one in world.lobby.here() if one.ladders] == ["a1", "b1", "a2", "b2"]
    world.run(lambda: len(world.store.kept) >= 3)
    assert told(*bots)[3:] == [
        ["FULL: ladder it has its 4 bots; there is room when one of them leaves"],
        [],
        ["FULL: ladder it has its 4 bots; there is room when one of them leaves"],
    ]
    world.lobby.set_ladder(ladder("it", most_per_owner=1))
    assert [one.identity.bot for one in world.lobby.here() if one.ladders] == ["a1", "b1", "c1"]


def test_only_the_terms_of_a_ladder_may_change() -> None:
    world = World([ladder("it")])
    with pytest.raises(ValueError, match="ladder it is another one; only its terms may change"):
        world.lobby.set_ladder(ladder("it", seats=3))


# -- pauses
def test_a_version_that_is_paused_gets_no_match_until_it_is_lifted() -> None:
    world = World([ladder("it")])
    ann, bob, cid = (world.bot(f"{name}s", tables=1, owner=name) for name in ("ann", "bob", "cid"))
    first = world.bot("anns", tables=1, owner="ann", version="2")
    world.store.follows = lambda result: StoreOutcome(paused=(ann.identity,) if ann.identity in result.players else ())
    world.run(lambda: bool(ann.problems))
    ((reason, text),) = ann.problems
    assert reason == "PAUSED"
    assert text == (
        "ann/anns:1 is paused: it was taken over in too many of its recent rated matches. "
        "Mend it, then: cutpurse bot check BOT --unpause"
    )
    known = set(world.store.announced)
    world.run(lambda: len(world.store.kept) >= 12)
    new = [announced for name, announced in world.store.announced.items() if name not in known]
    assert new
    assert not any(ann.identity in one.players for one in new)
    assert any(first.identity in one.players for one in new)  # another version of it is another
    assert not ann.sat  # what it sat at was played to the end
    assert refused(world.lobby, "ann", bot="anns")[0] == "PAUSED"
    ann.lose_stream(0.0)
    world.run(lambda: ann.is_there)
    assert [reason for reason, _ in ann.problems] == ["PAUSED", "PAUSED"]  # at every coming back
    world.store.follows = lambda result: StoreOutcome()
    world.lobby.lifted(ann.identity)
    says_hello(world.lobby, "ann", bot="anns")
    done = len(ann.done)
    world.run(lambda: len(ann.done) > done)
    assert cid.problems == bob.problems == []


def test_a_pause_that_has_ended_before_its_word_was_heard_is_none() -> None:
    world = World([ladder("it")])
    ann, _ = world.bot("sneak", owner="ann"), world.bot("brute", owner="bob")
    world.store.follows = lambda result: StoreOutcome(paused=(ann.identity,))
    world.run(lambda: world.lobby._storing.has_answers)  # the store has said so, and the lobby has not heard it
    world.lobby.lifted(ann.identity)
    world.store.follows = lambda result: StoreOutcome()
    open_then = set(world.store.announced)
    world.run(lambda: bool(world.store.kept.keys() - open_then))
    assert ann.problems == []


def test_who_was_paused_before_the_server_started_is() -> None:
    paused = Identity("ann", "sneak", "1")
    lobby = Lobby(
        [ladder("it")],
        World([]).store,
        entropy=bytes,
        utc=lambda: START,
        log=World([]).log,
        paused=[paused],
    )
    assert refused(lobby, "ann")[0] == "PAUSED"
    says_hello(lobby, "ann", bot="brute")


def test_house_bots_are_not_paused() -> None:
    world = World([ladder("it", house=("random",))])
    house, _ = world.bot("random", owner=HOUSE), world.bot("sneak", owner="ann")
    world.store.follows = lambda result: StoreOutcome(paused=(house.identity,))
    world.run(lambda: len(world.store.kept) >= 5)
    assert house.problems == []


# -- what the store knows
def test_the_store_is_asked_of_who_comes_and_what_it_says_is_used() -> None:
    world = World([ladder("it"), ladder("other")])
    ann = Identity("ann", "sneak", "1")
    world.store.known[ann] = {"it": (Skill(40.0, 1.0), 70), "unknown": (Skill(1.0, 1.0), 1)}
    bot = world.bot("sneak", owner="ann")
    world.bot("brute", owner="bob")
    world.lobby.tick(world.now)
    assert world.lobby._pairing._books["it"].known[ann].mu == 40.0
    assert world.lobby._pairing._books["it"].entries[bot].matches >= 70
    world.store.follows = lambda result: StoreOutcome(
        changes=tuple(Change(player, Skill(40.0, 1.0), Skill(-3.0, 1.0)) for player in result.players)
    )
    world.run(lambda: world.lobby._pairing._books["it"].known[ann].mu == -3.0)
    assert "it" in played(world)


def test_each_match_has_its_reason_in_the_log_and_in_the_store() -> None:
    world = World([ladder("it")])
    for name in ("ann", "bob"):
        world.bot(f"{name}s", owner=name)
    world.run(lambda: len(world.store.kept) >= 3)
    logged = {facts["match"]: facts["reason"] for _, event, facts in world.log.lines if event == "match started"}
    for name, result in world.store.kept.items():
        assert result.reason == logged[name] == world.store.announced[name].reason
        assert "had fewest matches" in result.reason


# -- ladders as data
def test_a_ladder_comes_back_from_the_store_as_it_was(tmp_path: Path) -> None:
    terms = LadderTerms(("ann", "bob"), 7, True, datetime(2026, 7, 1, 12, tzinfo=UTC), ("random",))
    made = Ladder("it", "greed", 3, {}, TimeControl(base_ms=50), terms=terms)
    with Store(f"{tmp_path}/it.db") as store:
        clock = {name: getattr(made.control, name) for name in made.control.kinds()}
        new = NewLadder("it", made.game, made.seats, made.rating, made.settings, clock, terms)
        (entry,) = store.write(create_ladders, [new], START)
    assert ladder_of(entry) == made


def test_a_new_ladder_of_each_game_begins_with_the_numbers_of_its_game() -> None:
    assert set(NUMBERS) == set(GAMES)
    for ladder in default_ladders():
        made = ladder_defined(ladder_pb2.LadderDefined(name="it", game=ladder.game, seats=3))
        assert made.rating == ladder.rating == NUMBERS[ladder.game]
        usual = TrueSkill(draw_probability=0.1)
        assert made.rating.newcomer == usual.newcomer  # one scale for all ladders
        assert made.rating.beta > usual.beta  # more luck than TrueSkill supposes
        assert 0 < made.rating.tau < usual.tau


def test_a_ladder_is_defined_by_a_message() -> None:
    defined = ladder_pb2.LadderDefined(name="it", game="szmal")
    (usual,) = (one for one in default_ladders() if one.game == "szmal")
    assert ladder_defined(defined) == Ladder("it", "szmal", usual.seats, {}, TimeControl(), usual.rating)
    defined.seats = 3
    defined.clock.base_ms = 70
    defined.clock.poll_floor_ms = 0
    defined.terms.owners.extend(["ann", "bob", "ann"])
    defined.terms.frozen_ms = 1_767_225_600_000
    defined.terms.private = True
    defined.terms.most_bots = 5
    defined.terms.house.append("random")
    defined.terms.most_per_owner = 2
    defined.terms.pause_window = 20
    made = ladder_defined(defined)
    assert (made.seats, made.control) == (3, TimeControl(base_ms=70, poll_floor_ms=0))
    assert made.terms == LadderTerms(("ann", "bob"), 5, True, datetime(2026, 1, 1, tzinfo=UTC), ("random",), 2, 3, 20)
    defined.terms.pause_failed = 0
    assert ladder_defined(defined).terms.pause_failed == 0, "never, which is not the default"


def test_what_is_no_ladder_is_refused_with_what_could_be() -> None:
    def told(**changed: object) -> tuple[str, str]:
        defined = ladder_pb2.LadderDefined(**({"name": "it", "game": "greed"} | changed))  # type: ignore[arg-type]
        with pytest.raises(CallRefused) as problem:
            ladder_defined(defined)
        assert problem.value.ending.text.isprintable()
        assert len(problem.value.ending.text) < 2_500
        return problem.value.ending.reason, problem.value.ending.text

    assert told(name="") == (
        "SETTINGS",
        "a ladder cannot be called ''; it can be 1 to 32 of a-z, 0-9, '_', '-' and '.', the first a letter or digit",
    )
    assert told(name="\x1b" * 10_000)[0] == "SETTINGS"
    assert told(game="chess")[0] == "NOT_FOUND"
    assert "2 to 5 players, not 9" in told(seats=9)[1]
    assert told(settings=[{"name": "nothing", "value": "1"}])[0] == "SETTINGS"
    assert told(settings=[{"name": "rounds", "value": "1"}] * 2)[0] == "SETTINGS"
    assert told(clock={"base_ms": 0})[0] == "SETTINGS"
    assert told(terms={"owners": ["Ann!"]})[0] == "SETTINGS"
    assert told(terms={"house": ["<b>"]})[0] == "SETTINGS"
    assert told(terms={"house": ["random", "rando"]}) == (
        "SETTINGS",
        "there is no house bot 'rando'; there are: random, greedy, search, expert",
    )
    assert told(terms={"owners": ["ann"] * 1_001})[0] == "SETTINGS"
    assert told(terms={"frozen_ms": 2**63})[0] == "SETTINGS"
    assert told(terms={"most_bots": 2**32 - 1})[0] == "SETTINGS"
    assert told(terms={"most_per_owner": 2**32 - 1}) == (
        "SETTINGS",
        "at most 4294967295 bots of an owner: it can be 0 (any number) to 1,000,000",
    )
    assert told(terms={"pause_failed": 9}) == (
        "SETTINGS",
        "pause_failed is 9: it is 0 (never pause) to pause_window, which is 8",
    )
    assert told(terms={"pause_window": 2**32 - 1}) == (
        "SETTINGS",
        "pause_window is 4294967295: it is a number of matches from 1 to 100",
    )


def test_bots_here_sit_at_so_many_tables() -> None:
    world = World([ladder("it")])
    bots: list[BotThere] = [world.bot(f"{name}s", tables=2, owner=name) for name in ("ann", "bob")]
    world.run(lambda: world.lobby.tables == 2)
    assert [one.tables for one in world.lobby.here()] == [2, 2]
    assert [len(bot.sat) for bot in bots] == [2, 2]
