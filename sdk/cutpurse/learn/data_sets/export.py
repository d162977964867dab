"""Makes a data set of matches: one Parquet file a game and number of seats, and a card that describes them.

Every match is replayed and checked as its rows are made; a false one is refused, and the others go on. All files are
made in a new folder, which takes its place at the end. So nothing unfinished ever has the name of the data set. With
several jobs, matches are replayed in other processes, and the files are the same. This module knows no league and no
command.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import CutpurseError, RecordError, UsageError
from cutpurse.engine.knowledge_level import PROOF
from cutpurse.learn.data_sets.card import DataFile, Exported, data_card
from cutpurse.learn.data_sets.columns import columns_of
from cutpurse.learn.data_sets.match_rows import MatchRows, RowMaker
from cutpurse.learn.data_sets.writer import RowWriter
from cutpurse.process.pool import check_jobs, in_order
from cutpurse.sdk.matches.match_file import FiledMatch
from cutpurse.wire.errors import NotFound

__all__ = ["Candidate", "export", "is_test_deal"]

CARD: Final = "README.md"
SUFFIX: Final = ".parquet"
OTHER_SUFFIXES: Final = (  # of files that somebody who names one expects, and would get a folder instead
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".xlsx", ".arrow", ".feather", ".avro", ".orc"),
    *(".pq", ".npz", ".db", ".sqlite", ".zip", ".gz"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match to export, or why it can't be read.

    Attributes:
        where: Its file and line, or its ID, for messages.
        filed: The match.
        thinking_ms: The thinking time of each decision, by seat; empty if it is not known.
        usages: Reported tokens and cost by decision of the seat, from 0, by seat; empty if they are not known.
    """

    where: str
    filed: FiledMatch | RecordError
    thinking_ms: Sequence[Sequence[int]] = ()
    usages: Sequence[Mapping[int, tuple[int, int]]] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """What became of a candidate: the rows, None for a match without any, or why it is refused."""

    where: str
    record_hash: int
    rows: MatchRows | UsageError | None


def export(
    candidates: Iterator[Candidate],
    to: Path,
    *,
    made_from: str,
    test_share: float = 0.0,
    features: bool = False,
    history: int = 0,
    rows: bool = False,
    knowledge: str = PROOF,
    licence: str = "",
    jobs: int = 1,
    refuse: Callable[[str], None],
) -> Exported:
    """Make a data set.

    Args:
        candidates: The matches.
        to: Folder to make, or a file that ends with `.parquet`, for one game with one number of seats.
        made_from: What the matches are, for the card.
        test_share: Share of the deals that go into files for testing. 0 means that the set is not split.
        features: Whether to write the features of the options.
        history: Number of last events that a row has.
        rows: Whether to write one row a zone, instead of planes.
        knowledge: What the seats know of hidden cards: "proof", "seen" or "none", as in `cutpurse.learn.Batch`.
        licence: Licence of the data, for the card.
        jobs: Number of processes that replay.
        refuse: Called with a line for each match that is refused.

    Raises:
        UsageError: If `to` exists or is a file of another kind, or the arguments don't go together.
        NotFound: If `to` cannot be written.
        RecordError: If no match has a row.
        CutpurseError: What reading a candidate raises.
    """
    if not 0 <= test_share < 1:
        raise UsageError(f"a test share of {test_share} is not from 0 to less than 1")
    if not _is_file(to) and to.suffix.lower() in (*OTHER_SUFFIXES, SUFFIX):
        raise UsageError(f"{to}: Parquet only: {to.with_suffix(SUFFIX).name} or a folder")
    if _is_file(to) and test_share:
        raise UsageError(f"a split set is two files: name a folder to make instead of {to}")
    check_jobs(jobs)
    maker = RowMaker(features, history, rows, knowledge)
    with _taking_place(to) as folder, ExitStack() as stack:
        files = _Files(to, folder, test_share, maker, stack)
        seen: set[int] = set()
        matches = void = repeated = refused = 0
        for made in stack.enter_context(closing(_made(candidates, maker, jobs))):
            if made.record_hash in seen:
                repeated += 1
            elif isinstance(made.rows, UsageError):
                refused += 1
                refuse(f"{made.where}: {made.rows}")
            elif made.rows is None:
                void += 1
            else:
                seen.add(made.record_hash)
                matches += 1
                files.add(made.rows)
        if not matches:
            raise RecordError("no match has a result and a decision with a choice, so there is no data set")
        data_set = Exported(files.close(), matches, void, repeated, refused, files.columns)
        files.write_card(data_card(data_set, made_from, test_share, features, licence))
    return data_set


def _made(candidates: Iterator[Candidate], maker: RowMaker, jobs: int) -> Generator[_Made, None, None]:
    """Yield what becomes of each match."""
    make = partial(_make, maker)
    yield from map(make, candidates) if jobs == 1 else in_order(partial(_make_all, make), candidates, jobs, _name_all)


