"""The version of this distribution, which its metadata reads from here, and of the protocol that it speaks."""

from typing import Final

__all__ = ["PROTOCOL", "VERSION"]

VERSION: Final = "0.3.0"
PROTOCOL: Final = (1, 1)  # major and minor version
