"""A bot's Python file as a module, together with the modules in the same folder.

Each loaded bot has its own modules: two versions of a bot, each with its own `helper.py`, do not share it. One bot is
active at a time: its modules are in `sys.modules` under their own names, and its folder is on `sys.path`. So a method
can import a helper. Processes that the bot forks or spawns find the same modules. This module knows no bot class, no
match and no game.
"""

from __future__ import annotations

import importlib.util
import keyword
import linecache
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Final

__all__ = ["BotModules", "activate", "is_loading", "is_of_a_bot", "load_file"]

_loading: Final[list[str]] = []  # files that are being executed
_files: Final[set[str]] = set()  # files that were loaded


class BotModules:
    """The modules of one loaded bot.

    Attributes:
        folder: Absolute path of the folder that holds the bot's file.
        modules: By name, the bot's module and those that it imported from its folder. Up to date while inactive.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.modules: dict[str, ModuleType] = {}

    def owns(self, name: str) -> bool:
        """Return whether the loaded module `name` lies in the folder, as a file or inside a package.

        Modules that Python or Cutpurse could import themselves are never owned, since all bots share them.
        """
        top = name.partition(".")[0]
        package = sys.modules.get(top)
        if package is None or top in sys.stdlib_module_names or top in ("cutpurse", "__main__", "__mp_main__"):
            return False
        places = [package.__file__] if getattr(package, "__file__", None) else getattr(package, "__path__", ())
        for place in places:
            path = Path(str(place))
            if str((path.parent if path.name == "__init__.py" else path).parent) == self.folder:
                return True
        return False


_active: BotModules | None = None
_count = 0  # of `sys.modules`, when the active bot's modules were last known to be complete


def activate(modules: BotModules | None) -> None:
    """Make this bot's modules importable. None, for a bot without a file, changes nothing.

    Costs nothing while the same bot stays active, and two or three microseconds when bots of two files take turns.
    """
    global _active, _count  # the state of `sys.modules` is global
    if modules is None or modules is _active:
        return
    _deactivate()
    sys.path.append(modules.folder)  # last, so that a bot's `statistics.py` does not replace the standard one
    sys.modules.update(modules.modules)
    _active, _count = modules, len(sys.modules)


def load_file(path: Path) -> tuple[ModuleType, BotModules]:
    """Execute a bot's file as a new module and leave it active. Exceptions of the file pass through."""
    global _count  # noqa: PLW0603
    folder = str(path.resolve().parent)
    before = _active
    _deactivate()
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    linecache.checkcache(str(path))
    modules = BotModules(folder)
    activate(modules)
    sys.path.insert(0, folder)  # first, so that a bot's own imports prefer its folder
    sys.modules[name] = module
    _loading.append(name)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        _deactivate()
        activate(before)
        raise
    finally:
        _loading.remove(name)
        sys.path.remove(folder)
    _collect(modules)
    _count = len(sys.modules)
    _files.add(str(module.__file__))
    return module, modules


def is_loading() -> bool:
    """Return whether a bot's file is being executed."""
    return bool(_loading)


def is_of_a_bot(file: object) -> bool:
    """Return whether `file`, a module's `__file__`, belongs to a loaded bot."""
    return file in _files


def _module_name(path: Path) -> str:
    """Return the file's stem, so that other processes can import it, or a unique name if the stem is taken."""
    name = path.stem
    if name.isidentifier() and not keyword.iskeyword(name) and name not in sys.modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin == str(path.resolve()):
            return name
    return f"_bot_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}_{name}"


def _deactivate() -> None:
    """Remove the active bot's modules from `sys.modules` and its folder from `sys.path`."""
    global _active  # noqa: PLW0603
    if _active is None:
        return
    if len(sys.modules) != _count:
        _collect(_active)
    for name in _active.modules:
        sys.modules.pop(name, None)
    if _active.folder in sys.path:
        sys.path.reverse()
        sys.path.remove(_active.folder)  # the last entry: the folder may be there for other reasons too
        sys.path.reverse()
    _active = None


def _collect(modules: BotModules) -> None:
    """Store the modules that the bot has imported from its folder."""
    modules.modules.update({name: module for name, module in list(sys.modules.items()) if modules.owns(name)})
