"""The matches of a ladder as files by day, with a manifest. A download that was cut off goes on where it stopped.

    2027-01-31.jsonl    match files of that day in UTC, in the order of their ends
    manifest.json       the ladder, and each file with its number of matches, its size and its SHA-256

A file grows by whole matches. What a killed download left of one is cut off by the next. This module knows no command.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import League, match_pages

__all__ = ["MANIFEST", "download_days"]

MANIFEST: Final = "manifest.json"
SCHEMA: Final = "matches-by-day/1"
_DAY_MS: Final = 86_400_000


def download_days(
    league: League, ladder: str, since_ms: int, folder: Path, progress: Callable[[int, int], None]
) -> Sequence[Mapping[str, Any]]:
    """Bring all matches of a ladder that ended since the day of a time; return the files of the manifest.

    Args:
        league: League with the ladder.
        ladder: Its name.
        since_ms: The time, in ms since 1970; its whole day counts.
        folder: Folder of the files; it is made, or an earlier download goes on.
        progress: Called with the number of matches so far, and of all.

    Raises:
        UsageError: If the folder has matches of another ladder.
        NotFound: If it cannot be written.
        CutpurseError: Errors of the league.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {str(file["name"]): file for file in _read_manifest(folder, ladder)}
        days = _days(league, ladder, since_ms - since_ms % _DAY_MS)
        total, done = sum(map(len, days.values())), 0
        for day, matches in days.items():
            path = folder / f"{day}.jsonl"
            known = files.get(path.name)
            if known is None or not _is_complete(path, known, len(matches)):
                for number in _complete(league, path, matches):
                    progress(done + number, total)
                files[path.name] = _entry(path, len(matches))
                _write_manifest(folder, ladder, files)
            done += len(matches)
            progress(done, total)
        _write_manifest(folder, ladder, files)
    except OSError as problem:
        raise NotFound(f"{problem.filename or folder} cannot be written: {problem.strerror}") from None
    return _in_order(files)


def _days(league: League, ladder: str, since_ms: int) -> dict[str, list[str]]:
    """Return the IDs of the matches of each day, the oldest first."""
    newest_last = [*chain.from_iterable(match_pages(league.ListMatches, ladder, since_ms))][::-1]
    matches = sorted(newest_last, key=lambda match: match.finished_ms)
    days: dict[str, list[str]] = {}
    for match in matches:
        day = datetime.fromtimestamp(match.finished_ms / 1_000, UTC).date().isoformat()
        days.setdefault(day, []).append(match.match)
    return days


def _is_complete(path: Path, known: Mapping[str, Any], matches: int) -> bool:
    return path.is_file() and path.stat().st_size == known["bytes"] and known["matches"] == matches


def _complete(league: League, path: Path, matches: Sequence[str]) -> Iterator[int]:
    """Add the matches that a file lacks, and yield how many it has after each."""
    stored = _cut_to_whole_matches(path)
    missing = [match for match in matches if match not in stored]
    with path.open("ab") as file:
        for number, match in enumerate(missing, len(matches) - len(missing) + 1):
            pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match))
            file.write(b"".join([piece.piece for piece in pieces]))
            file.flush()
            yield number


def _cut_to_whole_matches(path: Path) -> set[str]:
    """Cut off what follows the last whole match of a file, and return the IDs of its matches."""
    if not path.is_file():
        return set()
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    matches: set[str] = set()
    whole = 0
    try:
        for filed in read_matches(lines):
            if filed.head is not None:
                matches.add(filed.head.match)
            whole = filed.line + (filed.head is not None and filed.record is not None)
    except RecordError:
        pass  # the last match is cut off: what is whole counts
    os.truncate(path, sum(map(len, lines[:whole])))
    return matches


# -- the manifest
def _read_manifest(folder: Path, ladder: str) -> Sequence[Mapping[str, Any]]:
    """Return the files of an earlier download; none without one.  Raises UsageError if it is of another ladder."""
    path = folder / MANIFEST
    if not path.exists():
        return ()
    try:
        manifest = json.loads(path.read_bytes())
        is_ours = manifest["schema"] == SCHEMA and manifest["ladder"] == ladder
        files = [{name: file[name] for name in ("name", "matches", "bytes", "sha256")} for file in manifest["files"]]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no manifest of a download; name another folder with --out") from None
    if not is_ours:
        raise UsageError(f"{path} is of ladder {manifest['ladder']!r:.80}; name another folder with --out")
    return files


def _write_manifest(folder: Path, ladder: str, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the manifest, all or nothing."""
    content = json.dumps({"schema": SCHEMA, "ladder": ladder, "files": _in_order(files)}, indent=1)
    beside = folder / f"{MANIFEST}.new"
    beside.write_text(content + "\n", encoding="utf-8")
    beside.replace(folder / MANIFEST)


def _in_order(files: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [files[name] for name in sorted(files)]


def _entry(path: Path, matches: int) -> Mapping[str, Any]:
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "matches": matches, "bytes": path.stat().st_size, "sha256": digest}
