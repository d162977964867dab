"""A net that rates options, its file, and a bot that plays it: numpy alone, no learning library.

    from pathlib import Path
    from cutpurse.learn.net import NetBot, load_net

    class Bot(NetBot):
        net = load_net(Path(__file__).with_name("net.npz"))

One form of net fits every game and any number of options:

    first = view @ W + b                          a view is read once for all its options
    hidden = relu(first + option @ V + advised a) one row for each option
    hidden = hidden + relu(hidden @ H + c)
    rating = hidden @ r + advised l

`advised` is 1 for the option that an adviser would take, such as `greedy`, and 0 for the others. So a net need not
learn again what its adviser knows, but only where to differ from it.

A net reads only those columns of a view and of an option that vary in play, divided by the largest value met, so that
money of 55,000 and a flag of 1 weigh alike. Of zones that are made in play, such as packs, it can read the sum of a
seat's instead of each. The file is an archive of numpy arrays. It has no pickled objects, so the
file of a stranger can do nothing but be refused. Most of a net is W. Each of its rows is a step times whole numbers
from -127 to 127, which are a byte each in the file. This module knows no particular game.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from cutpurse.engine.agenda import Option
from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.view import View
from cutpurse.learn.files import replace_file
from cutpurse.learn.space import OtherNumbering, Space
from cutpurse.sdk.bot import BotMaker, MatchInfo, built_in_bots, load_bot
from cutpurse.sdk.bot_calls import wants_events
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.decision import Option as OptionOfBot
from cutpurse.wire.errors import NotFound

__all__ = ["Columns", "Inputs", "Net", "NetBot", "NetMaker", "NetNotLoaded", "load_net", "observe"]

FORMAT: Final = 3
MOST_BYTES: Final = 64 * 2**20  # of a file, and of all that it unpacks to
HEADER: Final = "header"
LEVELS: Final = 127  # largest multiple of a row's step, which fits into a byte

Floats = npt.NDArray[np.float32]


class NetNotLoaded(UsageError):
    """A file that was given as a net, but is none, is damaged, or is of another version."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of an array that a net reads."""

    index: npt.NDArray[np.int32]
    scale: Floats  # what each is multiplied by

    @classmethod
    def varying(cls, rows: npt.NDArray[np.integer], least: int = 1) -> Self:
        """Choose the columns in which `least` rows or more differ from the first one, and scale each by its largest."""
        index = np.flatnonzero((rows != rows[0]).sum(axis=0) >= least).astype(np.int32)
        return cls(index, (1 / np.abs(rows[:, index].astype(np.float32)).max(axis=0)).astype(np.float32))

    def read(self, rows: npt.NDArray[np.integer]) -> Floats:
        """Return the scaled columns; what is larger than anything met before counts as the largest."""
        scaled: Floats = np.clip(rows[..., self.index] * self.scale, -1, 1, dtype=np.float32)
        return scaled


class Inputs:
    """What nets read of the views and options of one game with a number of seats."""

    def __init__(self, space: Space, view: Columns, option: Columns) -> None:
        """Take the columns.

        Args:
            space: What a view and an option mean.
            view: Columns of what `observe` returns.
            option: Columns of the features of an option.
        """
        self.space = space
        self.view = view
        self.option = option

    def read_view(self, view: View) -> Floats:
        """Return what a net reads of a view."""
        return self.view.read(observe(self.space, view))

    def read_options(self, view: View, options: Sequence[Option]) -> Floats:
        """Return what a net reads of each option, a row for each."""
        return self.option.read(self.space.features(view, options))


def observe(space: Space, view: View) -> npt.NDArray[np.int32]:
    """Return all that a net can read of a view: its planes, its numbers, and the sums of planes."""
    planes, numbers = space.observe(view)
    parts = (planes, numbers, space.sums_of(planes)) if space.sums else (planes, numbers)
    return np.concatenate(parts, dtype=np.int32)


