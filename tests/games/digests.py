"""Digests of random matches: options, views, events and saves, which prove that rules play as before.

    python -m tests.games.digests    # writes tests/games/digests.json anew; only when a rule changes

Values are converted by their fields, so that the type of a value does not matter.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from tests.properties.random_play import RandomGame

__all__ = ["MATCHES", "STORED", "digest_of_match", "stored_digests"]

MATCHES: Final = 150
STORED: Final = Path(__file__).with_suffix(".json")
FIELDS: Final[dict[type, tuple[str, ...]]] = {
    Act: ("verb", "cards", "zone", "seat", "number", "places", "actor"),
    Happened: ("act", "masks"),
    Moved: ("from_zone", "to_zone", "cards", "masks"),
    Shown: ("zone", "seats", "cards", "masks"),
    Shuffled: ("zone",),
    Counted: ("counter", "value", "seat", "zone", "place"),
    Placed: ("zone", "kind", "seat"),
    Asked: ("ask", "seats"),
    Scored: ("over", "scores"),
}


def taken_apart(value: object) -> Any:
    """Convert an act or an event to its name and its fields; return a number or a tuple as it is."""
    fields = FIELDS.get(type(value))
    if fields is None:
        return value
    return [type(value).__name__, *[taken_apart(getattr(value, field)) for field in fields]]


def digest_of_match(rules: type[Game], number: int) -> str:
    """Play random match `number` of a game; return the digest of every viewer's data and of every save."""
    seats = rules.words.seats[number % len(rules.words.seats)]
    match = RandomGame(rules, seats, number)
    digest = hashlib.sha256()

    def add(value: object) -> None:
        digest.update(json.dumps(value, separators=(",", ":")).encode())

    game = match.begin(log=True)
    while waiting := game.waiting():
        asked = match.random.choice(waiting)
        options = game.options(asked)
        add([waiting, asked, game.question.name, game.question.text, [taken_apart(option) for option in options]])
        add(taken_apart(game.safe_option(asked, options)))
        for seat in (asked, None):
            view = game.view(seat)
            add([view.to_json(), [taken_apart(act) for act in view.pending]])
        if not match.random.randrange(8):
            game = _another_way(game, match.random.randrange(3))
            add([game.save(), [game.view(seat).to_json() for seat in range(game.n)]])
        game.choose(asked, match.random.choice(options))
    log: list[Event] = game.log or []
    add([[taken_apart(event), *[taken_apart(event.to(viewer)) for viewer in range(seats + 1)]] for event in log])
    add([game.save(), game.scores(), game.places(), len(log)])
    return digest.hexdigest()[:16]


def _another_way(game: Game, way: int) -> Game:
    """Return an equal game: a fork, a saved and loaded copy, or a pickled copy."""
    log = game.log
    if way == 0:
        game = game.fork()
    elif way == 1:
        game = type(game).load(json.loads(json.dumps(game.save())))
    else:
        game = pickle.loads(pickle.dumps(game))
    game.log = log
    return game


def stored_digests() -> dict[str, list[str]]:
    """Read the stored digests of the matches of each game."""
    stored: dict[str, list[str]] = json.loads(STORED.read_text(encoding="utf-8"))
    return stored


if __name__ == "__main__":
    digests = {name: [digest_of_match(rules, number) for number in range(MATCHES)] for name, rules in GAMES.items()}
    STORED.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
