"""The card of a data set: what it is, how it was made, and what its columns mean, as a page of Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.learn.data_sets.columns import COLUMNS, FEATURES
from cutpurse.wire.text import format_count, printable
from cutpurse.wire.version import VERSION

__all__ = ["DataFile", "Exported", "data_card"]

MOST_BOTS: Final = 20  # named for each file
METADATA: Final = (
    "The metadata of each file has the key `cutpurse`: a JSON object with the facts below, and `layout`, a list of "
    "[array, what, part, start, width] that names every part of `planes`, `numbers` and `features`."
)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set.

    Attributes:
        name: Name of the file.
        part: "train" or "test"; empty if the set is not split.
        bots: The bots with the most rows, and their numbers of rows.
    """

    name: str
    game: str
    seats: int
    part: str
    rows: int
    matches: int
    deals: int
    size_bytes: int
    stamp: dict[str, str | int]
    settings: list[dict[str, str]]
    bots: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Exported:
    """A data set that was made.

    Attributes:
        void: Number of matches without a result, or without a choice, which have no rows.
        repeated: Number of matches that were given more than once.
        refused: Number of matches that are not as their record says.
        columns: Names of the columns of each file, but for features.
    """

    files: list[DataFile]
    matches: int
    void: int
    repeated: int
    refused: int
    columns: list[str]

    @property
    def left_out(self) -> str:
        """The matches that have no rows, in words; empty if there are none."""
        parts = (
            (self.refused, "refused, because a record is false or cannot be read"),
            (self.void, "void, or without a choice"),
            (self.repeated, "given more than once"),
        )
        return "; ".join([f"{format_count(count, 'match', 'matches')} {why}" for count, why in parts if count])


def data_card(made: Exported, made_from: str, test_share: float, features: bool, licence: str) -> str:
    """Write the card.  The same matches give the same text."""
    rows = sum(file.rows for file in made.files)
    summary = (
        f"{format_count(rows, 'decision', 'decisions')} with a choice, of "
        f"{format_count(made.matches, 'match', 'matches')}: what the seat saw, its options, what it took, and how it "
        "ended. A row has only what the seat that decided saw."
    )
    lines = [
        "# Decisions of card games with hidden information",
        "",
        summary,
        "",
        "| file | game | seats | rows | matches | deals | bytes |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for file in made.files:
        lines.append(
            f"| `{file.name}` | {file.game} | {file.seats} | {file.rows:,} | {file.matches:,} | {file.deals:,} | "
            f"{file.size_bytes:,} |"
        )
    lines += ["", "## How it was made", "", f"By cutpurse {VERSION}, `cutpurse export`, from {_code(made_from)}."]
    lines.append("Each match was replayed from its record, and agreed with it, as its rows were made.")
    if made.left_out:
        lines.append(f"Left out: {made.left_out}.")
    if test_share:
        lines.append(
            f"A share of {test_share:g} of the deals is for testing, chosen by a hash of the cards. All matches with "
            "the same cards are in the same file."
        )
    else:
        lines.append("It is not split. Split it by the column `deal`, never by row: matches may have the same cards.")
    lines += ["", "## Licence", "", printable(licence, 1_000) or "None was given: ask who made this set."]
    lines += ["", "## Columns", "", "| column | |", "|---|---|"]
    lines += [f"| `{name}` | {COLUMNS[name]} |" for name in made.columns]
    if features:
        lines.append(f"| `features` | {FEATURES} |")
    lines += ["", METADATA]
    for file in made.files:
        facts = {**file.stamp, "settings": file.settings}
        bots = ", ".join(f"{_code(bot)} {count:,}" for bot, count in file.bots[:MOST_BOTS])
        more = f", and {len(file.bots) - MOST_BOTS:,} others" if len(file.bots) > MOST_BOTS else ""
        lines += ["", f"### {file.name}", "", "| | |", "|---|---|"]
        lines += [f"| {name} | {_code(str(value))} |" for name, value in facts.items()]
        lines.append(f"| rows by bot | {bots}{more} |")
    lines += [
        "",
        "## Read it",
        "",
        "```python",
        "from cutpurse.learn.data_sets import DataSet",
        "",
        f'for batch in DataSet("{made.files[0].name}").batches(4096):',
        "    batch.planes, batch.numbers, batch.mask(), batch.choices",
        "```",
    ]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Format foreign text as code in a table."""
    clean = printable(text, 2_000).replace("`", "'").replace("|", "/")
    return f"`{clean}`"
