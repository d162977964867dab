"""Groups of commands that import a command's module only when it is used or listed.

A process that runs a bot or a server imports nothing that only other commands need. This module knows no command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_group

from cutpurse.process.terminal import print_message
from cutpurse.wire.errors import FAILED

__all__ = ["LazyCommands", "LazyGroup"]


class LazyCommands(MutableMapping[str, Any]):
    """The commands of a group by name: its own, those of `places`, and those of other distributions.

    Other distributions are searched for unknown names, and when all names are listed, which reads the metadata of all
    installed packages. A command that fails to load only prints a line on stderr.
    """

    def __init__(
        self,
        here: MutableMapping[str, Any],
        places: Iterable[EntryPoint],
        others: Callable[[], Iterable[EntryPoint]] = tuple,
    ) -> None:
        self._here = here
        self._places = {place.name: place for place in places}
        self._others = others

    def __getitem__(self, name: str) -> Any:
        """Return a command, and load it if necessary.  Raises KeyError if it is unknown or fails to load."""
        if name not in self._here:
            place = self._places.get(name) or self._all()[name]
            self._here[name] = _loaded(place)
        return self._here[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._here[name] = command

    def __delitem__(self, name: str) -> None:
        del self._here[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._here, *self._all()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _all(self) -> dict[str, EntryPoint]:
        """Return all entry points by name; ours win over others with the same name."""
        for place in self._others():
            self._places.setdefault(place.name, place)
        self._others = tuple
        return self._places


def _loaded(place: EntryPoint) -> Any:
    try:
        brought = place.load()
    except Exception as error:  # foreign modules may raise anything
        print_message(
            f"cutpurse: the commands {place.name!r} ({place.value}) do not load: {type(error).__name__}: {error}"
        )
        raise KeyError(place.name) from error
    around = typer.Typer(rich_markup_mode=None)
    if isinstance(brought, typer.Typer):
        around.add_typer(brought, name=place.name)
    else:
        around.command(place.name)(brought)
    return get_group(around).commands[place.name]


class LazyGroup(TyperGroup):
    """A group whose commands are in modules of their own."""

    places: ClassVar[dict[str, str]] = {}  # by name, as an entry point's value; a typer app is a group

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        places = [EntryPoint(name, value, "") for name, value in self.places.items()]
        self.commands = LazyCommands(self.commands, places, self.others)

    @staticmethod
    def others() -> Iterable[EntryPoint]:
        """Return the commands of other distributions."""
        return ()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command as click does; exit for a command whose load error was already printed."""
        if self.get_command(ctx, args[0]) is None and args[0] in self.list_commands(ctx):
            raise typer.Exit(FAILED)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in order, without loading a command."""
        return list(self.commands)
