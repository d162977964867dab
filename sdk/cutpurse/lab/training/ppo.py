"""How a net learns a game: it knows what a teacher would choose, and learns where another choice is better.

    training = Training(TrainingPlan("szmal", seats=4))
    while training.round < 100:
        print(training.learn_a_round())
    training.net().save("net.npz")

A round plays matches to their end, then learns from their decisions:

1. Watch. The teacher plays all seats. The net learns to tell from a view who will win.
2. Improve (proximal policy optimization: Schulman et al. 2017). The net tries options out, the better rated ones more
   often. Each choice that led to more than the net expected of that view gets likelier, the others get less likely, by
   a bounded step. In most matches the net has one seat and the teacher has the others. In the rest the net has several
   seats, or a past version of it has the others, so that it does not learn to beat its teacher and nobody else.

At first the net mostly takes the teacher's choice, since that one has a lead. So it begins nearly as strong as
its teacher. A net that had to copy the teacher's choices from examples would begin far weaker, as its errors add up.

All that is random comes from the seed and the number of the round or match, and between rounds no match is open. So a
run that goes on from a saved state ends with the same net as one that never stopped. One thread computes: the sums of
several threads would differ from machine to machine. This module knows no particular game and no file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import PROOF
from cutpurse.learn.choice_table import BotSpec, ChoiceTable, TableRules
from cutpurse.learn.net import Columns, Inputs, Net, NetBot, observe
from cutpurse.learn.opponents import Opponents
from cutpurse.learn.space import Space
from cutpurse.wire.errors import needs

with needs("train"):
    import torch
    from torch import nn

__all__ = ["TrainingPlan", "Report", "Training"]

HIDDEN: Final = 192  # width of the net
SELDOM: Final = 500  # what differs in fewer than one of this number of views is not read: it would hardly be learned
TABLES: Final = 64  # matches that are open at once, so that the net rates the options of all of them together
BATCH: Final = 512  # decisions per step of the optimizer
WATCH_PASSES: Final = 2  # over the decisions of a round
PASSES: Final = 3
WATCH_RATE: Final = 1e-3  # learning rates
RATE: Final = 3e-4
RATE_HALVES: Final = 300  # rounds until RATE is half, as 1 / sqrt(1 + 3 * round / RATE_HALVES)
CLIP: Final = 0.2  # a step makes a choice at most this much likelier, or less likely
TRACE: Final = 0.95  # lambda of the advantages (Schulman et al. 2016): how far they trust results more than values
LONGEST_STEP: Final = 0.5  # norm of a gradient
PAST_SHARE: Final = 0.1  # of the matches are against a past version
SCORE_SPREAD: Final = 0.4  # standard deviation of rewards by score, about as that of first places among four
MIXED_SHARE: Final = 0.1  # of the matches have the net in several seats
OTHERS_SHARE: Final = 1 / 3  # of the teacher's seats go to other bots, where there are others
PAST_EVERY: Final = 12  # rounds between two past versions
MOST_PAST: Final = 8  # the last ones are kept


@dataclass(frozen=True)
class TrainingPlan:
    """What a run learns. The same plan gives the same net."""

    game: str
    seats: int
    seed: int = 0
    teacher: str = "greedy"  # a bot that advises the net, and that it learns to beat
    reward: str = "first"
    round_decisions: int = 8192  # at least; with half of it the results of a round are too few to learn from
    watch_rounds: int = 6
    lead: float = 3.0  # of the teacher's choice in the ratings, at first: it is taken 9 times of 10 where 3 others are
    entropy: float = 0.002  # weight of staying undecided
    settings: Mapping[str, object] = field(default_factory=dict)  # of the game, those that differ from their defaults
    others: tuple[str, ...] = ()  # bots that it meets as well
    knowledge: str = PROOF  # what the net knows of hidden cards, see `cutpurse.engine.knowledge_level`
    start: str = ""  # digest of the net that it begins as (`Net.digest`)


@dataclass(frozen=True)
class Report:
    """What a round did: a line of the curve."""

    round: int
    phase: str  # "watch" or "improve"
    matches: int  # since the beginning, as the next
    decisions: int
    as_teacher: float | None = None  # "improve": share of choices that are the teacher's
    first_places: float | None = None  # of the matches against the teacher, ties split
    first_places_of: int | None = None
    mean_place: float | None = None  # in these matches; those that share places have the mean of them
    against_past: float | None = None  # the same against past versions
    against_past_of: int | None = None
    entropy: float | None = None  # 0 is sure of every choice
    value_error: float = 0.0  # mean square of reward less what was expected


@dataclass(slots=True)
class Experience:
    """A decision, and what came of it."""

    view: npt.NDArray[np.float16]
    options: npt.NDArray[np.float16]  # a row for each
    chosen: int
    advised: int  # the teacher's choice
    log_probability: float = 0.0  # of the chosen option
    value: float = 0.0  # the reward that was expected
    advantage: float = 0.0  # by how much more came of it
    reward: float = 0.0  # what the value should have been


@dataclass(slots=True)
class TrainingMatch:
    """A match of the net, and its decisions so far by seat."""

    table: ChoiceTable
    against: str  # "teacher" or "past" has all other seats, or "others" have some, or they are "mixed"
    advisers: Opponents  # the teacher in each of the net's seats
    stories: dict[int, list[Experience]] = field(default_factory=lambda: defaultdict(list))

    def advice(self) -> Option:
        """Return the teacher's choice for the seat that is asked."""
        assert self.table.seat is not None
        return self.advisers.answer(self.table.seat, self.table.options)


