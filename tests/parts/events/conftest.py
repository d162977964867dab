"""The fixtures of the tests of events."""

from tests.server.conftest import world

__all__ = ["world"]
