"""Commands that are loaded when they are named, or when all of them are told.

A process that runs a bot or a server loads nothing of what the other commands need. This module knows no command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_group

from cutpurse.sdk.errors import FAILED
from cutpurse.sdk.terminal import print_message

__all__ = ["LazyCommands", "LazyGroup"]


class LazyCommands(MutableMapping[str, Any]):
    """The commands of a group by name: those that are here, those of `places`, and those that others bring.

    What others bring is looked for when a name is neither here nor of `places`, or when all names are wanted: that
    reads the descriptions of all that is installed. A command that does not load costs a line on stderr, no more.
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
        """Raises KeyError for a command that there is not, or that does not load."""
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
        """Places by name, with those that others bring; ours count where both have one of a name."""
        for place in self._others():
            self._places.setdefault(place.name, place)
        self._others = tuple
        return self._places


def _loaded(place: EntryPoint) -> Any:
    try:
        brought = place.load()
    except Exception as error:  # whatever a stranger's module raises
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

    places: ClassVar[dict[str, str]] = {}  # by name: where it is, as an entry point says it; a typer app is a group

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        places = [EntryPoint(name, value, "") for name, value in self.places.items()]
        self.commands = LazyCommands(self.commands, places, self.others)

    @staticmethod
    def others() -> Iterable[EntryPoint]:
        """What others bring."""
        return ()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was named, as click has it; one that does not load was told of, and is not unknown."""
        if self.get_command(ctx, args[0]) is None and args[0] in self.list_commands(ctx):
            raise typer.Exit(FAILED)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in order; none is loaded for it."""
        return list(self.commands)
