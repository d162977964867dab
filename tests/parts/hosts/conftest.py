"""The fixtures of the tests of places."""

from tests.parts.submissions.conftest import short

__all__ = ["short"]
