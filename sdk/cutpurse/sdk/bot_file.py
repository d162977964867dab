"""A bot's Python file as a module, together with the modules that lie beside it.

Every loaded bot has modules of its own: two versions of a bot, each with its own `helper.py`, do not share it. One bot
is active at a time. Its modules stand in `sys.modules` under their own names and its folder stands on `sys.path`, so a
method may import a helper, and a process that the bot starts finds the bot's module and its helpers again, whether it
was forked or spawned. This module knows no bot class, no match and no game.
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
        """Tell whether the loaded module `name` lies in the folder, as a file or inside a package.

        Modules that Python or Cutpurse could import themselves are never owned: they must stay for everybody.
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
    """Make this bot's modules the importable ones. None, for a bot without a file, changes nothing.

    Costs nothing while the same bot stays active, and two or three microseconds when bots of two files take turns.
    """
    global _active, _count  # the state of `sys.modules` is global
    if modules is None or modules is _active:
        return
    _deactivate()
    sys.path.append(modules.folder)  # last: a bot's `statistics.py` is nobody else's
    sys.modules.update(modules.modules)
    _active, _count = modules, len(sys.modules)


def load_file(path: Path) -> tuple[ModuleType, BotModules]:
    """Execute a bot's file as a new module, and leave it active. What it raises goes through."""
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
    sys.path.insert(0, folder)  # first: at the top of its file a bot prefers what lies beside it
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
    """Tell whether a bot's file is being executed."""
    return bool(_loading)


def is_of_a_bot(file: object) -> bool:
    """Tell whether code of this file, as a module's `__file__` names it, is that of a loaded bot."""
    return file in _files


def _module_name(path: Path) -> str:
    """Name the module after its file, so that other processes can import it, unless that name is taken."""
    name = path.stem
    if name.isidentifier() and not keyword.iskeyword(name) and name not in sys.modules:
        found = importlib.util.find_spec(name)
        if found is None or found.origin == str(path.resolve()):
            return name
    return f"_bot_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}_{name}"


def _deactivate() -> None:
    """Take the active bot's modules out of `sys.modules`, and its folder off `sys.path`."""
    global _active  # noqa: PLW0603
    if _active is None:
        return
    if len(sys.modules) != _count:
        _collect(_active)
    for name in _active.modules:
        sys.modules.pop(name, None)
    if _active.folder in sys.path:
        sys.path.reverse()
        sys.path.remove(_active.folder)  # the last one: the folder may stand there for other reasons too
        sys.path.reverse()
    _active = None


def _collect(modules: BotModules) -> None:
    """Note the modules that the bot has imported from its folder."""
    modules.modules.update({name: module for name, module in list(sys.modules.items()) if modules.owns(name)})
