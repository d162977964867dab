"""What a bot is, and how one is found: by a built-in name, in a Python file, or as a program that dials in.

    class Bot:
        def choose(self, view, decision):
            return decision.options[0]

This module knows no match and no game.
"""

from __future__ import annotations

import inspect
import random
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol

from cutpurse.engine.errors import UsageError, did_you_mean
from cutpurse.sdk.bot_file import BotModules, is_loading, is_of_a_bot, load_file
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.errors import BotNotLoaded, NotFound, ProgramFailed

__all__ = [
    "PROGRAM",
    "Bot",
    "BotMaker",
    "MatchInfo",
    "bot_chance",
    "bot_makers",
    "built_in_bots",
    "check_not_loading",
    "load_bot",
    "where_a_bot_was",
    "where_it_failed",
]

GROUP: Final = "cutpurse.bots"
PROGRAM: Final = "exec:"  # before the command of a bot that is a program
CLASS: Final = "Bot"  # looked for in a file unless another is named
METHODS: Final = {"choose": "view, decision", "start": "match", "event": "event", "end": "result"}  # and with what


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """What a bot is told of a match before its first decision."""

    game: str
    seat: int
    seats: tuple[str, ...]  # who sits where, by name
    settings: Mapping[str, str]  # those that differ from their defaults, as text
    chance: random.Random  # the bot's own, so that a run with the same seed is the same run
    match: str = ""  # its name on the server; empty in local play


class Bot(Protocol):
    """Anything with a method `choose`. A new object is made, without arguments, for every match.

    Three more methods are called if it has them: `start(match: MatchInfo)` before the first decision, `event(event:
    Told)` for everything that happens, before the decision it led to and at the end, and `end(result: MatchResult)`
    when the match is over. Each may be `async def`, `choose` too. Raising in any of them is a fault.

    A class that says `reads_events = False` and has no method `event` does without `view.events`, and a server need not
    send them.

    A server also asks where there is one option. There the bot is not called, and the answer takes about as long as its
    other answers lately took, so that nobody can tell by the clock what it holds. A class that says `hides_time =
    False` has such questions answered at once.
    """

    def choose(self, view: Any, decision: Decision) -> Option | int:
        """One of the decision's options, or its index. `view` is the game's own, such as `GreedView`."""
        # Any: a bot that names its game's view as its parameter is a bot all the same.


@dataclass(frozen=True)
class BotMaker:
    """A bot by its name, which is what the user wrote; `make` gives a new one. Can be sent to another process."""

    name: str
    make: Callable[[], Any]
    file: str = ""  # where its code is, for messages
    spec: str = ""  # filled if it can be loaded again by it
    modules: BotModules | None = None  # of a bot in a file; to be active while the bot's code runs

    def __reduce__(self) -> tuple[Any, ...]:
        if self.spec:
            return load_bot, (self.spec,)
        return BotMaker, (self.name, self.make, self.file)


def bot_chance(key: bytes, seat: int) -> random.Random:
    """Make a bot's own chance in the match of this key; it reveals nothing about the cards."""
    return random.Random(sha256(b"cutpurse/bot/%d/" % seat + key).digest())


