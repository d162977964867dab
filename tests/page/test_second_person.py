"""What is said to a player about themselves is in the second person, in every language and for every verb."""

from __future__ import annotations

import re

import pytest

from cutpurse.engine.acts import Act
from cutpurse.engine.events import Asked, Event, Placed
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.text import act_text, event_text, option_text
from cutpurse.games import GAMES
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.languages import offered_languages
from cutpurse.page.language.second_person import addressed
from cutpurse.page.language.speaking import speaking
from tests.properties.random_play import EVERY_GAME, RandomGame


class Table:
    """A table without zones; their names say so."""

    def zone(self, number: int) -> None:
        raise KeyError(number)


def said(tag: str, game: str, text: str) -> str:
    with speaking(offered_languages()[tag]):
        return addressed(text, 0, GAMES[game].words)


@pytest.mark.parametrize(
    ("tag", "game", "text", "expected"),
    [
        ("en", "greed", "seat 0 draws from the pile", "seat 0 draw from the pile"),
        ("en", "greed", "seat 1 raids the hand of seat 0", "seat 1 raids your hand"),
        ("en", "greed", "seat 0 passes", "seat 0 pass"),
        ("en", "greed", "5: from hand of seat 0 to collection of seat 0", "5: from your hand to your collection"),
        ("en", "greed", "seat 0 was too greedy: all goes back", "seat 0 were too greedy: all goes back"),
        ("en", "greed", "seat 1 plays 5", "seat 1 plays 5"),
        ("en", "szmal", "Inform!: from card to be resolved of seat 0 to discard pile", None),
        ("en", "bag_o_loot", "seat 2 steals set 9 of seat 0 with Coin 5", "seat 2 steals your set 9 with Coin 5"),
        ("en", "bag_o_loot", "bag 3 is a bluff of seat 0", "bag 3 is your bluff"),
        ("en", "bag_o_loot", "take all open sets of seat 0", "take all your open sets"),
        ("en", "stolen_treasure", "seat 0 buries Ruby", "seat 0 bury Ruby"),
        ("en", "stolen_treasure", "seat 0 plays Hook and names seat 1", "seat 0 play Hook and name seat 1"),
        ("en", "steal_and_plunder", "seat 1 plays Tax Audit on all that seat 0 has", None),
        ("de", "greed", "Sitz 0 bestiehlt Sitz 2", "Sitz 0 bestiehlst Sitz 2"),
        ("de", "greed", "Sitz 2 bestiehlt Sitz 0", "Sitz 2 bestiehlt dich"),
        ("de", "greed", "Sitz 0 sieht sich die Hand von Sitz 1 an", "Sitz 0 siehst dir die Hand von Sitz 1 an"),
        ("de", "greed", "Sitz 1 sieht sich die Hand von Sitz 0 an", "Sitz 1 sieht sich die Hand von dir an"),
        ("de", "szmal", "Sitz 0 legt Marker auf Haus: 2", "Sitz 0 legst Marker auf Haus: 2"),
        ("de", "bag_o_loot", "Sitz 0 lässt Sitz 1 eine Karte ziehen", "Sitz 0 lässt Sitz 1 eine Karte ziehen"),
        ("pl", "greed", "miejsce 0 ciągnie dalej", "miejsce 0 ciągniesz dalej"),
        ("pl", "stolen_treasure", "miejsce 0 nic więcej nie kładzie", "miejsce 0 nic więcej nie kładziesz"),
        ("pl", "bag_o_loot", "worek 3: pudło, miejsce 0 kończy turę", "worek 3: pudło, miejsce 0 kończysz turę"),
    ],
)
def test_a_sentence_is_said_to_the_player(tag: str, game: str, text: str, expected: str | None) -> None:
    shown = said(tag, game, text)
    if expected is None:  # whatever is theirs is named by no seat
        assert "seat 0" not in shown
        assert "you" in shown
    else:
        assert shown == expected


@pytest.mark.parametrize("game", list(GAMES))
def test_no_verb_of_a_game_is_in_the_third_person_after_you(game: str) -> None:
    words = GAMES[game].words
    third = re.compile(r"^you (?:\w+s|has|is|was)\b(?<!\bpass)(?<!\bpass)")
    for tag, language in offered_languages().items():
        with speaking(language):
            for verb in words.verbs:
                act = Act(verb.number, (1,), 0, 1, 2, actor=0)
                text = addressed(act_text(Table(), act, spoken(words)), 0, words)  # type: ignore[arg-type]
                if tag == "en":
                    assert not third.match(text.replace("seat 0", "you")), text
                    assert " of seat 0" not in text
                elif tag == "pl" and text.startswith("miejsce 0 "):
                    assert re.search(r"sz\b", text), text
                elif tag == "de" and text.startswith("Sitz 0 "):
                    assert re.search(r"^Sitz 0 \w+(?:st|sst|zt|sse?t)\b", text), text


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_event_and_option_of_random_games_is_said_to_the_player_in_words(name: str) -> None:
    rules = GAMES[name]
    said_to_them: set[str] = set()
    for number in range(2):
        play = RandomGame(rules, rules.usual_seats, number)
        game = play.begin(log=True)
        for position in play.play(game):
            options = position.options(0) if 0 in position.waiting() else ()
            said_to_them |= {option_text(position, option) for option in options}
        log = [event.to(0) for event in game.log or ()]
        history = ZoneHistory(rules.words, game.n)
        history.add(log, 0)
        said_to_them |= {event_text(history.at(at), event) for at, event in enumerate(log) if not is_bookkeeping(event)}
    seen = {addressed(text, 0, rules.words).replace("seat 0", "you") for text in said_to_them}
    assert len(seen) > 50
    assert [text for text in seen if UNKIND.search(text)] == []


# Of you, you draws, your points is, buried_total, FACE_DOWN.
UNKIND = re.compile(
    r"\bof you\b|^you (?!pass\b|discard\b)\w+s\b|\byou (?:is|has|was|goes)\b|^your \w+s is\b"
    r"|\w_\w|\b(?!HO\b|YO\b)[A-Z]{2,}\b"
)


def is_bookkeeping(event: Event) -> bool:
    """Whether the page has no sentence for an event: a question, or a zone that goes."""
    return isinstance(event, Asked) or (isinstance(event, Placed) and event.kind == 0)