class Net:
    """A net that rates options.

    Attributes:
        inputs: What it reads.
        weights: `view` (W), `view_bias` (b), `option` (V), `advice` (a), `hidden` (H), `hidden_bias` (c), `rating` (r)
            and `lead` (l), as precise as in the file: multiples of steps for W, half precision for the others.
        training: How it was trained, for people; `teacher` is the name of its adviser.
    """

    def __init__(
        self, inputs: Inputs, weights: Mapping[str, npt.NDArray[np.floating]], training: Mapping[str, Any]
    ) -> None:
        """Take the weights.  Raises ValueError if one is missing, has another shape, or is no finite number."""
        self.inputs = inputs
        self.training = dict(training)
        self.weights: dict[str, npt.NDArray[np.floating]] = {}
        shapes = _shapes(len(inputs.view.index), len(inputs.option.index), len(weights["rating"]))
        for name, shape in shapes.items():
            weight = weights[name].astype(np.float16)
            if weight.shape != shape or not np.isfinite(weight).all():
                raise ValueError(f"its weight {name} has the shape {weight.shape} and not {shape}, or is not finite")
            self.weights[name] = weight
        self.weights["view"] = _from_levels(*_to_levels(weights["view"]))
        self._w, self._b, self._v, self._a, self._h, self._c, self._r, self._l = (
            self.weights[name].astype(np.float32) for name in shapes
        )

    @property
    def space(self) -> Space:
        """What a view and an option mean."""
        return self.inputs.space

    def rate(self, view: View, options: Sequence[Option], advised: int) -> Floats:
        """Rate the options of the view's seat. The best has the highest rating; their softmax is a policy.

        Args:
            view: What the seat sees.
            options: What it can choose.
            advised: Position of the adviser's choice among them.
        """
        inputs = self.inputs.read_view(view)
        used = np.flatnonzero(inputs)  # of a view about 1 in 20 is not 0
        first = inputs[used] @ self._w[used] + self._b
        hidden = self.inputs.read_options(view, options) @ self._v + first
        hidden[advised] += self._a
        hidden = np.maximum(hidden, 0)
        hidden = hidden + np.maximum(hidden @ self._h + self._c, 0)
        ratings: Floats = hidden @ self._r
        ratings[advised] += self._l[0]
        return ratings

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file. An existing one is replaced at once, so that no reader finds half a net."""
        header = {"format": FORMAT, "stamp": self.space.stamp, "training": self.training}
        arrays = {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8), **self._arrays()}
        with replace_file(Path(path)) as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # numpy's types take the names for options

    def digest(self) -> str:
        """Return the first 16 hex digits of a SHA-256 of what it reads and of its weights."""
        hashed = hashlib.sha256()
        for name, array in self._arrays().items():
            hashed.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
        return hashed.hexdigest()[:16]

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what the file has beside its header."""
        levels, steps = _to_levels(self.weights["view"])
        return {
            "view_index": self.inputs.view.index,
            "view_scale": self.inputs.view.scale,
            "option_index": self.inputs.option.index,
            "option_scale": self.inputs.option.scale,
            **{f"weight_{name}": weight for name, weight in self.weights.items()},
            "weight_view": levels,
            "view_step": steps,
        }


