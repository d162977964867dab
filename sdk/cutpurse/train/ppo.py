"""How a net learns a game: it copies a teacher, then it plays against the teacher and against its own past.

    training = Training(TrainingPlan("szmal", seats=4))
    while training.round < 100:
        print(training.learn_a_round())
    training.net().save("net.npz")

A round plays matches to their end, then learns from their decisions:

1. Copy. The teacher plays all seats. The net learns to choose as it did, and to tell from a view who will win.
2. Improve (proximal policy optimization: Schulman et al. 2017). The net tries options out, the better rated ones more
   often. Each choice that led to more than the net expected of that view gets likelier, the others get less likely, by
   a bounded step. In most matches the net has one seat and the teacher has the others. In the rest the net has several
   seats, or a past version of it has the others, so that it does not learn to beat its teacher and nobody else.

All that is random comes from the seed and the number of the round or match, and between rounds no match is open. So a
run that goes on from a saved state ends with the same net as one that never stopped. One thread computes: the sums of
several threads would differ from machine to machine. This module knows no particular game and no file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import match_key
from cutpurse.learn.choice_table import BotSpec, ChoiceTable, TableRules
from cutpurse.learn.net import Columns, Inputs, Net, NetBot
from cutpurse.learn.opponents import Opponents
from cutpurse.learn.space import Space
from cutpurse.wire.errors import needs

with needs("train"):
    import torch
    from torch import nn

__all__ = ["TrainingPlan", "Report", "Training"]

HIDDEN: Final = 192  # width of the net
TABLES: Final = 64  # matches that are open at once, so that the net rates the options of all of them together
BATCH: Final = 512  # decisions per step of the optimizer
COPY_PASSES: Final = 2  # over the decisions of a round
PASSES: Final = 3
COPY_RATE: Final = 1e-3  # learning rates
RATE: Final = 3e-4
RATE_HALVES: Final = 300  # rounds until RATE is half, as 1 / sqrt(1 + 3 * round / RATE_HALVES)
CLIP: Final = 0.2  # a step makes a choice at most this much likelier, or less likely
TRACE: Final = 0.95  # lambda of the advantages (Schulman et al. 2016): how far they trust results more than values
ENTROPY: Final = 0.002  # weight of staying undecided
LONGEST_STEP: Final = 0.5  # norm of a gradient
PAST_SHARE: Final = 0.1  # of the matches are against a past version
MIXED_SHARE: Final = 0.1  # of the matches have the net in several seats
PAST_EVERY: Final = 12  # rounds between two past versions
MOST_PAST: Final = 8  # the last ones are kept


@dataclass(frozen=True)
class TrainingPlan:
    """What a run learns. The same plan gives the same net."""

    game: str
    seats: int
    seed: int = 0
    teacher: str = "greedy"  # a bot to copy, and to beat
    reward: str = "first"
    round_decisions: int = 8192  # at least; with half of it the results of a round are too few to learn from
    copy_rounds: int = 24


@dataclass(frozen=True)
class Report:
    """What a round did: a line of the curve."""

    round: int
    phase: str  # "copy" or "improve"
    matches: int  # since the beginning, as the next
    decisions: int
    same_choice: float | None = None  # "copy": share of choices that are the teacher's, before learning from them
    first_places: float | None = None  # "improve": of the matches against the teacher, ties split
    first_places_of: int | None = None
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
    log_probability: float = 0.0  # of the chosen option
    value: float = 0.0  # the reward that was expected
    advantage: float = 0.0  # by how much more came of it
    reward: float = 0.0  # what the value should have been


@dataclass(slots=True)
class TrainingMatch:
    """A match of the net, and its decisions so far by seat."""

    table: ChoiceTable
    against: str  # "teacher" or "past" has all other seats, or they are "mixed"
    stories: dict[int, list[Experience]] = field(default_factory=lambda: defaultdict(list))


class Model(nn.Module):  # type: ignore[misc]  # torch is no part of the checks
    """The net of `cutpurse.learn.net` as torch learns it, and a value for each view."""

    def __init__(self, view: int, option: int) -> None:
        super().__init__()
        self.view = nn.Linear(view, HIDDEN)
        self.option = nn.Linear(option, HIDDEN, bias=False)
        self.hidden = nn.Linear(HIDDEN, HIDDEN)
        self.rating = nn.Linear(HIDDEN, 1, bias=False)
        self.value = nn.Sequential(nn.ReLU(), nn.Linear(HIDDEN, HIDDEN // 2), nn.ReLU(), nn.Linear(HIDDEN // 2, 1))

    def forward(self, views: Any, options: Any, owner: Any) -> tuple[Any, Any]:
        """Return the log-probability of each option within its decision, and the value of each view.

        Args:
            views: A row for each decision.
            options: A row for each option of all decisions.
            owner: For each option, the number of its decision.
        """
        first = self.view(views)
        hidden = torch.relu(first[owner] + self.option(options))
        hidden = hidden + torch.relu(self.hidden(hidden))
        rating = self.rating(hidden).squeeze(1)
        highest = torch.full((len(views),), -torch.inf).scatter_reduce(0, owner, rating.detach(), "amax")
        rating = rating - highest[owner]
        total = torch.zeros(len(views)).index_add(0, owner, rating.exp())
        return rating - total.log()[owner], self.value(first).squeeze(1)

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return what a `Net` needs."""
        return {
            "view": self.view.weight.detach().numpy().T.copy(),
            "view_bias": self.view.bias.detach().numpy().copy(),
            "option": self.option.weight.detach().numpy().T.copy(),
            "hidden": self.hidden.weight.detach().numpy().T.copy(),
            "hidden_bias": self.hidden.bias.detach().numpy().copy(),
            "rating": self.rating.weight.detach().numpy()[0].copy(),
        }


