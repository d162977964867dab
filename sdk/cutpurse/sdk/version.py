"""Which version this is; the distribution takes its own from here."""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.1.0"
