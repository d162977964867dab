"""The metadata hook for the long description: README.md with absolute addresses.

An index shows the README of a package where relative addresses lead nowhere. The workflow of a release knows the
repository and the commit (GITHUB_REPOSITORY, GITHUB_SHA). Without them, addresses stay relative.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["RELATIVE", "RELEASE_VARIABLES", "LongDescriptionHook"]

RELEASE_VARIABLES: Final = ("GITHUB_REPOSITORY", "GITHUB_SHA")
RELATIVE: Final = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<path>[^)]+)\)")


def make_absolute(text: str, repository: str, commit: str) -> str:
    """Replace relative addresses of Markdown: pictures by raw files, links by pages of a repository at a commit."""

    raw = f"https://raw.githubusercontent.com/{repository}/{commit}/"
    page = f"https://github.com/{repository}/blob/{commit}/"
    return RELATIVE.sub(
        lambda link: f"{link['picture']}[{link['text']}]({raw if link['picture'] else page}{link['path']})", text
    )


class LongDescriptionHook(MetadataHookInterface):
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md, and make its addresses absolute where the repository and the commit are known."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository, commit = [os.environ.get(name) for name in RELEASE_VARIABLES]
        if repository and commit:
            text = make_absolute(text, repository, commit)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