def built_in_bots() -> dict[str, str]:
    """Return the installed bots: name and where each is ("module:Class")."""
    from importlib.metadata import entry_points  # a bot in a file does without

    return {point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def load_bot(spec: str) -> BotMaker:
    """Load a bot by a built-in name, a file `my_bot.py` (its class Bot), `my_bot.py:MyBot`, or `exec:COMMAND`.

    Raises UsageError for an unknown name, NotFound for a file that is not there, BotNotLoaded for one that cannot be
    imported or has no such class, or a class without `choose`, and for a command that cannot be run.
    """
    if spec.startswith(PROGRAM):
        from cutpurse.sdk.programs.program import ProgramBot, command_of  # needs gRPC's messages

        command_of(spec)
        return BotMaker(spec, partial(ProgramBot, spec), "", spec)
    path, name = _split(spec)
    if path is None:
        return _built_in(spec)
    if not path.is_file():
        raise NotFound(_meant(path) or f"no bot file {path}: it does not exist")
    module, modules = _import_file(path)
    bot = getattr(module, name, None)
    if not isinstance(bot, type) or bot is Bot:  # which was imported, to say of another what it is
        classes = [key for key, value in vars(module).items() if _is_bot_of(module, value)]
        hint = f"; it has: {', '.join(f'{path}:{one}' for one in classes)}" if classes else ""
        raise BotNotLoaded(f"bot {spec}: {path} has no class {name}{hint}")
    _check_class(spec, bot)
    return BotMaker(spec, bot, str(path), spec, modules)


def bot_makers(bots: Iterable[str | Callable[[], Any] | BotMaker]) -> list[BotMaker]:
    """Bots by name, file or class as makers.  Raises UsageError as `load_bot` does, and for what is no bot."""
    if isinstance(bots, str):
        raise UsageError(f"bots are a list of them, not {bots!r}")
    makers: list[BotMaker] = []
    for bot in bots:
        if isinstance(bot, BotMaker):
            makers.append(bot)
        elif isinstance(bot, str):
            makers.append(load_bot(bot))
        else:
            _check_callable(bot)
            makers.append(BotMaker(getattr(bot, "__name__", repr(bot)), bot))
    return makers


def _check_callable(bot: object) -> None:
    """Check that this makes bots.  Raises BotNotLoaded otherwise."""
    if isinstance(bot, type):
        _check_class(bot.__name__, bot)
    elif not callable(bot):
        hint = f"; hand in the class, {type(bot).__name__}" if hasattr(bot, "choose") else ""
        raise BotNotLoaded(
            f"bot {bot!r:.100} is no name, no file and nothing that makes a new bot for each match{hint}"
        )


def _split(spec: str) -> tuple[Path | None, str]:
    """Return the file and the class that are meant; no file means a built-in name."""
    file, colon, name = spec.rpartition(":")
    if colon and file.endswith(".py"):
        return Path(file), name or CLASS
    if spec.endswith(".py") or "/" in spec or "\\" in spec:
        return Path(spec), CLASS
    return None, ""


def _built_in(name: str) -> BotMaker:
    from importlib.metadata import entry_points  # a bot in a file does without

    for point in entry_points(group=GROUP, name=name):
        try:
            bot = point.load()
        except Exception as problem:
            raise BotNotLoaded(f"bot {name}: {point.value} does not import: {_short(problem)}") from problem
        _check_class(name, bot)
        return BotMaker(name, bot, point.value, name)
    known = ", ".join(built_in_bots()) or "none"
    if meant := _meant(Path(name)):
        raise UsageError(f"no bot is called {name!r}: {meant}")
    hint = did_you_mean(name, built_in_bots())
    raise UsageError(f"no bot is called {name!r}{hint}; there are: {known}, or a file such as my_bot.py")


def _meant(path: Path) -> str:
    """Say what is there in place of a bot's file, and what was perhaps meant; empty if nothing is."""
    if path.is_dir():
        files = [file for file in sorted(path.glob("*.py")) if not file.name.startswith(("test_", "_"))]
        files.sort(key=lambda file: file.stem != path.resolve().name)
        return f"{path} is a folder, and a bot is a file" + (f", such as {files[0]}" if files else "")
    if path.is_file():
        return f"{path} is no file of Python: its name does not end with .py"
    if path.exists():
        return f"{path} is no file"
    if path.suffix != ".py" and (file := path.with_name(f"{path.name}.py")).is_file():
        return f"there is no {path}, its file is {file}"
    return ""


def _check_class(spec: str, bot: Any) -> None:
    if not callable(choose := getattr(bot, "choose", None)) or choose is Bot.choose:
        raise BotNotLoaded(f"bot {spec}: class {bot.__name__} has no method choose(self, view, decision)")
    for name, given in METHODS.items():
        method = inspect.getattr_static(bot, name, None)
        if inspect.isfunction(method) and not _takes(method, ["self", *given.split(", ")]):
            is_called = f"but it is called as {name}(self, {given})"
            raise BotNotLoaded(f"bot {spec}: class {bot.__name__} has {name}{inspect.signature(method)}, {is_called}")
    if inspect.isfunction(bot.__init__) and not _takes(bot.__init__, ["self"]):
        is_made = "but a new object is made for each match, without arguments"
        raise BotNotLoaded(f"bot {spec}: class {bot.__name__} has __init__{inspect.signature(bot.__init__)}, {is_made}")


def _takes(method: Callable[..., Any], given: list[str]) -> bool:
    """Whether it can be called with so many, by place."""
    try:
        inspect.signature(method).bind(*given)
    except TypeError:
        return False
    return True


def _is_bot_of(module: ModuleType, value: object) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")


def _import_file(path: Path) -> tuple[ModuleType, BotModules]:
    """Run a bot's file as a module of its own.  Raises BotNotLoaded, which says why and at which line."""
    str(path).encode()  # raises UnicodeEncodeError for a name that is not in UTF-8, of which the command line tells
    try:
        return load_file(path)
    except (Exception, SystemExit) as problem:
        raise BotNotLoaded(f"bot {path} does not import: {where_it_failed(problem, str(path))}") from problem


def check_not_loading() -> None:
    """Check that no bot's file is being loaded: it defines the bot, and must not play yet.  Raises RuntimeError."""
    if is_loading():
        raise RuntimeError('run() is called wherever this file is loaded: put it below `if __name__ == "__main__":`')


def where_it_failed(problem: BaseException, file: str = "") -> str:
    """Format an exception in a line, with the last line of its trace in this file: "my_bot.py:7: KeyError: 3"."""
    if isinstance(problem, ProgramFailed):
        return str(problem)  # where in this SDK it was noticed is of no interest
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{problem.filename}:{problem.lineno}: SyntaxError: {problem.msg}"
    if isinstance(problem, RuntimeError) and isinstance(problem.__cause__, StopIteration):
        problem = problem.__cause__  # a `next` that found nothing, on its way through a generator
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if file and _same_file(frame.filename, file)] or frames
    at = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
    return at + _short(problem)


