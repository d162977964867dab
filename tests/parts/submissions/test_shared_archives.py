"""A server that was alone shares the archives of that time with the servers that join it."""

from __future__ import annotations

from pathlib import Path

from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.submitted_files import storage_beside


class InMemory:
    """Shared archives, and which of them have built files."""

    def __init__(self) -> None:
        self.archives: dict[bytes, bytes] = {}
        self.built: dict[bytes, list[str]] = {}

    def put(self, digest: bytes, content: bytes) -> None:
        self.archives[digest] = content

    def get(self, digest: bytes) -> bytes | None:
        return self.archives.get(digest)

    def put_built(self, digest: bytes, tree: Path) -> None:
        self.built[digest] = sorted(path.name for path in tree.iterdir())

    def unpack_built(self, digest: bytes, target: Path) -> bool:
        return False

    def drop(self, digest: bytes) -> None:
        self.archives.pop(digest, None)


def test_archives_of_a_server_that_was_alone_are_shared_with_their_built_files(tmp_path: Path) -> None:
    database = tmp_path / "league"
    alone = Storage(storage_beside(database))
    built, unbuilt = alone.keep(b"built"), alone.keep(b"not built")
    alone.tree(built).mkdir()
    (alone.tree(built) / "bot.py").touch()
    alone.close()
    shared = InMemory()
    of_several = Storage(storage_beside(database, "https://a.example:7777"), shared, storage_beside(database))
    for digest in (built, unbuilt, bytes(32)):
        of_several.share(digest)
    assert shared.archives == {built: b"built", unbuilt: b"not built"}
    assert shared.built == {built: ["bot.py"]}
    assert of_several.archive(built) == b"built"
    of_several.close()
