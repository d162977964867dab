"""The registration of the second implementations for pytest's detailed assertion messages."""

import pytest

from cutpurse.games import GAMES

pytest.register_assert_rewrite("tests.lockstep.driver", *(f"tests.lockstep.{name}" for name in GAMES))
