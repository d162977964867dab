"""How Cutpurse is installed is said once: by `cutpurse.wire.installation`, and by the page that other pages link."""

from __future__ import annotations

import re
import shlex
from typing import Any

from cutpurse.wire.installation import how_to_install, install_command
from cutpurse.wire.toml_file import read_toml
from tests.roots import CHECKOUT, modules

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
INSTALL = CHECKOUT / "docs/how-to/install.md"
PROJECT: dict[str, Any] = read_toml(CHECKOUT / "pyproject.toml", "no project")["project"]
FROM_AN_INDEX = re.compile(r"pip install '?cutpurse|cutpurse\[")


def test_the_commands_install_from_a_checkout() -> None:
    assert install_command() == "pip install ."
    assert shlex.split(install_command("server", "web")) == ["pip", "install", ".[server,web]"]
    assert how_to_install("learn") == "in a checkout of Cutpurse, this does it: pip install '.[learn]'"


def test_a_page_installs_what_there_is() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert FROM_AN_INDEX.findall(text) == [], page
        named = {name for extras in re.findall(r"pip install '\.\[([^\]]*)\]'", text) for name in extras.split(",")}
        assert named <= PROJECT["optional-dependencies"].keys(), page
        if named and page != INSTALL:
            assert re.search(r"\]\((?:[\w./-]*/)?install\.md\)", text), f"{page}: link docs/how-to/install.md"


def test_the_page_lists_every_extra() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", INSTALL.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(PROJECT["optional-dependencies"])


def test_one_module_knows_the_command() -> None:
    texts = {module.name: module.file.read_text(encoding="utf-8") for module in modules()}
    assert [name for name, text in texts.items() if "pip install" in text] == ["cutpurse.wire.installation"]
    assert [name for name, text in texts.items() if FROM_AN_INDEX.search(text)] == []
    templates = [*CHECKOUT.glob("server/cutpurse/page/**/*.html"), *CHECKOUT.glob("server/**/*.po")]
    assert len(templates) > 20
    assert [file.name for file in templates if "pip install" in file.read_text(encoding="utf-8")] == []


def test_every_extra_that_a_message_names_exists() -> None:
    call = re.compile(r"(?:needs|how_to_install|install_command)\(((?:[\"']\w+[\"'](?:, )?)+)\)")
    texts = [module.file.read_text(encoding="utf-8") for module in modules()]
    named = {extra for text in texts for extras in call.findall(text) for extra in re.findall(r"\w+", extras)}
    assert {"server", "web", "learn", "cluster", "sandbox"} <= named <= PROJECT["optional-dependencies"].keys()
