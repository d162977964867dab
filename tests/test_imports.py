"""Who may import whom: the engine knows no clock, no network and no chance of its own; no part looks upwards."""

import ast
from collections.abc import Iterator

import pytest

from cutpurse.server.installed_parts import installed_parts
from tests.roots import CHECKOUT, modules

# Part of the namespace -> the parts it may import, besides itself. The longest name counts.
MAY_IMPORT: dict[str, set[str]] = {
    "engine": set(),
    "games": {"engine"},
    "v1": set(),
    "leaderboard": set(),
    "leaderboard.formats": set(),  # arithmetic alone, for local runs as well as for the server
    "leaderboard.statistics": set(),
    "wire": {"engine", "games", "v1"},
    "process": {"engine", "v1", "wire"},
    "check": {"engine", "games", "v1", "wire", "process"},
    "sdk": {"engine", "games", "leaderboard.statistics", "v1", "wire", "process", "check"},
    "lab": {
        "engine",
        "games",
        "leaderboard.formats",
        "leaderboard.statistics",
        "v1",
        "wire",
        "process",
        "sdk",
        "learn",
    },
    "cli": {
        "engine",
        "games",
        "leaderboard.formats",
        "leaderboard.statistics",
        "v1",
        "wire",
        "process",
        "check",
        "sdk",
        "lab",
        "learn",
        "llm",
    },
    "bots": {"engine", "games", "wire", "sdk", "learn"},
    "learn": {"engine", "games", "wire", "process", "sdk"},
    "llm": {"engine", "games", "wire", "sdk"},
    "server": {"engine", "games", "v1", "wire", "process", "check", "leaderboard"},
    "server.commands": {
        "engine",
        "games",
        "v1",
        "wire",
        "process",
        "check",
        "sdk",
        "leaderboard",
        "server",
        "cli",
        "page",
    },
    "page": {
        "engine",
        "games",
        "v1",
        "wire",
        "process",
        "sdk",
        "lab",
        "leaderboard.results",
        "leaderboard.statistics",
        "leaderboard.tokens",
    },
}

# Package of the server -> those it may import, besides itself and the modules beside them, which all may import.
SERVER_MAY_IMPORT: dict[str, set[str]] = {
    "matches": set(),
    "access": set(),
    "runners": set(),
    "streams": {"matches", "access"},
    "league": {"matches", "access"},
    "watching": {"matches", "access", "league"},
    "hosting": {
        "matches",
        "access",
        "streams",
        "league",
        "watching",
    },
    "parts": {
        "matches",
        "access",
        "runners",
        "streams",
        "league",
        "watching",
        "hosting",
    },  # and a part that it needs, see below
    "commands": {"access", "league", "hosting"},
}

PARTS = "cutpurse.server.parts"

# Time is handed in, chance is one stream, and what is sent or stored is someone else's business.
NO_WORLD = {
    "asyncio",
    "datetime",
    "google",
    "grpc",
    "os",
    "random",
    "secrets",
    "socket",
    "sqlite3",
    "threading",
    "time",
    "uuid",
}
MUST_NOT_IMPORT: dict[str, set[str]] = {
    "engine": NO_WORLD,
    "games": NO_WORLD,
    "server.matches": {"asyncio", "grpc", "socket", "threading", "time"},
}

# Generated code needs its own runtime and nothing else.
MAY_IMPORT_FROM_OUTSIDE: dict[str, set[str]] = {"v1": {"google", "grpc", "collections", "typing", "warnings"}}


