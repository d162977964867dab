"""A person plays by numbers and sees what the seat sees; a spectator sees what all see."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from cutpurse.cli.commands.play import MatchPrinter
from cutpurse.cli.human import Human
from cutpurse.cli.screen import Screen
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.sdk.bot import BotMaker, bot_chance, load_bot
from cutpurse.sdk.card_text import cards_in_view, describe_card
from cutpurse.sdk.playing.positions import decision_for
from cutpurse.sdk.playing.seating import play_match
from cutpurse.sdk.text_view import render_table
from cutpurse.sdk.views import VIEWS
from tests.typed import run


def played(game: str, answers: str, **settings: object) -> tuple[Match, str]:
    """A match of a person in seat 1 who types these answers, and what was shown to them."""
    shown = io.StringIO()
    person = BotMaker("person", lambda: Human(io.StringIO(answers), shown))
    others = [load_bot("random")] * (GAMES[game].usual_seats - 1)
    match = Match(GAMES[game], ["person"] * (len(others) + 1), match_key(2, 0), settings, log=True)
    play_match(match, [others[0], person, *others[1:]])
    return match, shown.getvalue()


def test_a_person_is_never_shown_a_hidden_card() -> None:
    match, shown = played("greed", "1\n" * 500)
    assert match.over
    drawn = re.findall(r"^- (.*): from draw pile to hand of seat (\d)", shown, re.MULTILINE)
    assert {card for card, seat in drawn if seat != "1"} == {"card face down"}
    assert "card face down" not in {card for card, seat in drawn if seat == "1"}
    hands = re.findall(r"^seat (\d) \(.*\)\n(?:  points.*\n|  games.*\n)*  hand: (.*)", shown, re.MULTILINE)
    assert {seat for seat, _ in hands} == {"0", "1", "2", "3"}
    for seat, cards in hands:
        assert bool(re.match(r"\d+ face down", cards)) == (seat != "1")
    piles = re.findall(r"^  draw pile: (.*)", shown, re.MULTILINE)
    assert piles
    assert all(re.fullmatch(r"\d+ face down", pile) for pile in piles)
    assert shown.rstrip().splitlines()[-5] == "The match is over."


@pytest.mark.parametrize("game", list(GAMES))
def test_what_a_person_is_shown_follows_from_what_the_seat_may_see(game: str) -> None:
    """In another world that looks alike from the seat, the same text is shown at the same decision."""

    match = Match(GAMES[game], ["a"] * GAMES[game].usual_seats, match_key(3, 0), log=True)
    chance = bot_chance(match.key, 0)
    differ = 0
    while len(match.choices) < 60 and (asked := match.decision()):
        view = match.game.view(asked.seat)
        if len(match.choices) % 10 == 0:
            other = imagine(view, Chance(bytes(32)))
            differ += other.save()["zones"] != match.game.save()["zones"]
            pictures = [render_table(VIEWS[game](world.view(asked.seat)), match.seats) for world in (match.game, other)]
            assert pictures[0] == pictures[1]
        match.answer(asked.seat, asked.number, chance.randrange(len(asked.options)))
    assert differ > 2


def test_a_person_types_until_it_is_a_number_of_an_option() -> None:
    shown = run("play", "greed", "random", "random", "--human", 0, typed="-1\n8\n99\nx\n\n0\nq\n")
    assert shown.exit_code == 130
    assert re.findall(r"^ +(\d)  ", shown.stdout, re.MULTILINE)[:3] == ["0", "1", "2"]
    prompt = r"^0 to \d, \? or \? NAME for what cards do, or q to quit: "
    refused = re.findall(rf"{prompt}(.*) is none of them\.$", shown.stdout, re.MULTILINE)
    assert refused == ["'-1'", "'8'", "'99'", "'x'", "''"]
    assert shown.stderr.strip() == "interrupted"


@pytest.mark.parametrize("game", list(GAMES))
def test_a_question_mark_describes_the_cards_in_view_and_no_other(game: str) -> None:
    words = GAMES[game].words
    match, shown = played(game, "?\n0\n" * 400)
    assert match.over
    described = set(re.findall(r"^(?:.*to quit: )?  .+? \[(\w+)\]", shown, re.MULTILINE))
    assert described
    assert described <= {card.name for card in words.cards}
    names = {number: card.name for number, card in enumerate(words.cards, 1)}
    for view, decision in asked_of_seat(game, 1):
        card_numbers = cards_in_view(view, decision)
        seen = {card for zone in view.raw.zones for card in (*zone.cards, *zone.known, *zone.maybe) if card}
        assert set(card_numbers) == seen | {card for option in decision.options for card in option.raw.cards if card}
        for number in card_numbers:
            text = " ".join(" ".join(describe_card(view, number)).split())
            assert names[number] in text
            assert " ".join(words.cards[number - 1].text.split()) in text


def asked_of_seat(game: str, seat: int) -> Iterator[tuple[Any, Any]]:
    """The first decisions of a seat in a match at random."""
    match = Match(GAMES[game], ["a"] * GAMES[game].usual_seats, match_key(5, 0), log=True)
    chance = bot_chance(match.key, 0)
    while len(match.choices) < 40 and (asked := match.decision()):
        if asked.seat == seat:
            yield decision_for(match, asked)
        match.answer(asked.seat, asked.number, chance.randrange(len(asked.options)))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("? chinatown", "Chinatown [chinatown] (holding; number 8; symbols: bottle, wrench): Cost: $10,000. No text."),
        ("? KING", '"King" Richard the Third'),
        ("?Biscuits", '"Biscuits" O\'Malley [biscuits_omalley] (thug; number 6; symbols: car)'),
        ("? chinatwn", "no card is called 'chinatwn'; did you mean Chinatown?"),
        ("? burlesk", "no card is called 'burlesk'; did you mean Trotsky's Burlesque?"),
        ("? xyzzy", "no card is called 'xyzzy'"),
    ],
)
def test_a_card_is_described_by_its_name(asked: str, told: str) -> None:
    shown = run("play", "szmal", "random", "random", "--human", 0, typed=f"{asked}\nq\n")
    assert told in " ".join(shown.stdout.split())
    assert "did you mean" in told or "did you mean" not in shown.stdout


def test_a_person_who_leaves_ends_the_run() -> None:
    assert run("play", "greed", "random", "random", "--human", 2, typed="").exit_code == 130


def test_with_json_a_person_is_shown_the_table_on_stderr() -> None:
    shown = run("play", "greed", "random", "--human", 0, "--json", typed="0\n" * 500)
    assert shown.exit_code == 0
    assert sorted(row["bot"] for row in json.loads(shown.stdout)["seats"]) == ["person", "random"]
    assert "You sit in seat 0 of 2." in shown.stderr


@pytest.mark.parametrize("seat", range(4))
def test_a_person_sits_in_the_seat_they_asked_for(seat: int) -> None:
    for seed in range(4):
        shown = run("play", "greed", *["random"] * 3, "--human", seat, "--seed", seed, typed="")
        assert f"You sit in seat {seat} of 4." in shown.stdout


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "clears"), [(io.StringIO(), False), (Terminal(), True)])
def test_a_spectator_watches_every_step(stream: Any, clears: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    match = Match(GAMES["greed"], ["a", "b"], match_key(4, 0), log=True)
    play_match(match, [load_bot("random")] * 2, MatchPrinter(Screen(stream, step_s=0)))
    shown = stream.getvalue()
    assert ("\x1b[2J" in shown) == clears
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert len(re.findall("^table$", text, re.MULTILINE)) == len(match.choices) + 1
    assert text.count("the end: ") == 1
    for cards in re.findall(r"^  hand: (.*)", text, re.MULTILINE):
        assert re.match(r"\d+ face down", cards)
