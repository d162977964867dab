"""A game: a table, an agenda of steps, and what a driver calls.

A driver knows `waiting`, `options`, `choose`, `fork` and `view`; rules use `then` and the verbs of `Table`. All that a
game knows is on its table and its agenda, so forking, saving and showing are written here once for all games. This
module knows no clock, no bot and no particular game.

A game module declares a subclass of `Game` with the names of its counters and zones as annotations: a zone of the
table is one `Zone`, one that every seat has is a list by seat, one that is made in play is a list of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

from cutpurse.engine.agenda import Act, Choice, Option, Poll, Question, Step, steps_of
from cutpurse.engine.chance import Chance
from cutpurse.engine.clues import clues_from_lists, clues_to_lists
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.events import ALONE, Asked, Event, Happened, Scored
from cutpurse.engine.knowledge_level import PROOF, viewers_at
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import S_co, Settings
from cutpurse.engine.table import Table
from cutpurse.engine.view import View
from cutpurse.engine.zones import Zone

__all__ = ["ENGINE_API", "Game"]

ENGINE_API: Final = 2  # changes when a game of another package would have to

_usual_settings: dict[tuple[type[Any], int], Any] = {}


def _default_settings(settings_type: type[Any], seats: int) -> Any:
    """Return the default settings, the same object in every game."""
    kept = _usual_settings.get((settings_type, seats))
    if kept is None:
        kept = _usual_settings[settings_type, seats] = settings_type.parse({}, seats)
    return kept


@mypyc_attr(allow_interpreted_subclasses=True)
class Game(Table[S_co]):
    """Base of every game; see the module's docstring.

    A game that is compiled has the hint above, too: else mypyc initialises a game twice that is made as `cls(...)`.
    """

    __slots__ = ("_agenda", "answers", "asked", "polled", "step_log")

    settings_type: ClassVar[type[Any]] = Settings
    usual_seats: ClassVar[int] = 4
    engine_api: ClassVar[int] = 0  # of a game of another package: the `ENGINE_API` that it was written for
    sheet: ClassVar[str] = ""  # rules of such a game in Markdown, below its title; else its steps are printed

    # -- what a game fills in
    @classmethod
    def values(cls, settings: Any) -> list[int]:
        """Return what each card counts, by its number (index 0 is unused): as listed unless a setting changes it."""
        return [0, *[card.value for card in cls.words.cards]]

    @classmethod
    def settings_under(cls, version: str, settings: Mapping[str, str]) -> Mapping[str, str] | None:
        """Find the settings that make these rules play as `version` of them played with `settings`.

        Args:
            version: Rules version of a record.
            settings: The settings of the record, as text.

        Returns:
            Settings of these rules, or None if these rules cannot play as that version did.
        """
        return settings if version == cls.words.version else cls.settings_of_earlier_rules(version, settings)

    @classmethod
    def settings_of_earlier_rules(cls, version: str, settings: Mapping[str, str]) -> Mapping[str, str] | None:
        """Find the settings that make these rules play as an earlier version did, or None; see `settings_under`."""
        return None

    @classmethod
    def max_decisions(cls, seats: int, settings: Any) -> int:
        """Return a proven limit of the answers that a match can need; 0: no limit is known.

        Answers with one option count.
        """
        return 0

    def begin(self) -> None:
        """Set up the first deal and put the first steps on the agenda."""
        raise TypeError(f"{type(self).__name__} does not begin")

    def scores(self) -> list[int]:
        """Return the score of each seat, in the game's own unit."""
        raise TypeError(f"{type(self).__name__} has no scores")

    def scores_now(self) -> list[int]:
        """Return the scores, with what an open round would count now; when the game is over, just the scores."""
        return self.scores()

    def standing(self, seat: int) -> tuple[int, ...]:
        """Return the measure that orders the seats when the game is over, the greatest first."""
        return (self.scores()[seat],)

    def may_lie(self, zone: Zone, card: int) -> bool:
        """Return whether an unseen card can be among the hidden ones of this zone, for `imagine`."""
        return True

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """Fill zones whose hidden cards depend on each other, taking the cards out of `unseen`, for `imagine`."""

    def is_plausible(self) -> bool:
        """Return whether this full state agrees with what the rules let everybody infer, for `imagine`."""
        return True

    # -- making one
    def __init__(self, seats: int, settings: S_co, chance: Chance, like: Self | None = None) -> None:
        """Make an empty table, or a copy of `like`; `new` deals."""
        super().__init__(seats, settings, chance, like)
        self._agenda: list[Step] = [] if like is None else like._agenda[:]
        self.answers: dict[int, Option] = {} if like is None else like.answers.copy()
        self.polled: Poll | None = None  # the poll that is open, and whom it asks
        self.asked: list[int] = []
        self.step_log: list[tuple[int, Step]] | None = None  # steps that ran, with the number of events before each

    @classmethod
    def new(
        cls,
        seats: int | None = None,
        key: bytes = bytes(32),
        settings: Mapping[str, object] | None = None,
        knowledge: str | Sequence[str] = PROOF,
    ) -> Self:
        """Make a game that waits for its first answer.

        Args:
            seats: Number of seats, or the usual one.
            key: Of its chance.
            settings: Those that differ from their defaults.
            knowledge: What viewers know of hidden cards (see `knowledge_level`): a level for all, or one for each
                viewer, the spectator last.

        Raises:
            SettingsError: For an unknown or impossible setting or number of seats, naming what is allowed.
            UsageError: For an unknown level.
        """
        seats = cls.usual_seats if seats is None else seats
        game = cls(seats, cls.set_up(seats, settings or {}), Chance(key))
        if knowledge != PROOF:
            game.remember(*viewers_at(knowledge, seats + 1))
        game.start()
        return game

    @classmethod
    def check(cls, seats: int, settings: Mapping[str, object]) -> S_co:
        """Parse settings that were written down, of a record or a ladder.

        Raises:
            SettingsError: For an unknown or impossible setting or number of seats, naming what is allowed.
        """
        cls._check_seats(seats)
        parsed: S_co = (
            cls.settings_type.parse(settings, seats) if settings else _default_settings(cls.settings_type, seats)
        )
        return parsed

    @classmethod
    def set_up(cls, seats: int, settings: Mapping[str, object]) -> S_co:
        """Parse the settings of a new match or ladder (see `Settings.set_up`).

        Raises:
            SettingsError: As `check`, and for a setting that could have no effect.
        """
        cls._check_seats(seats)
        parsed: S_co = cls.settings_type.set_up(settings, seats)
        return parsed

    @classmethod
    def _check_seats(cls, seats: int) -> None:
        allowed = cls.words.seats
        if seats not in allowed:
            raise SettingsError(f"{cls.words.title} is for {allowed[0]} to {allowed[-1]} players, not {seats}")

    def start(self, log: bool = False) -> None:
        """Set up and go on to the first question; with `log` from the first event on."""
        if log:
            self.log = []
        self.begin()
        self.settle()

    # -- what a driver calls
    def waiting(self) -> list[int]:
        """List the seats that owe an answer, ascending; none when the game is over."""
        agenda = self._agenda
        if not agenda:
            return []
        top = agenda[-1]
        if isinstance(top, Choice):
            return [top.seat]
        assert isinstance(top, Poll)
        answers = self.answers
        return [seat for seat in self._asked(top) if seat not in answers]

    def _asked(self, poll: Poll) -> list[int]:
        """Return whom the next poll asks: found out once, for nothing changes while it is open."""
        if poll is not self.polled:
            self.polled, self.asked = poll, poll.seats(self)
        return self.asked

    @property
    def agenda(self) -> list[Step]:
        """What is still to happen, the next last; one list from the beginning to the end of the game."""
        return self._agenda

    @property
    def question(self) -> Question:
        """What is being asked.  Raises IndexError when the game is over."""
        top = self._agenda[-1]
        assert isinstance(top, Question)
        return top

    def options(self, seat: int) -> list[Option]:
        """List what a waiting seat may answer; it depends only on what that seat may see."""
        return self.question.options(self, seat)

    def safe_option(self, seat: int, options: list[Option]) -> Option:
        """Return the published answer for a waiting seat that gives none, one of its options."""
        return self.question.safe(self, seat, options)

    def choose(self, seat: int, option: Option) -> None:
        """Answer for a waiting seat with one of its options, then let everything happen that waits for nobody.

        Trusts the caller: an option that was not offered leaves the game in an undefined state. See `match.Match`.
        """
        top = self._agenda[-1]
        if isinstance(top, Choice):
            self._tell_choice(top, option)
            self._agenda.pop()
            top.chosen(self, option)
            self.settle()
            return
        assert isinstance(top, Poll)
        seats = self._asked(top)
        self.answers[seat] = option
        if len(self.answers) == len(seats):
            answers = {seat: self.answers[seat] for seat in seats}  # by seat, not by speed
            self.answers = {}
            self._close(answers)
            self.settle()

    def playout(self, draw: Callable[[int], int]) -> int:
        """Play on to the end with drawn options, in the compiled engine without a call of Python between.

        Args:
            draw: Given the number of options, returns the index of the one that is taken.

        Returns:
            Number of decisions.
        """
        decisions = 0
        while waiting := self.waiting():
            options = self.options(waiting[0])
            self.choose(waiting[0], options[draw(len(options))])
            decisions += 1
        return decisions

    def _tell_choice(self, choice: Choice, option: Option) -> None:
        if self.log is not None:
            act = option.by(choice.seat)
            self.log.append(Happened(act, choice.seen_by(self, option) or ()))

    def settle(self) -> None:
        """Let everything happen that waits for nobody."""
        agenda = self._agenda
        while agenda:
            top = agenda[-1]
            if isinstance(top, Choice):
                if self.log is not None:
                    self.log.append(Asked(top.name, ALONE[top.seat]))
                return
            if isinstance(top, Poll):
                seats = self._asked(top)
                if seats:
                    if self.log is not None:
                        self.log.append(Asked(top.name, tuple(seats)))
                    return
                self._close({})
            else:
                agenda.pop()
                if self.step_log is not None:
                    self.step_log.append((len(self.log or ()), top))
                top.run(self)

    def _close(self, answers: dict[int, Option]) -> None:
        """Close the next poll, which has all its answers."""
        poll = self._agenda.pop()
        assert isinstance(poll, Poll)
        self.polled = None
        poll.closed(self, answers)

    def view(self, seat: int | None = None) -> View:
        """Return everything a seat, or (None) the spectator, may know now."""
        viewer = self.n if seat is None else seat
        if self.notes:
            self.catch_up()
        return View(
            type(self),
            self.settings,
            self.n,
            seat,
            self.layout.values_of_table(self),
            self.seat_values(),
            tuple([zone.view_cache[viewer] or zone.make_view(viewer) for zone in self._in_order or self.in_order()]),
            tuple(self._agenda),
            self.clues_of(viewer) if self.clues else (),
        )

    def fork(self) -> Self:
        """Make an independent copy that continues alike; steps are shared, events are not kept."""
        return self.__class__(self.n, self.settings, self.chance.fork(), self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Fork, and keep the events: for `copy.deepcopy`."""
        copy = self.fork()
        copy.log = None if self.log is None else self.log[:]
        return copy

    def places(self) -> list[int]:
        """Compute the place of each seat by `standing`, 1 is best; equal standings share the better place."""
        standings = [self.standing(seat) for seat in range(self.n)]
        return [1 + sum(other > mine for other in standings) for mine in standings]

    # -- saving
    def save(self) -> dict[str, Any]:
        """Return the whole state as JSON values, hidden cards and key included, without events."""
        words = self.words
        if self.notes:
            self.catch_up()
        return {
            "game": words.game,
            "rules": words.version,
            "seats": self.n,
            "settings": self.settings.changed(),
            "chance": self.chance.save(),
            "made": self.made,
            "counters": [getattr(self, counter.name) for counter in words.table_counters],
            "seat_counters": [getattr(self, counter.name)[:] for counter in words.seat_counters],
            "zones": [zone.save() for zone in self.zones()],
            "clues": [[clue.viewers, clues_to_lists([clue.possibilities])] for clue in self.clues],
            "agenda": [step.save() for step in self._agenda],
            "answers": [[seat, _act_to_list(option)] for seat, option in sorted(self.answers.items())],
            **({} if self.inferring == self.everyone else {"knowledge": [self.remembering, self.inferring]}),
        }

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> Self:
        """Restore the state from what `save` returned. It trusts its source."""
        game = cls(saved["seats"], cls.check(saved["seats"], saved["settings"]), Chance.load(saved["chance"]))
        if levels := saved.get("knowledge"):
            game.remember(*levels)
        words = cls.words
        for counter, value in zip(words.table_counters, saved["counters"], strict=True):
            setattr(game, counter.name, value)
        for counter, values in zip(words.seat_counters, saved["seat_counters"], strict=True):
            setattr(game, counter.name, list(values))
        for number, kind_number, owner, cards, masks, columns, counters, runs in saved["zones"]:
            if number <= len(game.fixed):
                zone = game.fixed[number - 1]
            else:
                zone = game.restore_zone(number, words.zones[kind_number - 1], owner)
            zone.cards = list(cards)
            zone.masks = None if masks is None else list(masks)
            zone.columns = None if columns is None else [list(column) for column in columns]
            zone.counters = list(counters)
            if runs:
                zone.runs = tuple([(tuple(faces), viewers) for faces, viewers in runs])
                zone.tracked = game.everyone
        for viewers, clues in saved["clues"]:
            game.give_clues(viewers, clues_from_lists(clues))
        game.made = saved["made"]
        steps = cls.steps()
        game._agenda[:] = [steps[name].load(values) for name, *values in saved["agenda"]]
        game.answers = {seat: _act_from_list(option) for seat, option in saved["answers"]}
        return game

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by save and load, since zones share objects.

        Events are kept.
        """
        return _loaded, (type(self), self.save(), None if self.log is None else self.log[:])

    @classmethod
    def steps(cls) -> dict[str, type[Step]]:
        """List every step of the game by name: those of its package, its main module last, or of its only module."""
        module: str = vars(cls)["__module__"]
        return steps_of(module.rpartition(".")[0] or module, module)

    # -- what rules call; the rest is in `Table`
    def then(self, *steps: Step) -> None:
        """Do these next, in the order written, before whatever was already on the agenda."""
        for step in reversed(steps):
            self._agenda.append(step)

    def tell_scores(self, over: bool) -> None:
        """Tell that a deal, or the game, was counted up."""
        if self.log is not None:
            self.log.append(Scored(over, tuple(self.scores())))


def _loaded(rules: type[Game], saved: dict[str, Any], log: list[Event] | None) -> Game:
    game = rules.load(saved)
    game.log = log
    return game


def _act_to_list(act: Act) -> list[object]:
    return [list(value) if isinstance(value, tuple) else value for value in act.values()]


def _act_from_list(saved: list[Any]) -> Act:
    verb, cards, zone, seat, number, places, actor = saved
    return Act(verb, tuple(cards), zone, seat, number, tuple(places), actor)
