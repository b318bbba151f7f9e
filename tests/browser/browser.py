"""Chromium without a window, and pages in it: what the tests ask of them, with types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from katapi.inspecting.document import page
from katapi.inspecting.view import View

Scheme: TypeAlias = Literal["light", "dark"]

DESKTOP = (1440, 900)
PHONE = (360, 740)


class Keyboard(Protocol):
    """The keys of a page."""

    def press(self, key: str) -> None: ...

    def type(self, text: str) -> None: ...


class Event(Protocol):
    """What is told of a page: a message on its console, an error, or something that it asked for."""

    @property
    def text(self) -> str: ...

    @property
    def url(self) -> str: ...


class Page(Protocol):
    """A page of playwright, as far as it is asked for something here."""

    keyboard: Keyboard

    def on(self, event: str, listener: Callable[[Event], None]) -> None: ...

    def goto(self, url: str) -> object: ...

    def evaluate(self, expression: str, arg: object = None) -> object: ...

    def click(self, selector: str) -> None: ...

    def hover(self, selector: str) -> None: ...

    def focus(self, selector: str) -> None: ...

    def set_viewport_size(self, size: dict[str, int]) -> None: ...


class Context(Protocol):
    """What pages share: a window of its own, without what others stored."""

    pages: list[Page]

    def new_page(self) -> Page: ...

    def close(self) -> None: ...


class Started(Protocol):
    """A browser of playwright."""

    def new_context(self, *, viewport: dict[str, int], color_scheme: Scheme, offline: bool) -> Context: ...


class Opened:
    """A page that was opened: its `page`, and what it complained of or asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked_for: list[str] = []

    def settle(self) -> None:
        """Waits until the page has drawn what follows from its size and from where it was scrolled to."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def number(self, expression: str) -> float:
        """The number that an expression of the page's script gives."""
        found = self.page.evaluate(expression)
        assert isinstance(found, int | float), found
        return found

    def text(self, expression: str) -> str:
        """The text that an expression gives."""
        found = self.page.evaluate(expression)
        assert isinstance(found, str), found
        return found

    def texts(self, expression: str) -> list[str]:
        """The texts that an expression gives."""
        found = self.page.evaluate(expression)
        assert isinstance(found, list), found
        return [str(one) for one in found]

    def shown(self) -> dict[str, str]:
        """What stands among the details, by name."""
        rows = self.page.evaluate(
            "[...document.querySelectorAll('#details dl > div')].map(row => [...row.children].map(c => c.textContent))"
        )
        assert isinstance(rows, list)
        return {str(name): str(value) for name, value in rows}


def fits(opened: Opened, width: int) -> None:
    """Nothing is wider than the window."""
    assert opened.number("document.documentElement.scrollWidth") <= width
    wide = (
        "[...document.querySelectorAll('body *')].filter(n => n.getBoundingClientRect().right > innerWidth + 1"
        " && !n.closest('.list')).map(n => n.className || n.tagName)"
    )
    assert opened.texts(wide) == []
    rows = "[...document.querySelectorAll('.tokens .row')].filter(r => r.scrollWidth > r.clientWidth)"
    assert opened.number(f"{rows}.length") == 0


class Browser:
    """A browser that opens views from the disk, without a network."""

    def __init__(self, started: Started, folder: Path) -> None:
        self._started = started
        self._folder = folder
        self._count = 0

    @contextmanager
    def open(self, view: View, scheme: Scheme = "light", size: tuple[int, int] = DESKTOP) -> Iterator[Opened]:
        """The page of a view. It must complain of nothing, and ask for nothing but itself."""
        self._count += 1
        file = self._folder / f"{self._count}.html"
        file.write_text(page(view), encoding="utf-8")
        width, height = size
        context = self._started.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
        )
        try:
            opened = Opened(context.new_page())
            opened.page.on("console", lambda event: opened.complaints.append(event.text))
            opened.page.on("pageerror", lambda event: opened.complaints.append(str(event)))
            opened.page.on("request", lambda event: opened.asked_for.append(event.url))
            opened.page.goto(file.as_uri())
            opened.settle()
            yield opened
            assert opened.complaints == []
            assert opened.asked_for == [file.as_uri()]
        finally:
            context.close()


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Chromium, as `make test-browser` names it in CHROMIUM; pages are written to `folder`."""
    from playwright.sync_api import sync_playwright

    program = os.environ["CHROMIUM"]
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no user namespace to put it in
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield Browser(started, folder)
        finally:
            started.close()
