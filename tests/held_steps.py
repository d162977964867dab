"""Steps that hold all that a step can hold. They are not in `tests.engine`, whose steps are those of the toy game."""

from __future__ import annotations

from typing import ClassVar

from cutpurse.engine.agenda import Fields, Step

__all__ = ["Hold", "HoldMore", "Written"]


class Hold(Step):
    victim: int
    shown: tuple[int, ...]
    is_last: bool = False


class HoldMore(Hold):
    card: int = 0


class Written(Step):
    fields: ClassVar[Fields] = {"victim": int}

    def __init__(self, seat: int, victim: int) -> None:
        super().__init__(seat)
        self.victim = victim
