"""The list of documents for language models, `docs/llms.txt`, in the form of llmstxt.org; made from `docs/index.md`."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["text"]

_HEAD = """# Cutpurse

> Bots battle in five card games with hidden information: in Python without a server, or in any language over gRPC.
> Servers rate them on ladders, and every match can be replayed.

Commands have `--help` and `--json`. `cutpurse bot init NAME --game GAME` writes a bot with tests and an AGENTS.md,
`cutpurse rules GAME` prints a game's rules, and `cutpurse mcp --author` offers tools to coding agents. All pages in one
text: `/docs/llms-full.txt` on a server's page, or `python -m scripts.reference --whole FILE` in a checkout.
"""
_LINK = re.compile(r"\]\(([\w./-]+\.md)\)")


def text(docs: Path) -> str:
    """Return the list: the sections of the index, with the title and the purpose of each page."""
    parts, listed = [_HEAD], set[str]()
    for section in re.split(r"^## ", (docs / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        paths = [path for path in _LINK.findall(body) if path not in listed]
        listed.update(paths)
        parts.append(f"## {title}\n\n" + "".join([_entry(docs, path) for path in dict.fromkeys(paths)]))
    return "\n".join(parts)


def _entry(docs: Path, path: str) -> str:
    page = re.sub(r"<!--.*?-->", "", (docs / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    title, *paragraphs = [part.strip() for part in re.split(r"\n\s*\n", page) if part.strip()]
    words = next(part for part in paragraphs if not part.startswith(("```", "![")))
    purpose = " ".join(words.split()).removeprefix("**Goal:** ").removeprefix("**Aim.** ")
    purpose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", purpose)  # the text of links alone
    sentence = re.split(r"(?<=[.:])\s", purpose, maxsplit=1)[0].rstrip(".:")
    return f"- [{title.removeprefix('# ')}]({path}): {sentence}\n"
