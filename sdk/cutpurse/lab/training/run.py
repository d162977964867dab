"""A training in a folder, which goes on where it was stopped.

The folder gets three files. `net.npz` is the net of the last round, which a bot can play at once. `state.pt` is all
that the next round needs. `curve.jsonl` has a line for each round. The first two are replaced whole after each round,
so a run that is killed loses only the round that it was in. This module knows no game and no command.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.lab.training.ppo import Report, Training, TrainingPlan
from cutpurse.learn.files import replace_file
from cutpurse.learn.net import Net
from cutpurse.wire.errors import needs

with needs("train"):
    import torch

__all__ = ["CURVE", "NET", "STATE", "TrainingRun"]

NET: Final = "net.npz"
STATE: Final = "state.pt"
CURVE: Final = "curve.jsonl"


class TrainingRun:
    """A training in its folder.

    Attributes:
        training: The training itself.
        seconds: Processor time so far, earlier sessions included.
    """

    def __init__(self, folder: Path, plan: TrainingPlan, start: Net | None = None) -> None:
        """Begin the run, or go on from the state in the folder.

        Args:
            folder: The folder, made if it is missing.
            plan: What to learn.
            start: A net to begin as, that of `plan.start`.

        Raises:
            UsageError: If the plan is impossible, or the state is of another plan, of another version or damaged.
        """
        self.folder = folder
        state = self._load(plan)
        self.seconds: float = 0.0 if state is None else state["seconds"]
        self._begun = time.process_time() - self.seconds
        self.training = Training(plan, None if state is None else state["training"], start=start)
        folder.mkdir(parents=True, exist_ok=True)
        self._mend_curve()

    def _load(self, plan: TrainingPlan) -> dict[str, Any] | None:
        path = self.folder / STATE
        if not path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
            before = state["training"]["plan"]
        except Exception as problem:  # torch raises nearly anything
            raise UsageError(
                f"{path} is damaged ({type(problem).__name__}): remove it to begin anew, or give another folder"
            ) from None
        for name, value in asdict(plan).items():
            trained = before.get(name, getattr(TrainingPlan, name, None))  # a state may be older than the option
            if trained != value:
                known, desired = _setting_text(trained), _setting_text(value)
                raise UsageError(
                    f"{path} is of a run with {name} {known}, not {desired}: give the same to go on, or another folder"
                )
        return state

    def _mend_curve(self) -> None:
        """Remove the lines of rounds that the state does not know, as of a run that was killed."""
        path = self.folder / CURVE
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        with replace_file(path) as file:
            file.writelines(lines[: self.training.round])

    def learn_a_round(self) -> Report:
        """Learn a round, and write the three files."""
        report = self.training.learn_a_round()
        self.seconds = time.process_time() - self._begun
        line = {name: value for name, value in asdict(report).items() if value is not None}
        with (self.folder / CURVE).open("a", encoding="utf-8") as curve:
            curve.write(json.dumps({**line, "seconds": round(self.seconds, 1)}) + "\n")
        net = self.training.net()
        net.training["minutes"] = round(self.seconds / 60, 1)
        net.save(self.folder / NET)
        with replace_file(self.folder / STATE) as file:
            torch.save({"training": self.training.state, "seconds": self.seconds}, file)
        return report


def _setting_text(value: object) -> str:
    """Return a value of a plan as it is given on a command line."""
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ",".join(f"{name}={entry}" for name, entry in value.items()) or "none"
    return str(value) or "none"
