"""A browser for tests of the page: chromium, driven by Playwright, with checks of what a page must never do.

If Debian's `chromium-headless-shell` is installed, it is used: the same engine without windows, which needs a third of
the CPU time. Otherwise, and for features that need windows, `chromium` itself is used.

A page must have no console errors, raise none, and send no request to another host. `Watched` records each of these,
and the fixtures of `conftest.py` fail the test. If Playwright or chromium is missing, tests that need a browser are
skipped, with the reason.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, Request, sync_playwright

from tests.looking import PATIENCE_S

__all__ = ["PATIENCE_MS", "Watched", "chromium", "keeping_pages"]

_SHELL: Final = "chromium-headless-shell"
_BROWSER: Final = "chromium"
PATIENCE_MS: Final = PATIENCE_S * 1000  # maximum of every wait in a page
_HERE: Final = frozenset({"127.0.0.1", "localhost"})
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def _found(*commands: str) -> str:
    """Return the path of the first installed command; skip the test if there is none."""
    found = next((path for path in map(shutil.which, commands) if path is not None), None)
    if found is None:
        pytest.skip(f"no browser: {' or '.join(commands)} is not installed")
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser without a window; skip the test if none is installed."""
    command = _found(_SHELL, _BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def keeping_pages(browser: Browser) -> Iterator[Browser]:
    """Run a browser with the back-forward cache, as people have it: going back shows a page as it was left.

    After going back, a test can wait only for `commit`, because such a page is not loaded again.
    """
    kind = browser.browser_type
    off = "--disable-back-forward-cache"  # Playwright's default
    kept = kind.launch(executable_path=_found(_BROWSER), args=list(_FLAGS), ignore_default_args=[off])
    try:
        yield kept
    finally:
        kept.close()


class Watched:
    """Contexts of a browser, each like another person's, with checks of their pages.

    `trouble` has a line for each violation. A test that provokes an error removes its lines with `forgive`.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.trouble: list[str] = []
        self.asked: list[str] = []  # the address of every request

    def page(self, **wishes: Any) -> Page:
        """Open a page in a new context; `wishes` are options of `Browser.new_context`, such as dark colours."""
        context = self._browser.new_context(**wishes)
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        context.on("page", self._watch)
        return context.new_page()

    def forgive(self, words: str) -> None:
        """Remove the lines of trouble with these words.  Fails if there are none."""
        kept = [line for line in self.trouble if words not in line]
        assert len(kept) < len(self.trouble), f"nothing of {words!r} in {self.trouble}"
        self.trouble[:] = kept

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()

    # -- events of pages
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
