"""The command that writes the generated pages: `python -m scripts.reference`."""

from __future__ import annotations

from scripts.reference import FOLDER, PAGES, page_text

if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page_text(name), encoding="utf-8")
