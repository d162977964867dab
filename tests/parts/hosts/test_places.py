"""Which place gets a bot, what silence does, and who is blamed for a place that is lost; with a clock of the test."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from cutpurse.leaderboard.results import Identity
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.logs import logger
from cutpurse.server.parts.hosts.places import LOST_S, Place, PlaceFacts, Places
from cutpurse.server.parts.hosts.remote_program import RemoteProgram
from cutpurse.server.parts.hosts.suspects import SOON_S
from cutpurse.server.runners.port import NoRoom, ProgramSpec, ResourceLimits


@dataclass
class Stream:
    """A stream that notes how it was ended."""

    how: CallStatus | None = None

    def wake(self) -> None:
        """Do nothing."""

    def close(self, how: CallStatus) -> None:
        self.how = self.how or how


@dataclass
class World:
    """Places, and all that they report."""

    folder: Path
    now: float = 1_000.0
    silences: list[tuple[list[str], float]] = field(default_factory=list)
    crowded: list[tuple[list[str], float]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    parted: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    programs: dict[RemoteProgram, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = Places(logger(io.StringIO()), lambda: self.now)
        self.places.bots_of = lambda programs: [
            Identity("ann", name, "1") for program, name in self.programs.items() if program in programs
        ]
        for name, noted in (("on_delay", self.silences), ("on_crowding", self.crowded)):
            setattr(self.places, name, partial(self._note, noted))
        self.places.on_lost = lambda bots, why: self.lost.extend(sorted(bot.bot for bot in bots))
        self.places.part = self._part

    @staticmethod
    def _note(noted: list[tuple[list[str], float]], bots: Collection[Identity], seconds: float) -> None:
        if seconds:
            noted.append((sorted(bot.bot for bot in bots), round(seconds, 3)))

    def _part(self, bots: Collection[Identity]) -> list[Identity]:
        self.parted |= {bot.bot for bot in bots}
        return [bot for bot in bots if bot.bot in self.busy]

    def attend(
        self, name: str, cores: float = 2.0, key: bytes = b"k", bots: tuple[int, ...] = (), speed: float = 100.0
    ) -> Place:
        place, _ = self.places.enter(PlaceFacts(name, "process", cores, key), bots, Stream(), speed)
        place.round_trips.append(0.001)
        return place

    def start(self, bot: str, cores: float = 0.5, ladders: tuple[str, ...] = ("duel",)) -> RemoteProgram:
        folder = self.folder / bot
        folder.mkdir(exist_ok=True)
        (folder / "bot.py").write_text(bot)
        limits = ResourceLimits(cpu_cores=cores)
        talk = self.folder / f"{bot}.talk"
        program = self.places.start(ProgramSpec(bot, folder, ("python",), talk, limits=limits, ladders=ladders))
        self.programs[program] = bot
        return program

    def later(self, seconds: float, *heard: Place) -> None:
        """Let time pass, in which these places are heard as they should be."""
        until = self.now + seconds
        while self.now < until - 1e-9:
            self.now = min(until, self.now + 0.05)
            for place in heard:
                self.places.heard(place, self.now)
            self.places.look(self.now)

    def lose(self, *heard: Place) -> None:
        """Let time pass until the other places are lost."""
        self.later(LOST_S + 0.1, *heard)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    for program in made.programs:  # closes its log
        program.end("stopped", None, "the test is over")


def bots_at(place: Place) -> int:
    return len(place.programs)


def cause_of(program: RemoteProgram) -> str:
    ended = program.ended()
    return "" if ended is None else ended.cause


def test_a_bot_runs_where_most_cores_are_free(world: World) -> None:
    small, large = world.attend("small", 1.0), world.attend("large", 2.0)
    for bot in "abcd":
        world.start(bot)
    assert (bots_at(small), bots_at(large)) == (1, 3)
    for bot in "ef":
        world.start(bot)
    with pytest.raises(NoRoom, match=r"no place has 0.5 free cores"):
        world.start("g")


def test_without_a_place_or_with_one_too_far_away_a_bot_waits(world: World) -> None:
    with pytest.raises(NoRoom, match="no place attends; start one with `cutpurse place`"):
        world.start("a")
    place = world.attend("far")
    place.round_trips.clear()
    place.round_trips.append(0.2)
    with pytest.raises(NoRoom, match="no place answers within 50 ms"):
        world.start("a")
    place.round_trips.append(0.01)
    assert world.start("a").ended() is None


def test_silence_is_credited_from_its_beginning_and_once(world: World) -> None:
    place, other = world.attend("lab1"), world.attend("lab2")
    world.start("a")
    world.later(0.1, other)
    assert world.silences == []
    world.later(0.1, other)  # 0.2 s in all
    world.later(0.1, other)
    world.now += 0.02
    world.places.heard(place, world.now)
    assert sum(seconds for _, seconds in world.silences) == pytest.approx(0.32)
    assert {tuple(bots) for bots, _ in world.silences} == {("a",)}
    assert (world.lost, place.stream is not None) == ([], True)


def test_what_the_server_itself_stood_still_is_no_silence(world: World) -> None:
    world.attend("lab1")
    world.start("a")
    world.now += 3.0
    world.places.credit(3.0)
    world.places.look(world.now)
    assert (world.silences, world.lost) == ([], [])


def test_a_silent_place_is_lost_and_its_bots_are_not_blamed(world: World) -> None:
    place, other = world.attend("lab1", 4.0), world.attend("lab2", 1.0)
    program = world.start("a")
    world.lose(other)
    ended = program.ended()
    assert ended is not None
    assert (ended.cause, ended.text) == ("lost", "place lab1 was lost: it was silent for 2 s")
    assert world.lost == ["a"]
    assert isinstance(place.stream, Stream)
    assert place.stream.how is not None
    assert [one.facts.name for one in world.places.listed()] == ["lab2"]
    world.start("a")
    assert bots_at(other) == 1


def test_a_bot_whose_places_are_lost_runs_alone_and_is_then_taken_off(world: World) -> None:
    for number in range(2):
        world.attend(f"lab{number}")
        programs = [world.start("killer"), world.start("ann")]
        world.lose()
        assert [cause_of(program) for program in programs] == ["lost", "lost"]
    place = world.attend("lab2")
    killer = world.start("killer")
    with pytest.raises(NoRoom, match="2 places were lost soon after its start, so it waits for one without other bots"):
        world.start("ann")
    with pytest.raises(NoRoom):
        world.start("bob")
    assert place.alone == killer.number
    world.lose()
    ended = killer.ended()
    assert ended is not None
    assert ended.cause == "deadly"
    assert ended.text == "3 places were lost soon after its start, the last one with no other bot"


def test_a_bot_that_does_no_harm_alone_is_cleared(world: World) -> None:
    for number in range(2):
        world.attend(f"lab{number}")
        world.start("ann")
        world.lose()
    place = world.attend("lab2")
    world.start("ann")
    with pytest.raises(NoRoom):
        world.start("bob")
    world.later(SOON_S + 1, place)
    world.start("bob")
    assert bots_at(place) == 2


def test_where_there_is_no_second_place_a_bot_waits_a_minute_and_is_then_beside_others(world: World) -> None:
    for number in range(2):
        world.attend(f"lab{number}")
        world.start("ann")
        world.start("bob")
        world.lose()
    place = world.attend("lab2")
    world.start("ann")
    for _ in range(int(SOON_S)):
        with pytest.raises(NoRoom, match="so it waits for one without other bots"):
            world.start("bob")
        world.later(1.0, place)
    world.later(1.0, place)
    bob = world.start("bob")
    assert bots_at(place) == 2
    assert place.alone is None
    world.lose()
    assert cause_of(bob) == "lost", "it may have been the other one"
    another = world.attend("lab3")
    bob = world.start("bob")
    assert another.alone == bob.number


def test_a_place_that_is_lost_long_after_a_start_is_not_held_against_the_bot(world: World) -> None:
    for number in range(4):
        place = world.attend(f"lab{number}")
        world.start("ann")
        world.later(SOON_S + 1, place)
        world.lose()
    world.attend("last")
    world.start("ann")
    world.start("bob")  # beside it


def test_a_place_that_stops_is_held_against_nobody(world: World) -> None:
    for number in range(4):
        place = world.attend(f"lab{number}")
        program = world.start("ann")
        world.places.leave(place)
        assert cause_of(program) == "lost"
    world.attend("last")
    world.start("ann")
    world.start("bob")


def test_a_second_place_of_the_same_name_is_refused_while_the_first_attends(world: World) -> None:
    place = world.attend("lab1")
    program = world.start("a")
    with pytest.raises(CallRefused, match="a place called lab1 attends already; choose another name with --name"):
        world.attend("lab1", key=b"other")
    assert place.stream is not None
    world.places.detach(place, place.stream)
    new = world.attend("lab1", key=b"other")  # the first one is gone
    assert new is not place
    assert cause_of(program) == "lost"


def test_bots_play_on_when_their_place_is_back_in_time(world: World) -> None:
    place = world.attend("lab1")
    kept, gone = world.start("a"), world.start("b")
    assert [start.bot for start in world.places.take_orders(place)[0]] == [kept.number, gone.number]
    unsent = world.start("c")
    assert place.stream is not None
    old = place.stream
    world.places.detach(place, old)
    world.later(1.0)
    again = world.attend("lab1", bots=(kept.number, 99))
    assert again is place
    assert (kept.ended(), unsent.ended()) == (None, None)
    assert (cause_of(gone), world.lost) == ("lost", ["b"])
    starts, stops = world.places.take_orders(place)
    assert ([start.bot for start in starts], [stop.bot for stop in stops]) == ([unsent.number], [99])


def test_a_bot_that_is_stopped_before_it_was_sent_is_never_started(world: World) -> None:
    place = world.attend("lab1")
    program = world.start("a")
    assert program.stop().cause == "stopped"
    assert world.places.take_orders(place) == ([], [])
    assert bots_at(place) == 0


def test_when_the_server_stops_every_bot_has_ended_and_nobody_may_come(world: World) -> None:
    world.attend("lab1")
    program = world.start("a")
    world.places.close()
    assert program.stop().cause == "stopped"
    with pytest.raises(CallRefused, match="the server is stopping"):
        world.attend("lab2")


def test_bots_of_a_place_that_drains_move_when_their_matches_are_over(world: World) -> None:
    old = world.attend("old")
    idle, busy = world.start("idle"), world.start("busy")
    world.places.take_orders(old)
    world.busy = {"busy"}
    world.places.drain(old)
    assert [stop.bot for stop in world.places.take_orders(old)[1]] == [idle.number]
    assert world.parted == {"idle", "busy"}
    assert old.unused == "it stops"
    new = world.attend("new", 0.5)
    world.start("third")
    assert bots_at(new) == 1
    world.later(1.0, old, new)
    assert world.places.take_orders(old) == ([], [])
    world.busy.clear()
    world.later(1.0, old, new)
    assert [stop.bot for stop in world.places.take_orders(old)[1]] == [busy.number]  # once
    for program in (idle, busy):
        world.places.ended(old, program.number)
        program.end("stopped", None, "it was stopped")
    ended = busy.ended()
    assert ended is not None
    assert (ended.cause, ended.text) == ("lost", "it moves to another place: its place stops")
    assert world.lost == []


def test_a_bot_that_was_not_sent_to_a_draining_place_yet_is_started_elsewhere(world: World) -> None:
    place = world.attend("old")
    program = world.start("a")
    world.places.drain(place)
    assert cause_of(program) == "lost"
    with pytest.raises(NoRoom, match="no place attends"):
        world.start("a")


def test_the_first_bot_of_a_ladder_goes_to_the_group_of_like_places_with_most_free_cores(world: World) -> None:
    places = [world.attend(f"lab{number}", 1.0, speed=speed) for number, speed in enumerate((100.0, 109.0, 150.0))]
    slow, middle, fast = places
    for bot in "abcd":
        world.start(bot)
    assert (bots_at(slow), bots_at(middle), bots_at(fast)) == (2, 2, 0)
    with pytest.raises(NoRoom, match=r"no place has 0.5 free cores"):
        world.start("e")
    world.start("f", ladders=("trio",))
    assert bots_at(fast) == 1
    assert fast.unused == ""
    world.later(0.3, *places)
    assert "its speed of 150 is more than 10 % from that of the places that have bots of ladder duel" in fast.unused


def test_a_bot_waits_while_only_other_places_are_as_fast_as_its_ladders(world: World) -> None:
    world.attend("fast", 0.5, speed=150.0)
    world.start("a")
    world.attend("slow", 4.0, speed=100.0)
    with pytest.raises(NoRoom, match=r"no place has 0.5 free cores"):
        world.start("b")
    world.start("c", ladders=("trio",))
    with pytest.raises(NoRoom, match="no place is as fast as those of ladder duel, trio, within 10 %"):
        world.start("b", ladders=("duel", "trio"))


def test_when_a_place_becomes_slow_its_bots_move_and_their_matches_are_void(world: World) -> None:
    slow, fast = world.attend("slow", 1.0), world.attend("fast", 2.0)
    bots = {world.start(bot): bot for bot in "abcd"}
    on_slow = [program for program in bots if program.number in slow.programs]
    assert len(on_slow) == 1
    world.places.take_orders(slow)
    world.places.measured(slow, 85.0)
    world.later(0.3, slow, fast)
    assert (world.lost, slow.unused) == ([], "")  # they may stay
    bots[world.start("e")] = "e"
    world.places.measured(slow, 60.0)
    world.later(1.0, slow, fast)
    assert world.lost == [bots[program] for program in on_slow]
    assert [stop.bot for stop in world.places.take_orders(slow)[1]] == [program.number for program in on_slow]
    on_slow[0].end("stopped", None, "it was stopped")
    assert cause_of(on_slow[0]) == "lost"
    world.places.ended(slow, on_slow[0].number)
    world.later(0.3, slow, fast)
    assert "its speed of 60 is more than 10 %" in slow.unused


def test_processor_time_that_bots_lost_is_credited_beside_silence_and_not_twice(world: World) -> None:
    place = world.attend("lab1")
    world.start("a")
    world.places.heard(place, world.now + 0.05, 0.2, 0.3)  # bots wait also while it is stolen
    assert (world.silences, world.crowded) == ([(["a"], 0.2)], [(["a"], 0.1)])
    world.places.heard(place, world.now + 1.05, 0.9, 0.2)  # the silence of 1 s was credited already
    assert world.silences[1:] == [(["a"], 1.0)]
    assert world.crowded[1:] == []
