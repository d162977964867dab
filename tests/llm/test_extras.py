"""Without its package the command says what to install, and nothing else needs it."""

from __future__ import annotations

import subprocess
import sys

LINE = "mcp is not installed; in a checkout of Cutpurse, this does it: pip install '.[llm]'"


def run(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-B", "-c", source], capture_output=True, text=True, check=False)


def test_a_missing_package_is_a_line_that_says_what_to_install() -> None:
    done = run(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'mcp': raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from cutpurse.cli.main import main\n"
        "sys.argv = ['cutpurse', 'mcp']; main()"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"cutpurse: {LINE}\n")


def test_a_model_in_code_needs_no_package() -> None:
    done = run(
        "import sys\n"
        "import cutpurse.llm, cutpurse.cli.main, cutpurse.cli.commands.mcp\n"
        "print([name for name in ('mcp', 'pydantic', 'anyio', 'cutpurse.llm.mcp_tools') if name in sys.modules])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