def load_net(path: str | PathLike[str]) -> Net:
    """Load the net of a file.

    Raises:
        NotFound: If there is no such file.
        NetNotLoaded: If it is no net, is damaged, or was made with another numbering or other rules; in one line.
    """
    name = fspath(path)
    try:
        arrays = _read(Path(path))
        header = parse_json(arrays[HEADER].tobytes())
        if header["format"] != FORMAT:
            raise NetNotLoaded(f"{name} has format {header['format']}, this version of cutpurse reads {FORMAT}: update")
        stamp, training = dict(header["stamp"]), dict(header["training"])
        try:
            space = Space.from_stamp(stamp)
        except OtherNumbering as problem:
            raise NetNotLoaded(f"net {name} was {problem}") from None
        except UsageError as problem:
            raise NetNotLoaded(f"net {name} cannot be played here: {problem}") from None
        view = _columns(arrays, "view", space.planes + space.numbers + space.sums)
        option = _columns(arrays, "option", space.option_features)
        weights = {key.removeprefix("weight_"): value for key, value in arrays.items() if key.startswith("weight_")}
        weights["view"] = _from_levels(weights["view"], arrays["view_step"])
        return Net(Inputs(space, view, option), weights, training)
    except FileNotFoundError:
        raise NotFound(f"there is no net {name}") from None
    except CutpurseError:
        raise
    except OSError as problem:
        raise NetNotLoaded(f"net {name} cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # numpy's reader raises nearly anything
        reason = " ".join(str(problem).split())[:120]
        raise NetNotLoaded(f"{name} is no net, or is damaged ({reason}): copy it again, or train anew") from None


def _read(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a file, which is checked before it can take up memory."""
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            sizes = [info.file_size for info in archive.infolist()]
        if sum(sizes) > MOST_BYTES or path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES // 2**20} MiB")
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _columns(arrays: Mapping[str, npt.NDArray[Any]], name: str, width: int) -> Columns:
    index = arrays[f"{name}_index"].astype(np.int32)
    scale = arrays[f"{name}_scale"].astype(np.float32)
    if index.ndim != 1 or index.shape != scale.shape or not np.isfinite(scale).all():
        raise ValueError(f"its columns of {name} do not fit")
    if not ((index >= 0) & (index < width)).all():
        raise ValueError(f"it reads columns of {name} that do not exist")
    return Columns(index, scale)


def _to_levels(rows: npt.NDArray[np.floating]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Round each row to multiples of a step of its own, which gives the same again for rounded rows."""
    steps = (np.abs(rows.astype(np.float32)).max(axis=1, initial=0) / LEVELS).astype(np.float16)
    levels = np.rint(rows / np.where(steps > 0, steps, 1).astype(np.float32)[:, None])
    return np.clip(levels, -LEVELS, LEVELS).astype(np.int8), steps


def _from_levels(levels: npt.NDArray[np.int8], steps: npt.NDArray[np.float16]) -> Floats:
    """Return the rows of these multiples of steps."""
    return levels.astype(np.float32) * steps.astype(np.float32)[:, None]


def _shapes(view: int, option: int, hidden: int) -> dict[str, tuple[int, ...]]:
    return {
        "view": (view, hidden),
        "view_bias": (hidden,),
        "option": (option, hidden),
        "advice": (hidden,),
        "hidden": (hidden, hidden),
        "hidden_bias": (hidden,),
        "rating": (hidden,),
        "lead": (1,),
    }


class NetBot:
    """A bot that takes the option that its net rates best. A subclass names the net.

    A net was trained with an adviser, and rates the options knowing its choice. An adviser that is not built in has to
    be given, as `adviser = MyBot`. At a table with another number of seats, as in a server's check of a bot, the bot
    does what its adviser says.
    """

    net: ClassVar[Net]  # loaded once, for all matches
    adviser: ClassVar[Callable[[], Any] | None] = None  # makes one for a match
    reads_events = False  # so a server need not send them; set it if the adviser reads them

    def start(self, match: MatchInfo) -> None:
        """Look whether the net is of this match.  Raises UsageError if it is of another game, or has no adviser."""
        space, seats = self.net.space, len(match.seats)
        if match.game != space.game:
            raise UsageError(f"the net plays {space.game}, not {match.game}: let the bot play {space.game} alone")
        self.has_net = seats == space.seats
        self._hint = f"the net is for {space.seats} seats, not {seats}: train one with cutpurse train --seats {seats}"
        self._advised_by = (type(self).adviser or _adviser_of(self.net))()
        if hasattr(self._advised_by, "start"):
            self._advised_by.start(match)

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of the option with the highest rating. Any: each game has its own view."""
        advice = self._advised_by.choose(view, decision)
        advised = advice.index if isinstance(advice, OptionOfBot) else int(advice)
        if self.has_net:
            return int(self.net.rate(view.raw, [option.raw for option in decision.options], advised).argmax())
        if decision.number == 0:
            decision.note(self._hint)
        return advised


@dataclass(frozen=True)
class NetMaker:
    """Makes bots that play the net in a file.  Other processes can receive it.

    Attributes:
        file: The file.
        digest: `Net.digest` of the net, where the file may have had another one before.
        adviser: The bot that the net was trained with, if it is not built in.
    """

    file: str
    digest: str = ""
    adviser: BotMaker | None = None

    @property
    def net(self) -> Net:
        """The net, read once.  Raises NotFound, or NetNotLoaded if the file is damaged or of another version."""
        return _kept_net(self.file, self.digest)

    def __call__(self) -> NetBot:
        """Make a bot for a match."""
        adviser = None if self.adviser is None else self.adviser.make
        fields = {"net": self.net, "adviser": adviser, "reads_events": adviser is not None and wants_events(adviser())}
        bot: type[NetBot] = type("NetFileBot", (NetBot,), fields)
        return bot()


@cache
def _kept_net(file: str, digest: str) -> Net:
    return load_net(file)


def _adviser_of(net: Net) -> Callable[[], Any]:
    """Return the built-in bot that a net was trained with.  Raises UsageError if it is none."""
    name = net.training.get("teacher")
    if name not in built_in_bots():
        raise UsageError(f"the net was trained with the adviser {name!r:.80}, which is not built in: set `adviser`")
    return load_bot(name).make
