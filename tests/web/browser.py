"""A browser for tests of the page: chromium, driven by Playwright, which complains about what a page must never do.

Where Debian's `chromium-headless-shell` is installed it is taken: the same engine without the windows around it, which
costs a third of the processor's time. Else, and for what only a browser with windows does, it is `chromium` itself.

A page must load without an error on its console, raise none, and ask nothing of another host: `Watched` keeps a line of
each, and the fixtures of `conftest.py` fail the test that has one. Where Playwright or chromium is missing, tests that
need a browser are skipped, with the reason.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, Request, sync_playwright

__all__ = ["PATIENCE_MS", "Watched", "chromium", "keeping_pages"]

_SHELL: Final = "chromium-headless-shell"
_BROWSER: Final = "chromium"
PATIENCE_MS: Final = 20_000  # of every wait; the machine may be busy
_HERE: Final = frozenset({"127.0.0.1", "localhost"})
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def _found(*commands: str) -> str:
    """The path of the first of these that is here.  Skips the test where there is none."""
    found = next((path for path in map(shutil.which, commands) if path is not None), None)
    if found is None:
        pytest.skip(f"no browser: {' or '.join(commands)} is not installed")
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window.  Skips the test where there is none."""
    command = _found(_SHELL, _BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def keeping_pages(browser: Browser) -> Iterator[Browser]:
    """One like this that keeps a page as it was left, and shows that when somebody goes back, as browsers of people do.

    Whoever goes back in it waits for nothing more than `commit`: such a page is not loaded.
    """
    kind = browser.browser_type
    off = "--disable-back-forward-cache"  # what Playwright tells a browser otherwise
    kept = kind.launch(executable_path=_found(_BROWSER), args=list(_FLAGS), ignore_default_args=[off])
    try:
        yield kept
    finally:
        kept.close()


class Watched:
    """Contexts of a browser, each as if of another person, whose pages are watched.

    trouble: what they did that a page must not. A test that provokes an error takes its lines out of it (`forgive`).
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.trouble: list[str] = []
        self.asked: list[str] = []  # the address of every request

    def page(self, **wishes: Any) -> Page:
        """A page in a context of its own; wishes: as `Browser.new_context` has them, a phone or dark colours."""
        context = self._browser.new_context(**wishes)
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        context.on("page", self._watch)
        return context.new_page()

    def forgive(self, words: str) -> None:
        """Take the lines with these words out of the trouble.  Fails if there are none."""
        kept = [line for line in self.trouble if words not in line]
        assert len(kept) < len(self.trouble), f"nothing of {words!r} in {self.trouble}"
        self.trouble[:] = kept

    def close(self) -> None:
        """No page is open any more."""
        for context in self._contexts:
            context.close()

    # -- what pages do
    def _watch(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", self._raised)
        page.on("request", self._requested)
        page.on("dialog", self._asked_in_a_box)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.trouble.append(f"console {message.type}: {message.text} at {message.location.get('url', '')}")

    def _raised(self, error: Error) -> None:
        self.trouble.append(f"error: {error.message}")

    def _asked_in_a_box(self, dialog: Dialog) -> None:
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        self.asked.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in _HERE:
            self.trouble.append(f"foreign request: {request.url}")
