"""A release: the workflow asks for no more rights than it needs, and the check finds what users would find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are another package
from packaging.tags import sys_tags

from cutpurse.wire.toml_file import read_toml
from cutpurse.wire.version import VERSION
from scripts.long_description import RELATIVE, RELEASE_VARIABLES
from scripts.release_check import check_description, fitting, index_files, served
from tests.roots import CHECKOUT

WORKFLOWS = CHECKOUT / ".github/workflows"
JOBS: dict[str, dict[str, Any]] = yaml.safe_load((WORKFLOWS / "release.yml").read_text(encoding="utf-8"))["jobs"]
PROJECT: dict[str, Any] = read_toml(CHECKOUT / "pyproject.toml", "no project")


def test_only_a_tag_publishes_and_only_after_everything_was_tried() -> None:
    publish = JOBS["publish"]
    assert publish["if"] == "github.ref_type == 'tag'"
    assert sorted(publish["needs"]) == sorted(JOBS.keys() - {"publish", "site"})
    assert publish["environment"] == "pypi"
    rights = {name: job.get("permissions", {}) for name, job in JOBS.items()}
    assert {name for name, right in rights.items() if "id-token" in right} == {"publish", "images", "site"}
    assert "make release-check" in [step.get("run") for step in JOBS["pure"]["steps"]]
    for step in JOBS["images"]["steps"]:  # without a tag nothing is pushed
        if "login" in step.get("uses", "") or "attest" in step.get("uses", ""):
            assert step["if"] == "github.ref_type == 'tag'"
    for job in JOBS.values():
        assert job["timeout-minutes"] <= 90


def test_the_site_is_built_with_what_is_tried_and_published_after_the_release() -> None:
    site = JOBS["site"]
    assert (site["if"], site["needs"]) == ("github.ref_type == 'tag'", ["publish"])
    assert [step["uses"].partition("@")[0] for step in site["steps"]] == ["actions/deploy-pages"]
    steps = JOBS["pure"]["steps"]
    build = next(step for step in steps if "cutpurse site build --into site" in step.get("run", ""))
    assert "$LEAGUE" in build["run"]
    (upload,) = [step for step in steps if "upload-pages-artifact" in step.get("uses", "")]
    assert upload["with"] == {"path": "site"}
    assert steps.index(build) < steps.index(upload)


def test_actions_are_pinned_by_their_commits_alike_in_all_workflows() -> None:
    texts = [file.read_text(encoding="utf-8") for file in WORKFLOWS.glob("*.yml")]
    uses = {line for text in texts for line in re.findall(r"uses: (.*)", text)}
    assert {line for line in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line)} == set()
    assert len({line.partition("@")[0] for line in uses}) == len(uses) > 5


@pytest.mark.parametrize("environment", [{}, {"GITHUB_REPOSITORY": "someone/cutpurse", "GITHUB_SHA": "3f2a9c01"}])
def test_a_release_has_a_readme_whose_pictures_and_links_are_seen_everywhere(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "hatchling", "metadata", "readme"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    built = subprocess.run(
        command, cwd=CHECKOUT, env=inherited | environment, capture_output=True, text=True, check=True
    ).stdout
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    relative = [(link["picture"], link["path"]) for link in RELATIVE.finditer(readme)]
    assert len(relative) > 10
    assert [path for _, path in relative if not (CHECKOUT / path).exists()] == []
    if not environment:
        assert built.strip() == readme.strip()
        return
    assert RELATIVE.findall(built) == []
    raw, page = (
        "https://raw.githubusercontent.com/someone/cutpurse/3f2a9c01/",
        "https://github.com/someone/cutpurse/blob/3f2a9c01/",
    )
    assert [path for picture, path in relative if f"]({raw if picture else page}{path})" not in built] == []
    assert PROJECT["tool"]["cibuildwheel"]["linux"]["environment-pass"] == [*RELEASE_VARIABLES]


def test_the_check_finds_a_wheel_whose_pictures_an_index_would_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "cutpurse-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("cutpurse-1.0.dist-info/METADATA", "Name: cutpurse\n\n![A table](docs/table.png)\n")
    monkeypatch.delenv("GITHUB_SHA", raising=False)
    check_description(wheel)  # not built for a release
    monkeypatch.setenv("GITHUB_SHA", "3f2a9c01")
    with pytest.raises(
        SystemExit, match=r"^release-check: cutpurse-1\.0-py3-none-any\.whl: its README has addresses that "
    ):
        check_description(wheel)


def test_the_pages_and_the_changelog_name_the_version() -> None:
    pages = [page for page in (CHECKOUT / "docs").rglob("*.md") if page.name != "messages.md"]  # which has examples
    texts = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert set(re.findall(r"\bcutpurse(?:-python)? (\d+\.\d+\.\d+)", texts)) == {VERSION}
    headings = re.findall(r"^## \[(.*)\]", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(heading for heading in headings if heading != "Unreleased") == VERSION


def test_compiled_wheels_are_built_for_each_python_that_there_are_classifiers_of() -> None:
    classifiers = PROJECT["project"]["classifiers"]
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    build = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert build == [f"cp{python.replace('.', '')}-*" for python in pythons]
    systems = JOBS["compiled"]["strategy"]["matrix"]["os"]
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}
    assert "ubuntu-24.04-arm" in systems


def test_an_index_lists_the_files_of_a_package_under_its_plain_name(tmp_path: Path) -> None:
    for name in ("cutpurse-1.0-py3-none-any.whl", "sse_starlette-3.0-py3-none-any.whl"):
        (tmp_path / name).write_bytes(name.encode())
    index_files(tmp_path.glob("*.whl"), tmp_path / "index")
    with served(tmp_path / "index") as url:
        with urllib.request.urlopen(f"{url}/sse-starlette/", timeout=240) as page:
            (link,) = re.findall(r'href="([^"]*\.whl)"', page.read().decode())
        with urllib.request.urlopen(f"{url}/sse-starlette/{link}", timeout=240) as file:
            assert file.read() == b"sse_starlette-3.0-py3-none-any.whl"


def test_a_wheel_for_another_machine_is_not_tried_and_the_pure_one_is_first(tmp_path: Path) -> None:
    tag = next(iter(sys_tags()))
    names = [f"cutpurse-1.0-{tag}.whl", "cutpurse-1.0-cp311-cp311-win_arm64.whl", "cutpurse-1.0-py3-none-any.whl"]
    assert [wheel.name for wheel in fitting(tmp_path / name for name in names)] == [names[2], names[0]]
