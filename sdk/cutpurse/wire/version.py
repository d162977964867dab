"""The version of this distribution; its metadata reads it from here."""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.2.0"
