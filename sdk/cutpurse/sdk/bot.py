"""The bot protocol, and how to load a bot: a built-in name, a Python file, or a program that connects by itself.

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
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol

from cutpurse.engine.errors import UsageError, did_you_mean
from cutpurse.sdk.bot_file import BotModules, is_loading, is_of_a_bot, load_file
from cutpurse.sdk.decision import Decision, Option
from cutpurse.wire.errors import BotNotLoaded, NotFound, ProgramFailed

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
CLASS: Final = "Bot"  # the class that a file is searched for by default
METHODS: Final = {"choose": "view, decision", "start": "match", "event": "event", "end": "result"}  # and parameters


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """The facts about a match that a bot gets before its first decision."""

    game: str  # name of the game
    seat: int  # your seat, counted from 0
    seats: tuple[str, ...]  # bot names by seat
    settings: Mapping[str, str]  # settings that differ from their defaults, as text
    chance: random.Random  # for the bot's own use; a run with the same seed repeats exactly
    match: str = ""  # match ID on the server; empty in local play


class Bot(Protocol):
    """Any class with a method `choose`. Each match gets a new object, made without arguments.

    Three more methods are optional. `start(match: MatchInfo)` is called before the first decision. `event(event:
    SeenEvent)` is called for every event, before the decision it led to and at the end. `end(result: MatchResult)` is
    called when the match is over. Each method may be `async def`. An exception in any of them is a fault.

    A class with `reads_knowledge = False` gets no known hidden cards where a learner trains, which makes that quicker.
    A class with `reads_events = False` and no method `event` has no `view.events`, and servers need not send the
    events.

    A server also asks when there is only one option. The bot is then not called. Such answers take as long as real
    ones, and some real ones wait, so that time does not tell who had a choice. With `hides_time = False` nothing waits:
    set it in a class that always answers within the server's `poll_floor_ms` (25).
    """

    def choose(self, view: Any, decision: Decision) -> Option | int:
        """Return one of the decision's options, or its index. `view` is the game's own view, such as `GreedView`."""
        # Any: a bot may annotate the parameter with its game's view and still satisfy the protocol.


@dataclass(frozen=True)
class BotMaker:
    """A bot's name, as the user wrote it, and `make`, which creates a new bot. Other processes can receive it."""

    name: str
    make: Callable[[], Any]
    file: str = ""  # path of the code, for messages
    spec: str = ""  # for `load_bot`, if the bot can be loaded again
    modules: BotModules | None = None  # of a bot in a file; must be active while the bot's code runs

    def __reduce__(self) -> tuple[Any, ...]:
        if self.spec:
            return load_bot, (self.spec,)
        return BotMaker, (self.name, self.make, self.file)

    def __deepcopy__(self, memo: dict[int, Any]) -> BotMaker:
        """Return the same maker: nothing in it changes, and a file need not be loaded again."""
        return self


def bot_chance(key: bytes, seat: int) -> random.Random:
    """Create a bot's random generator for the match with this key. It reveals nothing about the cards."""
    return random.Random(sha256(b"cutpurse/bot/%d/" % seat + key).digest())


