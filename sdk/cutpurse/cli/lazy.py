"""Groups of commands that import a command's module only when it is used or listed.

A process that runs a bot or a server imports nothing that only other commands need. This module knows no command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cutpurse.cli.single_options import SingleOptionsCommand
from cutpurse.engine.errors import UsageError
from cutpurse.process.signals import command_begins
from cutpurse.process.terminal import print_message
from cutpurse.wire.errors import FAILED

__all__ = ["LazyCommands", "LazyGroup", "group_with_former"]

MAX_SUMMARY: Final = 200  # characters; whole sentences are shorter


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
        for info in brought.registered_commands:
            info.cls = SingleOptionsCommand
        around.add_typer(brought, name=place.name)
    else:
        around.command(place.name, cls=SingleOptionsCommand)(brought)
    return get_group(around).commands[place.name]


class LazyGroup(TyperGroup):
    """A group whose commands are in modules of their own.

    Its help and its completion load no command that one of the panels describes.
    """

    places: ClassVar[dict[str, str]] = {}  # by name, as an entry point's value; a typer app is a group
    moved: ClassVar[Mapping[str, str]] = {}  # former names of commands, and the words that replace each
    panels: ClassVar[Mapping[str, Mapping[str, str]]] = {}  # what commands do, by name, under the title of each panel

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._summaries = {name: text for panel in self.panels.values() for name, text in panel.items()}
        self._is_describing = False
        places = [EntryPoint(name, value, "") for name, value in self.places.items()]
        self.commands = LazyCommands(self.commands, places, self.others)

    @staticmethod
    def others() -> Iterable[EntryPoint]:
        """Return the commands of other distributions."""
        return ()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command as click does; exit for a command whose load error was already printed.

        Raises:
            UsageError: If the command has another name now.
        """
        if args[0] in self.moved:
            raise UsageError(f"there is no command {args[0]!r} any more: it is `cutpurse {self.moved[args[0]]}`")
        if self.get_command(ctx, args[0]) is None and args[0] in self.list_commands(ctx):
            raise typer.Exit(FAILED)
        name, command, rest = super().resolve_command(ctx, args)
        if not isinstance(command, LazyGroup):  # its module is imported now
            command_begins()
        return name, command, rest

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in order, without loading a command."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; while commands are described, one that only has its summary, if there is one."""
        if self._is_describing and cmd_name in self._summaries:
            return TyperCommand(cmd_name, help=self._summaries[cmd_name])
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command or option, with what it does."""
        with self._describing():
            return super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each panel, then the others, each with a whole sentence."""
        names = self.list_commands(ctx)
        panels = {title: [name for name in panel if name in names] for title, panel in self.panels.items()}
        others = [name for name in names if name not in self._summaries]
        with self._describing():
            for title, members in (*panels.items(), ("More" if panels else "Commands", others)):
                commands = [(name, self.get_command(ctx, name)) for name in members]
                rows = [(name, command.get_short_help_str(MAX_SUMMARY)) for name, command in commands if command]
                if rows:
                    with formatter.section(title):
                        formatter.write_dl(rows)

    @contextmanager
    def _describing(self) -> Iterator[None]:
        self._is_describing = True
        try:
            yield
        finally:
            self._is_describing = False


def group_with_former(moved: Mapping[str, str]) -> type[LazyGroup]:
    """Return the class of a group that answers to the former names of its commands, as `LazyGroup.moved`."""
    return type("GroupWithFormer", (LazyGroup,), {"moved": moved})
