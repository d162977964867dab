"""Newcomers write bots in the workshop: they see faults at their lines, win, and no bot takes the tab along.

It needs the packages that `npm ci --prefix server/cutpurse/page/site --ignore-scripts` gets.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from cutpurse.sdk.starter.templates import template
from cutpurse.server.runners.choosing import runner_named
from tests.page.accounts import page_of_world
from tests.page.browser import PATIENCE_MS, Watched
from tests.page.test_every_page import judged_in_both_colours, widest
from tests.parts.open_parts import parts_with

pytestmark = pytest.mark.full

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
BOT = """\
class Bot:
    def choose(self, view, decision):
        {line}
        return decision.options[0]
"""


def open_workshop(page: Page, public: str) -> None:
    page.goto(f"{public}workshop.html")
    page.wait_for_selector("html[data-workshop]", timeout=PATIENCE_MS)


def write(page: Page, bot: str) -> None:
    """Write in place of what is in the editor."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(bot)


def run(page: Page, button: str = "Run") -> None:
    """Press a button, and wait until the work is done."""
    page.evaluate("document.documentElement.dataset.works = 'yes'")
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_selector("html[data-works=no]", timeout=PATIENCE_MS)


def test_a_newcomer_mends_a_fault_and_beats_random(watched: Watched, public: str) -> None:
    page = watched.page()
    page.goto(public)
    page.get_by_role("link", name="Write a bot in Python, in this tab").click()
    page.wait_for_selector("html[data-workshop]", timeout=PATIENCE_MS)
    expect(page.locator(".cm-content")).to_contain_text("Plays Greed")
    starter = template("greed")
    write(page, starter.replace("view.me.sets", "view.me.stes"))
    run(page)
    line = starter[: starter.index("view.me.sets")].count("\n") + 1
    expect(page.locator("#faults")).to_contain_text(f"my_bot.py:{line}: AttributeError:")
    expect(page.locator("#faults")).to_contain_text("did you mean 'sets'?")
    assert (
        page.locator(".cm-lintRange-error").inner_text().strip()
        == starter.splitlines()[line - 1].replace("view.me.sets", "view.me.stes").strip()
    )
    page.get_by_role("button", name="Store this version").click()
    write(page, starter)
    run(page)
    expect(page.locator("#results")).to_contain_text("Your bot beats random.")
    expect(page.locator("#faults")).to_be_empty()
    assert judged_in_both_colours(page) == []
    run(page, "Compare with the stored version")
    expect(page.locator("#verdict")).to_contain_text(re.compile("^better: gain"))
    page.get_by_role("link", name="Replay a match").click()
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator("#replay")).to_contain_text("my_bot.py")
    page.go_back()
    page.wait_for_selector("html[data-workshop]", timeout=PATIENCE_MS)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the folder").click()
    archive = ZipFile(BytesIO(Path(download.value.path()).read_bytes()))
    assert download.value.suggested_filename == "my_bot.zip"
    assert archive.read("my_bot.py").decode() == starter
    assert "bot.toml" in archive.namelist()


def test_a_bot_without_end_or_measure_is_stopped_and_named_and_the_tab_lives(watched: Watched, public: str) -> None:
    page = watched.page()
    open_workshop(page, public)
    faults = page.locator("#faults")
    write(page, BOT.format(line="while True: pass"))
    run(page)
    expect(faults).to_contain_text(re.compile(r"it did not return within \d+ s in match 0, decision "))
    assert page.evaluate("1 + 1") == 2
    write(page, BOT.format(line="eaten = ['x']\n        while True: eaten.append(eaten[0] * 10_000_000)"))
    run(page)
    expect(faults).to_contain_text("it used more than 1 GB of memory: my_bot.py:4: MemoryError")
    write(page, BOT.format(line="while True: print('hello')"))
    run(page)
    expect(faults).to_contain_text("it printed more than 2,000,000 characters in my_bot.py:3")
    expect(page.locator("#prints")).to_contain_text("hello\nhello")
    write(page, BOT.format(line="import os; os._exit(1)"))
    run(page)
    expect(faults).to_contain_text("it ended Python in match 0, decision ")
    write(page, template("greed"))
    run(page)
    expect(page.locator("#results")).to_contain_text("Your bot beats random.")
    watched.trouble.clear()


