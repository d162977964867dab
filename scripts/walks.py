"""The walks of docs/explanation/architecture.md: through which functions and modules a thing passes in the code.

Usage: python -m scripts.walks

A walk is a heading with the numbered steps under it; each step begins with the dotted name of a function. Prints for
each walk how many functions, modules and lines of code one reads to follow it.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.size import code_lines

__all__ = ["PAGE", "Walk", "main", "read_walks"]

PAGE: Final = Path(__file__).resolve().parent.parent / "docs/explanation/architecture.md"
HEADING: Final = re.compile(r"^### (.+): (\d+) modules$")
STEP: Final = re.compile(r"^\d+\. `([\w.]+):([\w.]+)`")


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk as the page has it.

    Attributes:
        name: Its heading.
        modules_said: The number of modules that the heading says.
        steps: Module and function of each step.
    """

    name: str
    modules_said: int
    steps: list[tuple[str, str]]

    @property
    def modules(self) -> int:
        """The number of modules that the steps are in."""
        return len({module for module, _ in self.steps})

    def code_lines(self) -> int:
        """Count the lines of code of its functions.  Raises ImportError or AttributeError if one is not there."""
        functions = {f"{module}:{function}" for module, function in self.steps}
        return sum(
            code_lines(textwrap.dedent(inspect.getsource(pkgutil.resolve_name(name)))) for name in sorted(functions)
        )


def read_walks(text: str) -> Iterator[Walk]:
    """Return the walks of a page."""
    walk: Walk | None = None
    for line in text.splitlines():
        if line.startswith("#"):
            if walk is not None:
                yield walk
            heading = HEADING.match(line)
            walk = Walk(heading[1], int(heading[2]), []) if heading else None
        elif walk is not None and (step := STEP.match(line)):
            walk.steps.append((step[1], step[2]))
    if walk is not None:
        yield walk


def main() -> None:
    """Print a line for each walk."""
    for walk in read_walks(PAGE.read_text(encoding="utf-8")):
        lines = walk.code_lines()
        print(f"{walk.name:50} {len(walk.steps):3} steps {walk.modules:3} modules {lines:5} lines of code")


if __name__ == "__main__":
    main()
