"""The command that writes the generated pages: `python -m scripts.reference`; with `--whole FILE`, all pages in one."""

from __future__ import annotations

import sys
from pathlib import Path

from cutpurse.page.documents import whole_text
from scripts.reference import FOLDER, PAGES, page_text
from scripts.reference.llms import text

if __name__ == "__main__":
    if sys.argv[1:2] == ["--whole"]:
        Path(sys.argv[2]).write_text(whole_text(), encoding="utf-8")
    else:
        for name in PAGES:
            (FOLDER / f"{name}.md").write_text(page_text(name), encoding="utf-8")
        (FOLDER.parent / "llms.txt").write_text(text(FOLDER.parent), encoding="utf-8")