@pytest.mark.parametrize(
    "storage",
    [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
    ],
)
def test_a_forbidden_or_full_storage_loses_nothing_and_is_said(watched: Watched, public: str, storage: str) -> None:
    page = watched.page(**PHONE)
    page.add_init_script(storage)
    open_workshop(page, public)
    expect(page.locator("#unkept")).to_be_hidden()
    write(page, BOT.format(line="print('mine')"))
    expect(page.locator("#unkept")).to_contain_text("your bot lasts as long as this tab")
    page.get_by_label("Game").select_option("szmal")
    expect(page.locator(".cm-content")).to_contain_text("Plays Szmal")
    page.get_by_label("Game").select_option("greed")
    expect(page.locator(".cm-content")).to_contain_text("print('mine')")
    run(page)
    expect(page.locator("#prints")).to_contain_text("mine")
    assert widest(page) == ""


def test_a_bot_is_there_again_without_a_network_and_the_keyboard_gets_out(watched: Watched, public: str) -> None:
    page = watched.page()
    open_workshop(page, public)
    write(page, "")
    page.keyboard.type("class Bot:")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.locator(".cm-content").inner_text().splitlines()[1] == " " * 8  # 4 of Enter, 4 of Tab
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "editor"
    write(page, template("greed"))
    run(page)
    page.context.set_offline(True)
    page.reload()
    page.wait_for_selector("html[data-workshop]", timeout=PATIENCE_MS)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#results")).to_contain_text("Your bot beats random.", timeout=PATIENCE_MS)


def test_without_the_editor_a_plain_field_does(watched: Watched, public: str) -> None:
    page = watched.page(service_workers="block")
    page.route("**/editor.js", lambda route: route.abort())
    open_workshop(page, public)
    page.locator("#source").fill("import nothing_here")
    run(page)
    expect(page.locator("#faults")).to_contain_text("my_bot.py:1: ModuleNotFoundError: No module named 'nothing_here'")
    watched.trouble.clear()


def test_a_bot_is_handed_to_a_league_and_its_owner_submits_it(watched: Watched, public: str, short: Path) -> None:
    if (why := runner_named("bubblewrap").missing()) is not None:
        pytest.skip(why)
    with page_of_world(short, parts_with(submissions="bubblewrap")) as (world, league):
        page = watched.page()
        open_workshop(page, public)
        page.get_by_label("Name").fill("sneak")
        page.get_by_label("Address of a league").fill(f"{league}/ladders")
        page.get_by_role("button", name="Hand it in").click()
        with page.context.expect_page() as opened:
            page.get_by_role("link", name=f"Open {league} with your bot in its form").click(timeout=PATIENCE_MS)
        form = opened.value
        form.wait_for_url("**/sign-in")
        assert form.locator("input[name=token]").input_value() == ""
        form.fill("input[name=token]", world.tokens["ann"])
        form.get_by_role("button", name="Sign in", exact=True).click()
        form.wait_for_url("**/me")
        expect(form.locator("#handed")).to_have_text("A link has put a bot into this form. Submit it if you wrote it.")
        form.keyboard.press("Enter")  # the button has the focus
        form.wait_for_url("**/me/submissions/sneak/1")
        for nonsense in ("#bot=sneak", "#bot=sneak:<b>", f"#bot=sneak:{'A' * 700_000}"):
            form.goto("about:blank")
            form.goto(f"{league}/me{nonsense}")
            form.wait_for_url("**/me")
            assert form.locator("#handed").is_hidden()
            assert form.evaluate("document.querySelector('input[name=archive]').files.length") == 0