def built_in_bots() -> dict[str, str]:
    """Return the installed bots by name, each with its location ("module:Class")."""
    from importlib.metadata import entry_points  # a bot in a file does without

    return {point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def load_bot(spec: str) -> BotMaker:
    """Load a bot by name.

    Args:
        spec: A built-in name, a file `my_bot.py` (its class Bot), `my_bot.py:MyBot`, `exec:COMMAND`, or a published
            version that was fetched, `ann/sneak:3`.

    Raises:
        UsageError: If no bot has this name.
        NotFound: If the file does not exist.
        BotNotLoaded: If the file cannot be imported, has no such class or one without `choose`, or the command cannot
            run.
    """
    if spec.startswith(PROGRAM):
        from cutpurse.process.program_command import command_of  # needs gRPC's messages
        from cutpurse.sdk.program import ProgramBot

        command_of(spec)
        return BotMaker(spec, partial(ProgramBot, spec), "", spec)
    if "/" in spec and ":" in spec:
        from cutpurse.wire.published_bots import is_published, load_published  # few bots need it

        if is_published(spec):
            maker = load_bot(load_published(spec).spec)
            return replace(maker, name=spec, spec=maker.spec if maker.spec.startswith(PROGRAM) else spec)
    path, name = _split(spec)
    if path is None:
        return _built_in(spec)
    if not path.is_file():
        raise NotFound(_meant(path) or f"no bot file {path}: it does not exist")
    module, modules = _import_file(path)
    bot = getattr(module, name, None)
    if not isinstance(bot, type) or bot is Bot:  # the protocol itself, imported for annotations
        classes = [key for key, value in vars(module).items() if _is_bot_of(module, value)]
        hint = f"; it has: {', '.join(f'{path}:{name_in_file}' for name_in_file in classes)}" if classes else ""
        raise BotNotLoaded(f"bot {spec}: {path} has no class {name}{hint}")
    _check_class(spec, bot)
    return BotMaker(spec, bot, str(path), spec, modules)


def bot_makers(bots: Iterable[str | Callable[[], Any] | BotMaker]) -> list[BotMaker]:
    """Convert bots given by name, file or class to makers.

    Raises:
        UsageError: As `load_bot` does, and for values that are no bots.
    """
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
    """Check that this value makes bots.  Raises BotNotLoaded otherwise."""
    if isinstance(bot, type):
        _check_class(bot.__name__, bot)
    elif not callable(bot):
        hint = f"; hand in the class, {type(bot).__name__}" if hasattr(bot, "choose") else ""
        raise BotNotLoaded(
            f"bot {bot!r:.100} is no name, no file and nothing that makes a new bot for each match{hint}"
        )


def _split(spec: str) -> tuple[Path | None, str]:
    """Return the file and class that `spec` names; the file is None for a built-in name."""
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
    """Describe what exists in place of a bot's file, and suggest another path; empty if nothing is found."""
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
    """Return whether the method accepts these positional arguments."""
    try:
        inspect.signature(method).bind(*given)
    except TypeError:
        return False
    return True


def _is_bot_of(module: ModuleType, value: object) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")


def _import_file(path: Path) -> tuple[ModuleType, BotModules]:
    """Run a bot's file as a module of its own.  Raises BotNotLoaded with the reason and the line."""
    str(path).encode()  # raises UnicodeEncodeError for a name outside UTF-8; the command line reports it
    try:
        return load_file(path)
    except (Exception, SystemExit) as problem:
        raise BotNotLoaded(f"bot {path} does not import: {where_it_failed(problem, str(path))}") from problem


def check_not_loading() -> None:
    """Check that no bot's file is being loaded, since such a file must not start playing.  Raises RuntimeError."""
    if is_loading():
        raise RuntimeError('run() is called wherever this file is loaded: put it below `if __name__ == "__main__":`')


def where_it_failed(problem: BaseException, file: str = "") -> str:
    """Format an exception in one line, with its last line in `file`: "my_bot.py:7: KeyError: 3"."""
    if isinstance(problem, ProgramFailed):
        return str(problem)  # a line of this SDK would not help the author
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{problem.filename}:{problem.lineno}: SyntaxError: {problem.msg}"
    if isinstance(problem, RuntimeError) and isinstance(problem.__cause__, StopIteration):
        problem = problem.__cause__  # a `next` without a default, raised through a generator
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if file and _same_file(frame.filename, file)] or frames
    at = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
    return at + _short(problem)


def where_a_bot_was(problem: BaseException) -> str:
    """Return the last line of a bot's file in the traceback, as " in my_bot.py:7"; empty if there is none."""
    at = ""
    for frame, line in traceback.walk_tb(problem.__traceback__):
        if is_of_a_bot(frame.f_globals.get("__file__")):
            at = f" in {frame.f_code.co_filename}:{line}"
    return at


def _same_file(first: str, other: str) -> bool:
    return Path(first).resolve() == Path(other).resolve()


def _short(problem: BaseException) -> str:
    """Format an exception in one line of at most 200 characters."""
    try:
        text = str(problem)
    except Exception:  # its class may be the bot's own
        text = "it cannot be shown"
    hint = _attribute_meant(problem) if isinstance(problem, AttributeError) else ""
    return " ".join(f"{type(problem).__name__}: {text}{hint}".rstrip(": ").split())[:200]


def _attribute_meant(problem: AttributeError) -> str:
    """Suggest an attribute of our object for a wrong name, or list its attributes; empty for other objects."""
    owner, name = problem.obj, problem.name
    if not name or type(name) is not str or not str(type(owner).__module__).startswith("cutpurse."):
        return ""
    if hasattr(getattr(type(owner), "player_type", None), name):
        return f"; players have it, as view.me.{name}"
    if hasattr(type(getattr(owner, "view", None)), name):
        return f"; the table has it, view.{name}"
    from difflib import get_close_matches

    names = [word for word in dir(owner) if not word.startswith("_")]
    if close := get_close_matches(name, names, 1):
        return f"; did you mean {close[0]!r}?"
    return f"; it has: {', '.join(names)}"