class Minibatch:
    """Some decisions as tensors."""

    def __init__(self, choices: Sequence[Experience]) -> None:
        counts = [len(choice.options) for choice in choices]
        self.first = np.cumsum([0, *counts])  # of each decision, its first option among all
        self.views = torch.from_numpy(np.stack([choice.view for choice in choices])).float()
        self.options = torch.from_numpy(np.concatenate([choice.options for choice in choices])).float()
        self.owner = torch.from_numpy(np.repeat(np.arange(len(choices)), counts))
        self.chosen = torch.from_numpy(self.first[:-1] + np.array([choice.chosen for choice in choices]))

    def column(self, values: Sequence[float]) -> Any:
        """Return a number for each decision as a tensor."""
        return torch.tensor(values, dtype=torch.float32)


class Training:
    """A run: the model, and everything else that the next round depends on."""

    def __init__(self, plan: TrainingPlan, state: dict[str, Any] | None = None) -> None:
        """Begin a run, or go on from a state.

        Args:
            plan: What to learn.
            state: What `state` returned in a run with the same plan.

        Raises:
            UsageError: For unknown names and impossible values.
            OtherNumbering: If the state is of another numbering or other rules.
        """
        torch.set_num_threads(1)
        self.plan = plan
        self.space = Space(plan.game, plan.seats)
        self._tables = [self._rules([plan.teacher] * teachers) for teachers in range(plan.seats)]
        self._teacher = self._tables[-1].makers[0]
        self._tables[0].has_events = self._tables[-1].has_events  # the teacher is asked there too, by `_watch`
        self.round = 0
        self.matches = 0
        self.decisions = 0
        self.past: list[Net] = []
        if state is None:
            torch.manual_seed(plan.seed)
            self.inputs = Inputs(self.space, *self._choose_columns())
            self.model = self._new_model()
            self.optimizer = self._new_optimizer(COPY_RATE)
        else:
            self._restore(state)

    def _rules(self, opponents: Sequence[BotSpec]) -> TableRules:
        return TableRules(self.plan.game, self.plan.seats, None, self.plan.reward, opponents)

    def _new_model(self) -> Model:
        return Model(len(self.inputs.view.index), len(self.inputs.option.index))

    def _new_optimizer(self, rate: float) -> Any:
        return torch.optim.Adam(self.model.parameters(), lr=rate)

    def net(self) -> Net:
        """Return the net of now."""
        training = {**asdict(self.plan), "rounds": self.round, "matches": self.matches, "decisions": self.decisions}
        return Net(self.inputs, self.model.weights(), training)

    # -- rounds
    def learn_a_round(self) -> Report:
        """Play the matches of the next round, and learn from them."""
        chance = np.random.default_rng([self.plan.seed, self.round])
        if self.round == self.plan.copy_rounds:
            self.optimizer = self._new_optimizer(RATE)
        report = self._copy(chance) if self.round < self.plan.copy_rounds else self._improve(chance)
        self.round += 1
        return report

    # -- 1. copy
    def _choose_columns(self) -> tuple[Columns, Columns]:
        """Choose what the net reads: all that varies in matches of the teacher and in random ones."""
        chance = np.random.default_rng([self.plan.seed])
        views: list[npt.NDArray[np.int32]] = []
        options: list[npt.NDArray[np.int32]] = []

        def look(table: ChoiceTable, answer: Option) -> Option:
            views.append(np.concatenate(self.space.observe(table.view), dtype=np.int32))
            options.append(self.space.features(table.view, table.options))
            return table.options[chance.integers(len(table.options))] if self.matches % 2 else answer

        while len(views) < self.plan.round_decisions:
            self._watch(look)
        return Columns.varying(np.stack(views)), Columns.varying(np.concatenate(options))

    def _watch(self, look: Callable[[ChoiceTable, Option], Option]) -> ChoiceTable:
        """Play a match with the teacher in all seats; `look` gets each answer, and returns what is answered."""
        table = ChoiceTable(self._tables[0])
        self.matches += 1
        goes_on = table.deal(self.plan.seed, self.matches - 1)
        teacher = Opponents(
            table.game,
            match_key(self.plan.seed, self.matches - 1),
            (self.plan.teacher,) * self.plan.seats,
            dict.fromkeys(range(self.plan.seats), self._teacher),
        )
        while goes_on:
            assert table.seat is not None
            goes_on = table.answer(look(table, teacher.answer(table.seat, table.options)))
        return table

    def _copy(self, chance: np.random.Generator) -> Report:
        """Watch the teacher, and learn to choose as it did."""
        choices: list[Experience] = []
        while len(choices) < self.plan.round_decisions:
            stories: dict[int, list[Experience]] = defaultdict(list)

            def look(table: ChoiceTable, answer: Option, stories: dict[int, list[Experience]] = stories) -> Option:
                assert table.seat is not None
                stories[table.seat].append(self._read(table, table.options.index(answer)))
                return answer

            rewards = self._watch(look).rewards()
            for seat, story in stories.items():
                for choice in story:
                    choice.reward = rewards[seat]
                choices += story
        self.decisions += len(choices)
        same, error = self._compare(choices)

        def loss(batch: Minibatch, picked: Sequence[Experience]) -> Any:
            log_probabilities, values = self.model(batch.views, batch.options, batch.owner)
            rewards = batch.column([choice.reward for choice in picked])
            return -log_probabilities[batch.chosen].mean() + ((values - rewards) ** 2).mean()

        self._descend(choices, COPY_PASSES, chance, loss)
        return Report(self.round + 1, "copy", self.matches, self.decisions, same_choice=same, value_error=error)

    def _compare(self, choices: Sequence[Experience]) -> tuple[float, float]:
        """Return the share of choices that the net would make too, and the error of its values."""
        same, errors = 0, 0.0
        with torch.inference_mode():
            for start in range(0, len(choices), BATCH):
                picked = choices[start : start + BATCH]
                batch = Minibatch(picked)
                ratings, values = self.model(batch.views, batch.options, batch.owner)
                errors += float(((values - batch.column([choice.reward for choice in picked])) ** 2).sum())
                for choice, rating in zip(picked, np.split(ratings.numpy(), batch.first[1:-1]), strict=True):
                    same += int(rating.argmax()) == choice.chosen
        return same / len(choices), errors / len(choices)

    def _read(self, table: ChoiceTable, chosen: int = 0) -> Experience:
        view = self.inputs.read_view(table.view).astype(np.float16)
        return Experience(view, self.inputs.read_options(table.view, table.options).astype(np.float16), chosen)

    # -- 2. improve
    def _improve(self, chance: np.random.Generator) -> Report:
        """Play against the teacher and past versions, and learn from what came of each choice."""
        improved = self.round - self.plan.copy_rounds
        if improved % PAST_EVERY == 0:
            self.past = [*self.past, self.net()][-MOST_PAST:]
        choices, firsts, entropy = self._play(chance)
        self.decisions += len(choices)
        advantages = np.array([choice.advantage for choice in choices])
        mean, deviation = advantages.mean(), advantages.std() + 1e-8
        error = float(np.mean([(choice.reward - choice.value) ** 2 for choice in choices]))
        for group in self.optimizer.param_groups:
            group["lr"] = RATE / (1 + 3 * improved / RATE_HALVES) ** 0.5

        def loss(batch: Minibatch, picked: Sequence[Experience]) -> Any:
            log_probabilities, values = self.model(batch.views, batch.options, batch.owner)
            before = batch.column([choice.log_probability for choice in picked])
            gain = batch.column([(choice.advantage - mean) / deviation for choice in picked])
            rewards = batch.column([choice.reward for choice in picked])
            ratio = (log_probabilities[batch.chosen] - before).exp()
            policy_loss = -torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            undecided = -(log_probabilities * log_probabilities.exp()).sum() / len(picked)
            return policy_loss + 0.5 * ((values - rewards) ** 2).mean() - ENTROPY * undecided

        self._descend(choices, PASSES, chance, loss)
        teacher, past = firsts["teacher"], firsts["past"]
        return Report(
            *(self.round + 1, "improve", self.matches, self.decisions),
            first_places=float(np.mean(teacher)) if teacher else None,
            first_places_of=len(teacher),
            against_past=float(np.mean(past)) if past else None,
            against_past_of=len(past),
            entropy=entropy,
            value_error=error,
        )

    def _play(self, chance: np.random.Generator) -> tuple[list[Experience], dict[str, list[float]], float]:
        """Play the matches of a round.

        Returns:
            The choices with what came of them; the first places of matches against the teacher and past versions; the
            mean entropy.
        """
        past = [self._rules([_bot_of(net)] * (self.plan.seats - 1)) for net in self.past]
        choices: list[Experience] = []
        firsts: dict[str, list[float]] = defaultdict(list)
        entropy, answers = 0.0, 0
        open_matches: list[TrainingMatch] = []
        while True:
            while len(open_matches) < TABLES and answers + len(open_matches) < self.plan.round_decisions:
                opened = self._draw(past, chance)
                self.matches += 1
                if opened.table.deal(self.plan.seed, self.matches - 1):
                    open_matches.append(opened)
            if not open_matches:
                return choices, firsts, entropy / max(1, answers)
            answers += len(open_matches)
            entropy += self._answer(open_matches, chance)
            for opened in open_matches:
                if opened.table.seat is not None:
                    continue
                rewards, places = opened.table.rewards(), opened.table.game.places()
                for seat, story in opened.stories.items():
                    _credit(story, rewards[seat])
                    choices += story
                    firsts[opened.against].append(1 / places.count(1) if places[seat] == 1 else 0.0)
            open_matches = [opened for opened in open_matches if opened.table.seat is not None]

    def _draw(self, past: Sequence[TableRules], chance: np.random.Generator) -> TrainingMatch:
        """Draw who has the other seats of a match."""
        drawn, others = chance.random(), self.plan.seats - 1
        if past and drawn < PAST_SHARE:
            return TrainingMatch(ChoiceTable(past[int(chance.integers(len(past)))]), "past")
        if drawn < PAST_SHARE + MIXED_SHARE:
            return TrainingMatch(ChoiceTable(self._tables[int(chance.integers(others))]), "mixed")
        return TrainingMatch(ChoiceTable(self._tables[others]), "teacher")

    def _answer(self, open_matches: Sequence[TrainingMatch], chance: np.random.Generator) -> float:
        """Answer in each match with an option drawn by its probability.  Returns the sum of the entropies."""
        drawn = [self._read(opened.table) for opened in open_matches]
        batch = Minibatch(drawn)
        with torch.inference_mode():
            log_probabilities, values = self.model(batch.views, batch.options, batch.owner)
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
                self.optimizer.zero_grad()
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
            "columns": [_tensors(self.inputs.view), _tensors(self.inputs.option)],
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "past": [{name: torch.from_numpy(weight) for name, weight in net.weights.items()} for net in self.past],
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self.space.check_stamp(state["stamp"])
        self.round, self.matches, self.decisions = state["round"], state["matches"], state["decisions"]
        columns = [Columns(index.numpy(), scale.numpy()) for index, scale in state["columns"]]
        self.inputs = Inputs(self.space, *columns)
        self.model = self._new_model()
        self.model.load_state_dict(state["model"])
        self.optimizer = self._new_optimizer(RATE)
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


def _bot_of(net: Net) -> type[NetBot]:
    """Return a bot that plays a net."""
    return type("PastVersion", (NetBot,), {"net": net})


def _tensors(columns: Columns) -> tuple[Any, Any]:
    return torch.from_numpy(columns.index), torch.from_numpy(columns.scale)