class Model(nn.Module):  # type: ignore[misc]  # torch is no part of the checks
    """The net of `cutpurse.learn.net` as torch learns it, and a value for each view."""

    def __init__(self, view: int, option: int, lead: float) -> None:
        super().__init__()
        self.view = nn.Linear(view, HIDDEN)
        self.option = nn.Linear(option, HIDDEN, bias=False)
        self.hidden = nn.Linear(HIDDEN, HIDDEN)
        self.rating = nn.Linear(HIDDEN, 1, bias=False)
        self.advice = nn.Parameter(torch.zeros(HIDDEN))
        self.lead = nn.Parameter(torch.tensor([lead]))
        self.value = nn.Sequential(nn.ReLU(), nn.Linear(HIDDEN, HIDDEN // 2), nn.ReLU(), nn.Linear(HIDDEN // 2, 1))

    def forward(self, batch: Minibatch) -> tuple[Any, Any]:
        """Return the log-probability of each option within its decision, and the value of each view."""
        owner = batch.owner
        first = self.view(batch.views)
        hidden = torch.relu(first[owner] + self.option(batch.options) + batch.advised[:, None] * self.advice)
        hidden = hidden + torch.relu(self.hidden(hidden))
        rating = self.rating(hidden).squeeze(1) + batch.advised * self.lead
        highest = torch.full((len(first),), -torch.inf).scatter_reduce(0, owner, rating.detach(), "amax")
        rating = rating - highest[owner]
        total = torch.zeros(len(first)).index_add(0, owner, rating.exp())
        return rating - total.log()[owner], self.value(first).squeeze(1)

    def _parts(self) -> dict[str, Any]:
        """Return the tensors that a `Net` has too, by its names."""
        return {
            "view": self.view.weight.T,
            "view_bias": self.view.bias,
            "option": self.option.weight.T,
            "advice": self.advice,
            "hidden": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "rating": self.rating.weight[0],
            "lead": self.lead,
        }

    def take(self, weights: Mapping[str, npt.NDArray[np.floating]]) -> None:
        """Begin with the weights of a `Net`; what it lacks, the value, stays as it is."""
        with torch.no_grad():
            for name, part in self._parts().items():
                part.copy_(torch.from_numpy(weights[name].astype(np.float32)))

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return what a `Net` needs."""
        return {name: part.detach().numpy().copy() for name, part in self._parts().items()}


class Minibatch:
    """Some decisions as tensors."""

    def __init__(self, choices: Sequence[Experience]) -> None:
        counts = [len(choice.options) for choice in choices]
        self.first = np.cumsum([0, *counts])  # of each decision, its first option among all
        self.views = torch.from_numpy(np.stack([choice.view for choice in choices])).float()
        self.options = torch.from_numpy(np.concatenate([choice.options for choice in choices])).float()
        self.owner = torch.from_numpy(np.repeat(np.arange(len(choices)), counts))
        self.chosen = torch.from_numpy(self.first[:-1] + np.array([choice.chosen for choice in choices]))
        self.advised = torch.zeros(len(self.owner))  # 1 for the teacher's choices
        self.advised[self.first[:-1] + np.array([choice.advised for choice in choices])] = 1

    def column(self, values: Sequence[float]) -> Any:
        """Return a number for each decision as a tensor."""
        return torch.tensor(values, dtype=torch.float32)


class Training:
    """A run: the model, and everything else that the next round depends on."""

    def __init__(self, plan: TrainingPlan, state: dict[str, Any] | None = None, *, start: Net | None = None) -> None:
        """Begin a run, or go on from a state.

        Args:
            plan: What to learn.
            state: What `state` returned in a run with the same plan.
            start: A net to begin as, that of `plan.start`.

        Raises:
            UsageError: For unknown names and impossible values, and if the net is not of the plan.
            OtherNumbering: If the state is of another numbering or other rules.
        """
        torch.set_num_threads(1)
        self.plan = plan
        self.start = start
        self._check_start()
        self.space = Space(plan.game, plan.seats, knowledge=plan.knowledge)
        self._tables = [self._rules([plan.teacher] * teachers) for teachers in range(plan.seats)]
        self._teacher = self._tables[-1].makers[0]
        companies = combinations_with_replacement(sorted({plan.teacher, *plan.others}), plan.seats - 1)
        self._company = {bots: self._rules(bots) for bots in companies} if plan.others else {}
        for table in (*self._tables, *self._company.values()):
            table.has_events |= self._tables[-1].has_events  # the teacher is asked in all seats
        self.round = 0
        self.matches = 0
        self.decisions = 0
        self.past: list[Net] = []
        self.unit = 1.0  # of rewards by score
        if state is None:
            torch.manual_seed(plan.seed)
            self.inputs = Inputs(self.space, *self._choose_columns()) if start is None else start.inputs
            self.model = self._new_model()
            if start is not None:
                self.model.take(start.weights)
            self.optimizer = self._new_optimizer()
        else:
            self._restore(state)

    def _rules(self, opponents: Sequence[BotSpec]) -> TableRules:
        plan = self.plan
        return TableRules(plan.game, plan.seats, plan.settings, plan.reward, opponents, knowledge=plan.knowledge)

    def _check_start(self) -> None:
        """Raise UsageError if the net to begin as is not of the plan."""
        if self.start is None:
            if self.plan.start:
                raise UsageError("the run begins as a net, and none was given")
            return
        space, teacher, width = self.start.space, self.start.training.get("teacher"), len(self.start.weights["rating"])
        for name, known, desired in (
            ("game", space.game, self.plan.game),
            ("number of seats", space.seats, self.plan.seats),
            ("level of knowledge", space.knowledge, self.plan.knowledge),
            ("teacher", teacher, self.plan.teacher),
            ("width", width, HIDDEN),
            ("digest", self.start.digest(), self.plan.start),
        ):
            if known != desired:
                raise UsageError(f"the run cannot begin as a net with the {name} {known!r:.80}: its own is {desired!r}")

    def _new_model(self) -> Model:
        return Model(len(self.inputs.view.index), len(self.inputs.option.index), self.plan.lead)

    def _new_optimizer(self) -> Any:
        """Return the optimizer of a phase. By watching, a net that begins as another one learns values alone."""
        if self.round < self.plan.watch_rounds:
            learning = self.model.value if self.plan.start else self.model
            return torch.optim.Adam(learning.parameters(), lr=WATCH_RATE)
        return torch.optim.Adam(self.model.parameters(), lr=RATE)

    def net(self) -> Net:
        """Return the net of now."""
        training = {**asdict(self.plan), "rounds": self.round, "matches": self.matches, "decisions": self.decisions}
        if self.start is not None:
            training["before"] = self.start.training
        return Net(self.inputs, self.model.weights(), training)

    # -- rounds
    def learn_a_round(self) -> Report:
        """Play the matches of the next round, and learn from them."""
        chance = np.random.default_rng([self.plan.seed, self.round])
        report = self._watch(chance) if self.round < self.plan.watch_rounds else self._improve(chance)
        self.round += 1
        if self.round == self.plan.watch_rounds:
            self.optimizer = self._new_optimizer()
        return report

    # -- 1. watch
    def _choose_columns(self) -> tuple[Columns, Columns]:
        """Choose what the net reads: what varies in matches of the teacher and in random ones, and not too seldom.

        What is part of a sum is left out: a net that read each pack at its place would learn for each place anew.
        """
        chance = np.random.default_rng([self.plan.seed])
        views: list[npt.NDArray[np.int32]] = []
        options: list[npt.NDArray[np.int32]] = []

        def look(table: ChoiceTable, answer: Option) -> Option:
            views.append(observe(self.space, table.view))
            options.append(self.space.features(table.view, table.options))
            return table.options[chance.integers(len(table.options))] if self.matches % 2 else answer

        while len(views) < self.plan.round_decisions:
            self._watch_match(look)
        rows = np.stack(views)
        rows[:, : self.space.planes][:, self.space.is_summed] = 0
        return Columns.varying(rows, max(1, len(rows) // SELDOM)), Columns.varying(np.concatenate(options))

    def _advisers(self, table: ChoiceTable) -> Opponents:
        """Return the teacher in each seat of a match that was just dealt."""
        return Opponents(
            table.game,
            match_key(self.plan.seed, self.matches),
            (self.plan.teacher,) * self.plan.seats,
            dict.fromkeys(range(self.plan.seats), self._teacher),
        )

    def _watch_match(self, look: Callable[[ChoiceTable, Option], Option]) -> ChoiceTable:
        """Play a match with the teacher in all seats; `look` gets each answer, and returns what is answered."""
        table = ChoiceTable(self._tables[0])
        goes_on = table.deal(self.plan.seed, self.matches)
        teacher = self._advisers(table)
        self.matches += 1
        while goes_on:
            assert table.seat is not None
            goes_on = table.answer(look(table, teacher.answer(table.seat, table.options)))
        return table

    def _watch(self, chance: np.random.Generator) -> Report:
        """Watch the teacher, and learn who wins from which views."""
        choices: list[Experience] = []
        while len(choices) < self.plan.round_decisions:
            stories: dict[int, list[Experience]] = defaultdict(list)

            def look(table: ChoiceTable, answer: Option, stories: dict[int, list[Experience]] = stories) -> Option:
                assert table.seat is not None
                stories[table.seat].append(self._read(table, answer))
                return answer

            rewards = self._watch_match(look).rewards()
            for seat, story in stories.items():
                for choice in story:
                    choice.reward = rewards[seat]
                choices += story
        self.decisions += len(choices)
        if self.round == 0 and self.plan.reward == "score":
            self.unit = float(np.std([choice.reward for choice in choices])) / SCORE_SPREAD or 1.0
        for choice in choices:
            choice.reward /= self.unit
        error = self._value_error(choices)

        def loss(batch: Minibatch, picked: Sequence[Experience]) -> Any:
            _, values = self.model(batch)
            return ((values - batch.column([choice.reward for choice in picked])) ** 2).mean()

        self._descend(choices, WATCH_PASSES, chance, loss)
        return Report(self.round + 1, "watch", self.matches, self.decisions, value_error=error)

    def _value_error(self, choices: Sequence[Experience]) -> float:
        """Return the mean square of what the net expects of views too much or too little."""
        errors = 0.0
        with torch.inference_mode():
            for start in range(0, len(choices), BATCH):
                picked = choices[start : start + BATCH]
                batch = Minibatch(picked)
                _, values = self.model(batch)
                errors += float(((values - batch.column([choice.reward for choice in picked])) ** 2).sum())
        return errors / len(choices)

    def _read(self, table: ChoiceTable, advice: Option) -> Experience:
        """Read a decision; the teacher's choice counts as chosen until another one is."""
        view = self.inputs.read_view(table.view).astype(np.float16)
        options = self.inputs.read_options(table.view, table.options).astype(np.float16)
        advised = table.options.index(advice)
        return Experience(view, options, advised, advised)

    # -- 2. improve
    def _improve(self, chance: np.random.Generator) -> Report:
        """Play against the teacher and past versions, and learn from what came of each choice."""
        improved = self.round - self.plan.watch_rounds
        if improved % PAST_EVERY == 0:
            self.past = [*self.past, self.net()][-MOST_PAST:]
        choices, results, entropy = self._play(chance)
        self.decisions += len(choices)
        advantages = np.array([choice.advantage for choice in choices])
        mean, deviation = advantages.mean(), advantages.std() + 1e-8
        error = float(np.mean([(choice.reward - choice.value) ** 2 for choice in choices]))
        for group in self.optimizer.param_groups:
            group["lr"] = RATE / (1 + 3 * improved / RATE_HALVES) ** 0.5

        def loss(batch: Minibatch, picked: Sequence[Experience]) -> Any:
            log_probabilities, values = self.model(batch)
            before = batch.column([choice.log_probability for choice in picked])
            gain = batch.column([(choice.advantage - mean) / deviation for choice in picked])
            rewards = batch.column([choice.reward for choice in picked])
            ratio = (log_probabilities[batch.chosen] - before).exp()
            policy_loss = -torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            undecided = -(log_probabilities * log_probabilities.exp()).sum() / len(picked)
            return policy_loss + 0.5 * ((values - rewards) ** 2).mean() - self.plan.entropy * undecided

        self._descend(choices, PASSES, chance, loss)
        teacher, past = results["teacher"], results["past"]
        return Report(
            *(self.round + 1, "improve", self.matches, self.decisions),
            as_teacher=float(np.mean([choice.chosen == choice.advised for choice in choices])),
            first_places=float(np.mean([first for first, _ in teacher])) if teacher else None,
            first_places_of=len(teacher),
            mean_place=float(np.mean([place for _, place in teacher])) if teacher else None,
            against_past=float(np.mean([first for first, _ in past])) if past else None,
            against_past_of=len(past),
            entropy=entropy,
            value_error=error,
        )

    def _play(
        self, chance: np.random.Generator
    ) -> tuple[list[Experience], dict[str, list[tuple[float, float]]], float]:
        """Play the matches of a round.

        Returns:
            The choices with what came of them; a share of the first place and the place by kind of match, for each seat
            of the net; the mean entropy.
        """
        past = [self._rules([self._bot_of(net)] * (self.plan.seats - 1)) for net in self.past]
        choices: list[Experience] = []
        results: dict[str, list[tuple[float, float]]] = defaultdict(list)
        entropy, answers = 0.0, 0
        open_matches: list[TrainingMatch] = []
        while True:
            while len(open_matches) < TABLES and answers + len(open_matches) < self.plan.round_decisions:
                table, against = self._draw(past, chance)
                if table.deal(self.plan.seed, self.matches):
                    open_matches.append(TrainingMatch(table, against, self._advisers(table)))
                self.matches += 1
            if not open_matches:
                return choices, results, entropy / max(1, answers)
            answers += len(open_matches)
            entropy += self._answer(open_matches, chance)
            for opened in open_matches:
                if opened.table.seat is not None:
                    continue
                rewards, places = opened.table.rewards(), opened.table.game.places()
                for seat, story in opened.stories.items():
                    _credit(story, rewards[seat] / self.unit)
                    choices += story
                    place, sharing = places[seat], places.count(places[seat])
                    results[opened.against].append((1 / sharing if place == 1 else 0.0, place + (sharing - 1) / 2))
            open_matches = [opened for opened in open_matches if opened.table.seat is not None]

    def _bot_of(self, net: Net) -> type[NetBot]:
        """Return a bot that plays a net."""
        fields = {"net": net, "adviser": self._teacher.make, "reads_events": self._tables[0].has_events}
        return type("PastVersion", (NetBot,), fields)

    def _draw(self, past: Sequence[TableRules], chance: np.random.Generator) -> tuple[ChoiceTable, str]:
        """Draw who has the other seats of a match."""
        drawn, others = chance.random(), self.plan.seats - 1
        if past and drawn < PAST_SHARE:
            return ChoiceTable(past[int(chance.integers(len(past)))]), "past"
        if drawn < PAST_SHARE + MIXED_SHARE:
            return ChoiceTable(self._tables[int(chance.integers(others))]), "mixed"
        if not self.plan.others:
            return ChoiceTable(self._tables[others]), "teacher"
        company = [
            str(chance.choice(self.plan.others)) if chance.random() < OTHERS_SHARE else self.plan.teacher
            for _ in range(others)
        ]
        against = "teacher" if set(company) == {self.plan.teacher} else "others"
        return ChoiceTable(self._company[tuple(sorted(company))]), against

    def _answer(self, open_matches: Sequence[TrainingMatch], chance: np.random.Generator) -> float:
        """Answer in each match with an option drawn by its probability.  Returns the sum of the entropies."""
        drawn = [self._read(opened.table, opened.advice()) for opened in open_matches]
        batch = Minibatch(drawn)
        with torch.inference_mode():
            log_probabilities, values = self.model(batch)
        entropy = -float((log_probabilities * log_probabilities.exp()).sum())
        split = np.split(log_probabilities.numpy().astype(np.float64), batch.first[1:-1])
        for opened, choice, options, value in zip(open_matches, drawn, split, values.tolist(), strict=True):
            # The highest of ratings with Gumbel noise is a draw by their probabilities.
            choice.chosen = int((options + chance.gumbel(size=len(options))).argmax())
            choice.log_probability, choice.value = float(options[choice.chosen]), value
            table = opened.table
            assert table.seat is not None
            opened.stories[table.seat].append(choice)
            table.answer(table.options[choice.chosen])
        return entropy

    def _descend(
        self,
        choices: Sequence[Experience],
        passes: int,
        chance: np.random.Generator,
        loss: Callable[[Minibatch, Sequence[Experience]], Any],
    ) -> None:
        """Take a step of the optimizer for each minibatch of each pass."""
        for _ in range(passes):
            order = chance.permutation(len(choices))
            for part in np.array_split(order, max(1, len(order) // BATCH)):
                picked = [choices[number] for number in part]
                self.model.zero_grad()
                loss(Minibatch(picked), picked).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), LONGEST_STEP)
                self.optimizer.step()

    # -- going on
    @property
    def state(self) -> dict[str, Any]:
        """All that the next round depends on, as plain values and tensors."""
        return {
            "plan": asdict(self.plan),
            "stamp": self.space.stamp,
            "round": self.round,
            "matches": self.matches,
            "decisions": self.decisions,
            "unit": self.unit,
            "columns": [_tensors(self.inputs.view), _tensors(self.inputs.option)],
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "past": [{name: torch.from_numpy(weight) for name, weight in net.weights.items()} for net in self.past],
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self.space.check_stamp(state["stamp"])
        self.round, self.matches, self.decisions = state["round"], state["matches"], state["decisions"]
        self.unit = state["unit"]
        columns = [Columns(index.numpy(), scale.numpy()) for index, scale in state["columns"]]
        self.inputs = Inputs(self.space, *columns)
        self.model = self._new_model()
        self.model.load_state_dict(state["model"])
        self.optimizer = self._new_optimizer()
        self.optimizer.load_state_dict(state["optimizer"])
        self.past = [
            Net(self.inputs, {name: weight.numpy() for name, weight in weights.items()}, {})
            for weights in state["past"]
        ]


def _credit(story: Sequence[Experience], reward: float) -> None:
    """Give each choice of a match its advantage, and the reward that its view should have promised."""
    advantage, following = 0.0, reward
    for choice in reversed(story):
        advantage = following - choice.value + TRACE * advantage
        choice.advantage, choice.reward = advantage, choice.value + advantage
        following = choice.value


def _tensors(columns: Columns) -> tuple[Any, Any]:
    return torch.from_numpy(columns.index), torch.from_numpy(columns.scale)
