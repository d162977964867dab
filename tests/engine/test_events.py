"""Every viewer gets every event, with the faces that they may see."""

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Counted, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.words import FACE_DOWN
from tests.engine.toy import CLOSED, MOON, OPEN_PACK, PACK, STAR, SUN, empty_table

ALL = 0b1111  # three seats and the spectator


def test_a_face_is_told_to_whoever_sees_either_end() -> None:
    toy = empty_table()
    toy.enter([STAR], toy.hand[0])
    toy.move(STAR, toy.hand[0], toy.hand[1])
    assert toy.log is not None
    entered, moved = toy.log
    assert [entered.to(viewer) for viewer in range(4)] == [
        Moved(0, toy.hand[0].number, cards) for cards in [(STAR,), (FACE_DOWN,), (FACE_DOWN,), (FACE_DOWN,)]
    ]
    assert [moved.to(viewer).cards for viewer in range(4) if isinstance(moved, Moved)] == [
        (STAR,),
        (STAR,),
        (FACE_DOWN,),
        (FACE_DOWN,),
    ]


def test_a_face_is_told_to_the_viewers_it_is_shown_to() -> None:
    toy = empty_table()
    toy.enter([STAR], toy.deck)
    toy.move_top(toy.deck, toy.blind, shown=0b100)
    assert toy.log is not None
    moved = toy.log[-1]
    assert isinstance(moved, Moved)
    assert [moved.to(viewer).cards for viewer in range(4)] == [(FACE_DOWN,), (FACE_DOWN,), (STAR,), (FACE_DOWN,)]


def test_where_some_faces_are_hidden_the_order_tells_nothing() -> None:
    moved = Moved(1, 2, (STAR, SUN, MOON, SUN), (1, 3, 1, 3))
    assert moved.to(0).cards == (STAR, SUN, MOON, SUN), "who sees all sees the order too"
    assert moved.to(1).cards == (SUN, SUN, FACE_DOWN, FACE_DOWN)
    assert moved.to(2).cards == (FACE_DOWN,) * 4
    assert moved.to(0).masks == ()


def test_a_look_is_told_to_all_and_its_faces_to_the_lookers() -> None:
    toy = empty_table()
    toy.enter([STAR, SUN], toy.hand[0])
    toy.show(toy.hand[0], [1])
    toy.show(toy.hand[0])
    assert toy.log is not None
    _, look, reveal = toy.log
    number = toy.hand[0].number
    assert look.to(1) == Shown(number, (1,), (SUN, STAR))
    assert look.to(2) == look.to(3) == Shown(number, (1,), (FACE_DOWN, FACE_DOWN))
    assert {reveal.to(viewer) for viewer in range(4)} == {Shown(number, (), (SUN, STAR))}


def test_an_act_hides_the_faces_and_the_places_of_its_cards() -> None:
    act = Act(2, (STAR, SUN), zone=3, places=(4, 5), actor=0)
    assert Happened(act, (0b0011, ALL)).to(1).act == act.showing(act.cards)
    assert Happened(act, (0b0011, ALL)).to(2).act == act.showing((SUN, FACE_DOWN))


def test_what_has_no_face_is_told_to_all_alike() -> None:
    for event in (Shuffled(1), Counted("cash", 3, 1), Placed(4, 2, 0), Scored(True, (1, 2, 3))):
        assert {event.to(viewer) for viewer in range(4)} == {event}


def test_zones_made_given_away_and_dropped_are_told() -> None:
    toy = empty_table()
    pack = toy.make(OPEN_PACK, 1)
    toy.place(pack, CLOSED, 2)
    toy.drop(pack)
    other = toy.make(PACK, 0)
    toy.count_zone(other, 0, 2)
    toy.enter([SUN], toy.purse[0])
    toy.count_card(toy.purse[0], 0, 0, 9)
    assert [event for event in toy.log or () if not isinstance(event, Moved)] == [
        Placed(pack.number, OPEN_PACK.number, 1),
        Placed(pack.number, CLOSED.number, 2),
        Placed(pack.number, 0, 2),
        Placed(other.number, PACK.number, 0),
        Counted("markers", 2, None, other.number),
        Counted("since", 9, None, toy.purse[0].number, 0),
    ]


def test_a_game_without_a_log_tells_nothing_and_plays_the_same() -> None:
    one, other = empty_table(), empty_table()
    other.log = None
    for toy in (one, other):
        toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
        toy.move(SUN, toy.hand[0], toy.hand[1])
        toy.exchange(toy.hand[0], toy.hand[1])
        toy.tell_scores(over=True)
    assert other.log is None
    assert one.view(2) == other.view(2)
