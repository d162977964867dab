"""The guided matches: one short recorded match of each game, with comments at chosen moments.

`guided/GAME.jsonl` is the record, as `cutpurse play --record` wrote it. `guided/GAME.toml` has the names of the players
and the comments. This module knows no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from cutpurse.engine.record import read_record
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, language, pgettext
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.wire.errors import NotFound
from cutpurse.wire.toml_file import read_toml

__all__ = ["GUIDED", "GUIDED_TEXT", "GuideComment", "GuidedMatch", "guided_match"]

FOLDER: Final = Path(__file__).parent / "guided"
GUIDED_TEXT: Final = "guided match"  # context of the comments in the catalogue
GUIDED: Final = frozenset(path.stem for path in FOLDER.glob("*.toml"))  # games that have one


@dataclass(frozen=True, slots=True)
class GuideComment:
    """A comment on a moment; `at` is its index in the record."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class GuidedMatch:
    """A replayed match with its comments, in order."""

    replayed: Replayed
    comments: tuple[GuideComment, ...]


def guided_match(game: str) -> GuidedMatch:
    """Load the guided match of a game, in the language of the request.

    Raises:
        NotFound: If the game has none.
        RecordError: If its record does not agree with the rules as they are now.
    """
    if game not in GUIDED:
        raise NotFound(gettext("This game has no guided match."))
    return _loaded(game, language())


@cache
def _loaded(game: str, _spoken: Language) -> GuidedMatch:
    written = read_toml(FOLDER / f"{game}.toml", "no guided match")
    record = read_record((FOLDER / f"{game}.jsonl").read_text(encoding="utf-8"))
    comments = tuple([GuideComment(one["at"], pgettext(GUIDED_TEXT, one["text"])) for one in written["comment"]])
    return GuidedMatch(Replayed(record, written["players"]), comments)
