"""The namespace holds together: several roots, one `cutpurse`, and every `__all__` true."""

import ast
import importlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cutpurse.wire.toml_file import read_toml
from tests.builds import needs_pure
from tests.roots import CHECKOUT, modules, roots

# torch is an extra that not every developer has
TORCH = {"cutpurse.lab.training.ppo", "cutpurse.lab.training.run", "cutpurse.lab.exploit.net_response"}
PUBLIC_MODULES = [
    module for module in modules() if module.is_public and (find_spec("torch") or module.name not in TORCH)
]

# Imports each module named on the command line in turn, and reports what an import must not do.
WATCHED_IMPORT = """
import importlib, sys, threading
import gymnasium, numpy, pettingzoo, pyarrow  # they set variables for libraries of theirs
import contextlib
with contextlib.suppress(ModuleNotFoundError):
    import torch
told = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        told.append(f"opened {arguments[0]} to write")
    elif event.split(".")[0] in ("socket", "subprocess", "shutil") or event in ("os.mkdir", "os.remove", "os.putenv"):
        told.append(event)
sys.addaudithook(watch)
for name in sys.argv[1:]:
    importlib.import_module(name)
    for line in told:
        print(f"{name}: {line}")
    told.clear()
print(f"{threading.active_count()} thread")
"""


def names_are_true(name: str) -> list[str]:
    """What is wrong with the `__all__` of the module of that name, a line a fault."""
    module = importlib.import_module(name)
    listed: list[str] = list(getattr(module, "__all__", []))
    return [
        *(f"{name}.__all__ names {entry} twice" for entry in sorted(set(listed)) if listed.count(entry) > 1),
        *(f"{name}.__all__ names {entry}, which does not exist" for entry in listed if not hasattr(module, entry)),
    ]


def says_what_is_public(source: str) -> bool:
    """Whether a module that defines a public class or function also has an `__all__`."""
    defines = has_all = False
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defines |= not statement.name.startswith("_")
        elif isinstance(statement, ast.Assign):
            has_all |= any(isinstance(target, ast.Name) and target.id == "__all__" for target in statement.targets)
        elif isinstance(statement, ast.AnnAssign):
            has_all |= isinstance(statement.target, ast.Name) and statement.target.id == "__all__"
    return has_all or not defines


def test_no_root_hides_the_others_with_an_init_file() -> None:
    assert roots(), "no root found: is this a checkout?"
    assert [str(root) for root in roots() if (root / "cutpurse" / "__init__.py").exists()] == []


def test_every_root_is_named_for_the_editable_install_the_wheel_and_the_types() -> None:
    tool = read_toml(CHECKOUT / "pyproject.toml", "no project")["tool"]
    names = {root.name for root in roots()}
    build = tool["hatch"]["build"]
    assert set(build["dev-mode-dirs"]) == names
    packages = build["targets"]["wheel"]["packages"]
    assert {folder for folder in packages if folder.endswith("/cutpurse")} == {f"{name}/cutpurse" for name in names}
    assert set(tool["mypy"]["mypy_path"]) == names


def test_every_part_of_the_namespace_is_marked_as_typed() -> None:
    parts = [part for root in roots() for part in (root / "cutpurse").iterdir() if part.name != "__pycache__"]
    assert parts
    assert [str(part) for part in parts if not (part / "py.typed").exists()] == []


@needs_pure
def test_all_parts_are_imported_from_this_checkout() -> None:
    for module in PUBLIC_MODULES:
        assert importlib.import_module(module.name).__file__ == str(module.file)


def test_the_public_names_are_listed_and_exist() -> None:
    assert [line for module in PUBLIC_MODULES for line in names_are_true(module.name)] == []
    sources = {module.name: module.file.read_text(encoding="utf-8") for module in PUBLIC_MODULES}
    assert [f"{name} has no __all__" for name, source in sources.items() if not says_what_is_public(source)] == []


def test_a_false_list_of_names_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "planted_module.py").write_text(
        "__all__ = ['deal', 'deal', 'gone']\ndef deal() -> None: ...\n", encoding="utf-8"
    )
    assert names_are_true("planted_module") == [
        "planted_module.__all__ names deal twice",
        "planted_module.__all__ names gone, which does not exist",
    ]
    assert not says_what_is_public("def deal(): ...")


def test_an_import_does_nothing_but_import() -> None:
    names = [module.name for module in PUBLIC_MODULES]
    for_grpc = {"GRPC_VERBOSITY": "NONE", "GRPC_ENABLE_FORK_SUPPORT": "0"}  # else set before gRPC is imported
    run = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", WATCHED_IMPORT, *names],
        env={**os.environ, **for_grpc},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("1 thread\n", "")
