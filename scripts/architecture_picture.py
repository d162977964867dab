"""The script that draws docs/pictures/architecture.svg: the packages, and which may import which.

    python -m scripts.architecture_picture

The rules are those of `tests/test_imports.py`, and the words those of the packages' docstrings. A test compares the
picture with both.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from scripts.layered_drawing import Panel, draw, reduced
from tests.roots import CHECKOUT, roots
from tests.test_imports import MAY_IMPORT, SERVER_MAY_IMPORT

__all__ = ["PACKAGES", "PICTURE", "picture"]

PICTURE: Final = CHECKOUT / "docs" / "pictures" / "architecture.svg"
_GENERATED: Final = {"v1": "Messages and services, made from the .proto files"}  # without a docstring
# The table of packages, where a single module (`leaderboard.tokens`) counts as its package.
PACKAGES: Final = {
    name: {other if other in MAY_IMPORT else other.rpartition(".")[0] for other in others}
    for name, others in MAY_IMPORT.items()
}


def picture() -> str:
    """Return the picture as SVG."""
    panels = (
        Panel(
            "The packages of cutpurse: an arrow means that one may import the other",
            _texts(MAY_IMPORT),
            reduced(PACKAGES),
        ),
        Panel("The packages of cutpurse.server", _texts(SERVER_MAY_IMPORT, "server."), reduced(SERVER_MAY_IMPORT)),
    )
    return draw(panels, "The packages of Cutpurse, and which may import which")


def _texts(names: Mapping[str, object], within: str = "") -> dict[str, str]:
    return {name: _GENERATED.get(name) or _purpose(f"{within}{name}".replace(".", "/")) for name in names}


def _purpose(package: str) -> str:
    """Return the beginning of a package's docstring: up to the first stop, without a title before a colon."""
    (file,) = [path for root in roots() if (path := root / "cutpurse" / package / "__init__.py").is_file()]
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    sentence = docstring.split("\n\n")[0].replace("\n", " ").split(". ")[0].split("; ")[0].rstrip(".")
    title, colon, rest = sentence.partition(": ")
    text = rest if colon and len(title.split()) <= 2 else title
    return text[0].upper() + text[1:]


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
