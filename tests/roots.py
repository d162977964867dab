"""The roots of the namespace `cutpurse`, and the modules in them, found on disk without importing any."""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["CHECKOUT", "Module", "modules", "roots"]

CHECKOUT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Module:
    """One module: its dotted name, its file, whether it is a package's `__init__`."""

    name: str
    file: Path
    is_package: bool

    @property
    def is_public(self) -> bool:
        """Whether the module is written by hand and no part of its name is private or `__main__`."""
        generated = self.name.endswith(("_pb2", "_pb2_grpc"))
        return not generated and not any(part.startswith("_") for part in self.name.split("."))


def roots() -> list[Path]:
    """List the folders of the checkout that contain a part of the namespace."""
    return sorted(folder.parent for folder in CHECKOUT.glob("*/cutpurse") if folder.is_dir())


def modules() -> list[Module]:
    """List every module of every root, by name, except in folders that are not packages (templates of bots)."""
    found = []
    for root in roots():
        for file in root.glob("cutpurse/**/*.py"):
            if not is_in_a_package(file, root):
                continue
            parts = file.relative_to(root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            found.append(Module(".".join(parts[:-1] if is_package else parts), file, is_package))
    return sorted(found, key=lambda module: module.name)


def is_in_a_package(file: Path, root: Path) -> bool:
    """Return whether every folder from the file up to `cutpurse` has an `__init__.py` (generated stubs need none)."""
    between = [folder for folder in file.parents if folder.is_relative_to(root / "cutpurse") and folder.parent != root]
    return all((folder / "__init__.py").exists() or folder.name == "v1" for folder in between)