def where_a_bot_was(problem: BaseException) -> str:
    """Where in a bot's file that was, as the end of a line: " in my_bot.py:7"; empty if it was nowhere there."""
    at = ""
    for frame, line in traceback.walk_tb(problem.__traceback__):
        if is_of_a_bot(frame.f_globals.get("__file__")):
            at = f" in {frame.f_code.co_filename}:{line}"
    return at


def _same_file(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _short(problem: BaseException) -> str:
    """Format an exception in one line of at most 200 characters."""
    try:
        text = str(problem)
    except Exception:  # its class may be the bot's own
        text = "it cannot be shown"
    hint = _attribute_meant(problem) if isinstance(problem, AttributeError) else ""
    return " ".join(f"{type(problem).__name__}: {text}{hint}".rstrip(": ").split())[:200]


def _attribute_meant(problem: AttributeError) -> str:
    """Say what was perhaps meant by a name that an object of ours does not have, or what it has; else empty."""
    one, name = problem.obj, problem.name
    if not name or type(name) is not str or not str(type(one).__module__).startswith("cutpurse."):
        return ""
    if hasattr(getattr(type(one), "player_type", None), name):
        return f"; players have it, as view.me.{name}"
    if hasattr(type(getattr(one, "view", None)), name):
        return f"; the table has it, view.{name}"
    from difflib import get_close_matches

    names = [word for word in dir(one) if not word.startswith("_")]
    if close := get_close_matches(name, names, 1):
        return f"; did you mean {close[0]!r}?"
    return f"; it has: {', '.join(names)}"
