"""Assertions of the tellings tell what differs, as those of tests do."""

import pytest

from cutpurse.games import GAMES

pytest.register_assert_rewrite("tests.lockstep.driver", *(f"tests.lockstep.{name}" for name in GAMES))
