"""Things by name, each imported when it is first asked for: a bot of one game need not wait for the rules of all.

Which names there are is known without importing anything. This module knows no game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TypeVar

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """A mapping of names to what is in modules, in the order in which it was named."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Register things by name; `places` says where each is, as "module:Class"."""
        self._places = {**places}
        self._found: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the entry of this name, imported.  Raises KeyError if there is none."""
        entry = self._found.get(name)
        if entry is None:
            module, _, attribute = self._places[name].partition(":")
            entry = self._found[name] = getattr(import_module(module), attribute)
        return entry

    def loaded(self) -> list[tuple[str, T]]:
        """List what was imported so far, with its name."""
        return [*self._found.items()]

    def __setitem__(self, name: str, entry: T) -> None:
        self._places.setdefault(name, "")
        self._found[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._found.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