def imported(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a module imports, at its top or within, relative imports resolved.

    `from a import b` counts as `a.b`, since b may be a module; so does `import_module("a.b")`.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=origin, names=names, level=level):
                parts = module.split(".")
                above = parts[: len(parts) + is_package - level] if level else []
                base = ".".join([*above, *([origin] if origin else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def is_within(module: str, part: str) -> bool:
    """Return whether a module is this part of the namespace, or in it."""
    return f"{module}.".startswith(f"cutpurse.{part}.")


def is_upwards(module: str, imported: str) -> bool:
    """Whether a module of the server imports a package above its own; to the modules beside the packages all are."""
    here, there = (package_of(name) for name in (module, imported))
    return there is not None and there != here and (here is None or there not in SERVER_MAY_IMPORT[here])


def package_of(module: str) -> str | None:
    """The room of the server in which a module is, None for those beside the rooms and for all other parts."""
    parts = module.split(".")
    return (
        parts[2] if parts[:2] == ["cutpurse", "server"] and len(parts) > 2 and parts[2] in SERVER_MAY_IMPORT else None
    )


def forbidden(source: str, module: str, is_package: bool = False) -> list[str]:
    """The imports that the module of this name may not make, as `line N: NAME`, in the order of the lines."""
    part = max((part for part in MAY_IMPORT if is_within(module, part)), key=len)
    if module.startswith(f"{PARTS}.") and module.endswith(".command"):
        part = "server.commands"  # the command of a part knows what other commands know
    faults = []
    for line, name in sorted(imported(source, module, is_package)):
        top = name.partition(".")[0]
        if top == "cutpurse":
            allowed = any(is_within(name, other) for other in MAY_IMPORT[part] | {part}) and not is_upwards(
                module, name
            )
        elif part in MAY_IMPORT_FROM_OUTSIDE:
            allowed = top in MAY_IMPORT_FROM_OUTSIDE[part]
        else:
            allowed = not any(top in kept_out for part, kept_out in MUST_NOT_IMPORT.items() if is_within(module, part))
        if not allowed:
            faults.append(f"line {line}: {name}")
    return faults


def test_no_module_imports_what_it_must_not_know() -> None:
    faults = {
        module.name: forbidden(module.file.read_text(encoding="utf-8"), module.name, module.is_package)
        for module in modules()
    }
    assert {"cutpurse.engine", "cutpurse.games", "cutpurse.sdk", "cutpurse.bots"} <= faults.keys()
    assert {name: lines for name, lines in faults.items() if lines} == {}


def test_one_module_reads_toml() -> None:
    """What the reader refuses in one line, Python's own raises as RecursionError and others, or reads for seconds."""
    folders = [folder for folder in CHECKOUT.iterdir() if folder.is_dir() and not folder.name.startswith(".")]
    texts = {file: file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.py")}
    texts = {file: text for file, text in texts.items() if "tomllib" in text}
    readers = [file for file, text in texts.items() if any(name == "tomllib" for _, name in imported(text, "", False))]
    assert readers == [CHECKOUT / "sdk/cutpurse/wire/toml_file.py"]


def test_a_part_imports_another_only_if_it_needs_it() -> None:
    needs = {kind.name: {kind.name, *kind.needs} for kind in installed_parts().kinds}
    found = {module.name.split(".")[3]: set[str]() for module in modules() if module.name.startswith(f"{PARTS}.")}
    assert found.keys() == needs.keys(), "each folder is a part that is installed"
    for module in modules():
        if module.name.startswith(f"{PARTS}."):
            others = imported(module.file.read_text(encoding="utf-8"), module.name, module.is_package)
            found[module.name.split(".")[3]] |= {
                name.split(".")[3] for _, name in others if name.startswith(f"{PARTS}.")
            }
    assert {name: others - needs[name] for name, others in found.items()} == {name: set() for name in found}


def test_every_package_of_the_server_is_in_the_table() -> None:
    names = [module.name.split(".") for module in modules() if module.is_package]
    assert SERVER_MAY_IMPORT.keys() == {parts[2] for parts in names if parts[1] == "server" and len(parts) == 3}


@pytest.mark.parametrize(
    ("module", "planted", "found"),
    [
        ("cutpurse.engine.match", "import time", ["line 1: time"]),
        ("cutpurse.engine.match", "import math\nimport os.path as p", ["line 2: os.path"]),
        ("cutpurse.engine.zones", "from ..games import lazy_registry", ["line 1: cutpurse.games.lazy_registry"]),
        ("cutpurse.games.greed.rules", "def f():\n    import random", ["line 2: random"]),
        ("cutpurse.cli.main", "importlib.import_module('cutpurse.server')", ["line 1: cutpurse.server"]),
        ("cutpurse.server.matches.lobby", "import asyncio", ["line 1: asyncio"]),
        (
            "cutpurse.server.matches.server_match",
            "from cutpurse.server import streams",
            ["line 1: cutpurse.server.streams"],
        ),
        ("cutpurse.server.errors", "import cutpurse.server.access.owners", ["line 1: cutpurse.server.access.owners"]),
        *(
            (
                f"cutpurse.server.{core}",
                "import cutpurse.server.parts.notices",
                ["line 1: cutpurse.server.parts.notices"],
            )
            for core in ("hosting.arena", "commands.serve", "installed_parts")
        ),
        ("cutpurse.v1.game_pb2", "import numpy\nimport google.protobuf", ["line 1: numpy"]),
    ],
)
def test_a_planted_import_is_found(module: str, planted: str, found: list[str]) -> None:
    assert forbidden(planted, module) == found


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("cutpurse.engine.chance", "import hashlib\nfrom cutpurse.engine.zones import Zone"),
        ("cutpurse.engine.match", "from . import zones\nfrom .zones import Zone"),
        ("cutpurse.games.greed.rules", "from cutpurse.engine.agenda import Choice"),
        ("cutpurse.sdk.local", "import time\nfrom cutpurse.games import GAMES"),
        ("cutpurse.server.wire", "from cutpurse.v1 import game_pb2"),
        ("cutpurse.server.streams.link", "from cutpurse.server.matches.server_match import SeatAt"),
        (
            "cutpurse.server.matches.lobby",
            "import cutpurse.server.matches.server_match\nimport cutpurse.server.errors",
        ),
        ("cutpurse.v1.game_pb2_grpc", "import grpc\nfrom cutpurse.v1 import game_pb2"),
    ],
)
def test_what_is_allowed_is_not_found(module: str, planted: str) -> None:
    assert forbidden(planted, module) == []


def test_a_relative_import_of_a_package_is_resolved_from_the_package_itself() -> None:
    assert list(imported("from .cards import Card", "cutpurse.games.greed", is_package=True)) == [
        (1, "cutpurse.games.greed.cards.Card")
    ]