def _make(maker: RowMaker, candidate: Candidate) -> _Made:
    """Make the rows of a match."""
    filed = candidate.filed
    if isinstance(filed, RecordError):
        return _Made(candidate.where, 0, filed)
    record_hash = _hash(filed.text or "")
    try:
        rows = maker.rows(filed, candidate.thinking_ms, candidate.usages)
    except UsageError as problem:
        return _Made(candidate.where, record_hash, problem)
    return _Made(candidate.where, record_hash, rows)


def _make_all(make: Callable[[Candidate], _Made], candidates: Sequence[Candidate]) -> list[_Made]:
    """Make the rows of some matches, in another process."""
    return [make(candidate) for candidate in candidates]


def _name_all(candidates: Sequence[Candidate]) -> str:
    """Name some matches in an error."""
    return candidates[0].where + (f" to {candidates[-1].where}" if len(candidates) > 1 else "")


def _is_file(to: Path) -> bool:
    """Return whether a data set of one file is wanted, by its name."""
    return to.suffix == SUFFIX


def is_test_deal(deal: str, test_share: float) -> bool:
    """Return whether a deal is for testing: the same answer in every data set with this share."""
    return int(deal[:8], 16) < test_share * 2**32


def _hash(record: str) -> int:
    """Hash a record to 64 bits, which take little memory."""
    return int.from_bytes(sha256(record.encode()).digest()[:8])


class _Files:
    """The files of a data set that is being made."""

    def __init__(self, to: Path, folder: Path, test_share: float, maker: RowMaker, stack: ExitStack) -> None:
        self.to = to
        self.folder = folder
        self.test_share = test_share
        self.maker = maker
        self._stack = stack
        self._writers: dict[tuple[str, int, str], RowWriter] = {}

    @property
    def columns(self) -> list[str]:
        """The columns of each file, but for features."""
        return columns_of(next(iter(self._writers.values())).space)

    def add(self, rows: MatchRows) -> None:
        """Write the rows of a match to its file."""
        part = ""
        if self.test_share:
            part = "test" if is_test_deal(rows.deal, self.test_share) else "train"
        key = rows.game, rows.seats, part
        writer = self._writers.get(key)
        if writer is None:
            writer = self._writers[key] = self._begin(rows, part)
        writer.add(rows)

    def _begin(self, rows: MatchRows, part: str) -> RowWriter:
        game, seats = rows.game, rows.seats
        if _is_file(self.to):
            if self._writers:
                other, its_seats, _ = next(iter(self._writers))
                raise UsageError(
                    f"there are matches of {other} with {its_seats} seats and of {game} with {seats}, which is a file "
                    f"each: name a folder to make instead of {self.to}"
                )
            name = self.to.name
        else:
            name = f"{game}-{seats}{part and '-'}{part}{SUFFIX}"
        writer = RowWriter(self.folder / name, self.maker.space(game, seats), self.maker.features)
        self._stack.callback(writer.drop)
        return writer

    def close(self) -> list[DataFile]:
        """Finish the files, and describe them by game, seats and part."""
        files = []
        for (game, seats, part), writer in sorted(self._writers.items()):
            writer.close()
            files.append(
                DataFile(
                    writer.path.name,
                    game,
                    seats,
                    part,
                    writer.rows,
                    writer.matches,
                    len(writer.deals),
                    writer.path.stat().st_size,
                    writer.space.stamp,
                    writer.settings,
                    writer.bots.most_common(),
                )
            )
        return files

    def write_card(self, text: str) -> None:
        """Write the card beside the files."""
        name = f"{self.to.stem}.{CARD}" if _is_file(self.to) else CARD
        (self.folder / name).write_text(text, encoding="utf-8", newline="")


@contextmanager
def _taking_place(to: Path) -> Iterator[Path]:
    """Yield a new folder; at the end of the block it, or the files in it, get the name `to`.

    After an error nothing is left. A killed process leaves a hidden folder that ends with `.part`.
    """
    _check_free(to)
    folder = to.with_name(f".{to.name}.{secrets.token_hex(4)}.part")
    try:
        folder.mkdir()
    except OSError as problem:
        raise NotFound(f"{to} cannot be made: {problem.strerror}") from None
    try:
        yield folder
        _check_free(to)
        if _is_file(to):
            for path in sorted(folder.iterdir(), key=lambda path: path.suffix == SUFFIX):  # the card first
                path.rename(to.with_name(path.name))
        else:
            folder.rename(to)
    except OSError as problem:
        raise CutpurseError(f"{to} cannot be written: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_free(to: Path) -> None:
    """Check that nothing is replaced.  Raises UsageError."""
    for path in (to, to.with_name(f"{to.stem}.{CARD}")) if _is_file(to) else (to,):
        if path.exists():
            raise UsageError(f"{path} already exists, and an export replaces nothing: name another one")
