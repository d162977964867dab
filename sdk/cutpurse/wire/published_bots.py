"""Published versions of bots that were fetched from a server, stored on this machine by owner, name and version.

    OWNER/NAME/VERSION/archive.zip      as the server sent it
    OWNER/NAME/VERSION/published.json   licence, the SHA-256 that the server named, and its address
    OWNER/NAME/VERSION/files/           what is in the archive

The folder is $CUTPURSE_PUBLISHED, else `cutpurse/published` among the data of the user. Archive and files are compared
with the SHA-256 on every use. This module knows no server, and runs nothing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.wire.archive import ArchiveError, contents, read_entry, unpack
from cutpurse.wire.errors import BotNotLoaded, NotFound, ServerRefused
from cutpurse.wire.manifest import MANIFEST, Manifest, read_manifest
from cutpurse.wire.server_address import PUBLISHED_VARIABLE
from cutpurse.wire.text import NAME

__all__ = [
    "FREE_LICENCES",
    "PublishedBot",
    "is_published",
    "is_stored",
    "load_published",
    "store_published",
]

# Licences of SPDX under which anybody may run, change and give away what they got.
FREE_LICENCES: Final = frozenset(
    {
        "0BSD",
        "AGPL-3.0-only",
        "AGPL-3.0-or-later",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC-BY-4.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "EUPL-1.2",
        "GPL-2.0-only",
        "GPL-2.0-or-later",
        "GPL-3.0-only",
        "GPL-3.0-or-later",
        "ISC",
        "LGPL-2.1-or-later",
        "LGPL-3.0-or-later",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "Unlicense",
        "Zlib",
    }
)
_NAME: Final = re.compile(f"{NAME.pattern}/{NAME.pattern}:{NAME.pattern}")
_CLASS: Final = re.compile(r"^class Bot\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PublishedBot:
    """A stored version, whose files are as its owner published them."""

    name: str  # OWNER/NAME:VERSION
    folder: Path  # of its files
    manifest: Manifest
    licence: str
    digest: str  # SHA-256 of its archive

    @property
    def spec(self) -> str:
        """The file or command by which `load_bot` finds it: a file of Python with a class Bot, else its command."""
        run = self.manifest.run
        file = self.folder / run[-1]
        if self.manifest.runtime == "python" and len(run) == 2 and file.suffix == ".py" and file.is_file():
            if _CLASS.search(file.read_text(encoding="utf-8", errors="replace")):
                return str(file)
        program = sys.executable if run[0] in ("python", "python3") else run[0]
        return "exec:" + shlex.join(["env", "-C", str(self.folder), program, *run[1:]])


def is_published(name: str) -> bool:
    """Return whether a bot is named as published ones are: OWNER/NAME:VERSION."""
    return _NAME.fullmatch(name) is not None and not name.partition(":")[0].endswith(".py")


def is_stored(name: str) -> bool:
    """Return whether this version is stored here."""
    return (_folder_of(name) / "published.json").is_file()


def load_published(name: str) -> PublishedBot:
    """Return a stored version after comparing all of its bytes with the SHA-256 that the server named.

    Raises:
        NotFound: If it is not stored.
        BotNotLoaded: If its archive or a file is not what the server sent.
    """
    folder = _folder_of(name)
    fetch = f"cutpurse bot submitted {name} --fetch"
    try:
        facts = json.loads((folder / "published.json").read_bytes())
        archive = (folder / "archive.zip").read_bytes()
        digest, licence = str(facts["sha256"]), str(facts["licence"])
    except FileNotFoundError:
        raise NotFound(f"{name} is not on this machine: fetch it with `{fetch}`") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BotNotLoaded(f"bot {name}: {folder} cannot be read ({problem}): fetch it again with `{fetch}`") from None
    try:
        is_whole = sha256(archive).hexdigest() == digest and all(
            (folder / "files" / entry.name).read_bytes() == read_entry(archive, entry) for entry in contents(archive)
        )
        manifest = read_manifest((folder / "files" / MANIFEST).read_bytes())
    except (OSError, ArchiveError, UsageError):
        is_whole = False
    if not is_whole:
        raise BotNotLoaded(f"bot {name}: {folder} is not what the server sent any more: fetch it again with `{fetch}`")
    return PublishedBot(name, folder / "files", manifest, licence, digest)


def store_published(name: str, archive: bytes, licence: str, server: str) -> PublishedBot:
    """Store a version that a server sent, in place of one of this name.

    Raises:
        ServerRefused: If the archive or its bot.toml is rejected; nothing is stored then.
        CutpurseError: If it cannot be written.
    """
    folder = _folder_of(name)
    facts = {"licence": licence, "sha256": sha256(archive).hexdigest(), "server": server}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetched-") as draft:
            unpack(archive, Path(draft) / "files")
            read_manifest((Path(draft) / "files" / MANIFEST).read_bytes())
            (Path(draft) / "archive.zip").write_bytes(archive)
            (Path(draft) / "published.json").write_text(json.dumps(facts), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(draft, folder)
    except (ArchiveError, UsageError, FileNotFoundError) as problem:
        raise ServerRefused(f"what {server} sent as {name} is no bot that can be unpacked: {problem}") from None
    except OSError as problem:
        raise CutpurseError(f"{folder} cannot be written: {problem.strerror}") from None
    return load_published(name)


def _folder_of(name: str) -> Path:
    """Return the folder of a version; its name has been checked."""
    base = os.environ.get(PUBLISHED_VARIABLE)
    if base is None:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        base = os.fspath(Path(data) / "cutpurse" / "published")
    owner, _, rest = name.partition("/")
    bot, _, version = rest.partition(":")
    return Path(base) / owner / bot / version
