"""Files of bots for tests, as an author would write them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CRASHES", "FIRST", "ILLEGAL", "LAST", "Array", "Broken", "bot_file"]


class Array:
    """An object that behaves like a numpy array with more than one number."""

    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of an array with more than one element is ambiguous")

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "array([[0],\n       [1]])"


class Broken(Exception):
    """An exception whose `str` and `repr` fail."""

    def __repr__(self) -> str:
        raise AttributeError("there is no name")

    __str__ = __repr__


FIRST = """
class Bot:
    def choose(self, view, decision):
        return decision.options[0]
"""
LAST = """
class Bot:
    def choose(self, view, decision):
        return decision.options[-1]
"""
CRASHES = """
class Bot:
    def choose(self, view, decision):
        if decision.ask == "play_a_card":
            raise KeyError("no plan")
        return 0
"""
ILLEGAL = """
class Bot:
    def choose(self, view, decision):
        print("talking")
        return len(decision.options)
"""


def bot_file(folder: Path, source: str, name: str = "my_bot.py") -> str:
    """Write a bot's file into a folder, and return its path for the command line."""
    path = folder / name
    path.write_text(source.lstrip(), encoding="utf-8")
    return str(path)
