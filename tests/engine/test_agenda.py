"""Steps are plain values: equal by what they hold, saved by name, and copied by pickle."""

from __future__ import annotations

import pickle

import pytest

from cutpurse.engine.agenda import PASS, Step
from cutpurse.engine.events import Asked
from tests.engine.toy import Ask, Toy, Window
from tests.held_steps import Hold, HoldMore, Written


def test_steps_are_equal_if_their_class_and_fields_are() -> None:
    assert Ask(1) == Ask(1)
    assert hash(Ask(1)) == hash(Ask(1))
    assert Ask(1) != Ask(2)
    assert Ask(-1) != Window(-1)
    assert Ask(1) != 1


def test_a_step_prints_what_it_holds() -> None:
    assert repr(Ask(1)) == "Ask(seat=1)"


def test_a_step_is_saved_by_name_and_made_again() -> None:
    name, *values = Ask(3).save()
    assert Toy.steps()[str(name)].load(values) == Ask(3)
    assert pickle.loads(pickle.dumps(Window(-1))) == Window(-1)


def test_steps_happen_in_the_order_they_are_named() -> None:
    toy = Toy.new(2)
    toy.agenda.clear()
    toy.then(Window(-1))
    toy.then(Ask(0), Ask(1))
    assert toy.agenda == [Window(-1), Ask(1), Ask(0)]


def test_steps_that_ran_are_listed_where_that_is_wanted() -> None:
    toy = Toy.new(2)
    toy.log, toy.step_log = [], []
    for _ in range(3):  # the first seat passes, then nobody shows a star
        toy.choose(toy.waiting()[0], PASS)
    ((events, step),) = toy.step_log
    assert step == Ask(1)
    assert toy.log[events:] == [Asked("take_one", (1,))]
    assert toy.fork().step_log is None


def test_a_step_without_a_rule_cannot_be_carried_out() -> None:
    with pytest.raises(TypeError, match="Step does not happen by itself"):
        Step(0).run(None)


def test_a_step_holds_what_its_class_declares() -> None:
    assert Hold.fields == {"victim": int, "shown": tuple, "is_last": bool}
    held = Hold(0, 1, (2, 3))
    assert (held.seat, held.victim, held.shown, held.is_last) == (0, 1, (2, 3), False)
    assert held == Hold(0, shown=(2, 3), victim=1, is_last=False) != Hold(0, 1, (2, 3), True)
    assert Hold.load(held.save()[1:]) == held == pickle.loads(pickle.dumps(held))
    assert repr(held) == "Hold(seat=0, victim=1, shown=(2, 3), is_last=False)"


def test_a_step_of_another_step_holds_more() -> None:
    assert repr(HoldMore(0, 1, (), card=5)) == "HoldMore(seat=0, victim=1, shown=(), is_last=False, card=5)"


def test_a_step_with_an_init_of_its_own_names_its_fields() -> None:
    assert repr(Written(0, 1)) == "Written(seat=0, victim=1)"


def test_a_step_that_lacks_a_field_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'shown'"):
        Hold(0, 1)  # type: ignore[call-arg]


def test_a_step_cannot_hold_an_object() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.card is str; a step holds int, bool, tuple\[int, \.\.\.\]"):
        type("Wrong", (Step,), {"__module__": __name__, "__annotations__": {"card": "str"}})
