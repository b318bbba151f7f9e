"""How the page looks in Chromium: contrast in light and dark, widths from a phone on, a hundred thousand tokens."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from katapi.runtime.budget.policy import Allotment, Budget, Misfit, Order, Section
from tests.browser.browser import DESKTOP, PHONE, Browser, Scheme, fits
from tests.browser.views import VIEW, big, differing, hostile
from tests.inspecting.inputs import long_talk, looked_at

pytestmark = pytest.mark.browser

CONTRAST = """() => {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const color = (text) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data]; };
  const linear = (value) => { const v = value / 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const ground = (node) => {
    const found = node ? color(getComputedStyle(node).backgroundColor) : [255, 255, 255, 255];
    return found[3] === 255 ? found : ground(node.parentElement);
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !node.getClientRects().length || node.closest('.beside')) continue;
    const [one, two] = [light(color(getComputedStyle(node).color)), light(ground(node))].sort((a, b) => b - a);
    found.push([(one + .05) / (two + .05), node.className + ': ' + node.textContent.slice(0, 40)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["one", "two"])
def test_every_text_can_be_read(browser: Browser, scheme: Scheme, name: str) -> None:
    """Text against what stands behind it has the contrast that WCAG 2 asks for at level AA: 4.5 to 1."""
    with browser.open(looked_at("llama2", long_talk(2, 2))[0] if name == "one" else differing(), scheme) as opened:
        opened.page.focus("#tokens-0")
        opened.page.keyboard.press("ArrowRight")
        found = opened.page.evaluate(CONTRAST)
        assert isinstance(found, list)
        assert len(found) > 40
        assert [(text, contrast) for contrast, text in found if contrast < 4.5] == []
        ground = opened.text("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground.strip("rgb()").split(","))) < 128 * 3) is (scheme == "dark")


def test_kinds_differ_in_colour(browser: Browser) -> None:
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        with browser.open(VIEW, scheme) as opened:
            grounds = [
                opened.text(f"getComputedStyle(document.querySelector('#tokens-0 .{kind}')).backgroundColor")
                for kind in ("control", "literal", "content")
            ]
            assert len({*grounds}) == 3
            border = "getComputedStyle(document.querySelector('#tokens-0 .token{}')).borderBottomColor"
            assert opened.text(border.format(".sampled")) != opened.text(border.format(":not(.sampled)"))


@pytest.mark.parametrize("size", [PHONE, (320, 640), (768, 1024), (1000, 700), DESKTOP, (1920, 1080)])
@pytest.mark.parametrize("name", ["short", "long", "hostile"])
def test_nothing_is_wider_than_the_window(browser: Browser, size: tuple[int, int], name: str) -> None:
    budget = Budget("small@1", 3000, 20, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.STOP),))
    views = {
        "short": lambda: VIEW,
        "long": lambda: looked_at("qwen3", long_talk(40, 40), budget)[0],
        "hostile": lambda: hostile()[0],
    }
    with browser.open(views[name](), size=size) as opened:
        fits(opened, size[0])
        opened.page.click("#tokens-0-1")
        fits(opened, size[0])


def test_a_change_of_the_width_keeps_the_place(browser: Browser) -> None:
    view = looked_at("qwen3", long_talk(20, 60))[0]
    with browser.open(view) as opened:
        opened.page.evaluate("document.getElementById('tokens-0').scrollTop = 4000")
        first = (
            "Number([...document.querySelectorAll('#tokens-0 .row')].sort((a, b) => a.offsetTop - b.offsetTop)"
            ".find(row => row.offsetTop >= document.getElementById('tokens-0').scrollTop)"
            ".querySelector('.number').textContent)"
        )
        opened.settle()
        before = opened.number(first)
        assert before > 100
        opened.page.set_viewport_size({"width": 1000, "height": 900})
        opened.settle()
        assert opened.number("document.getElementById('tokens-0').clientWidth") < 700
        assert abs(opened.number(first) - before) < 40
        fits(opened, 1000)


# ---- size


def test_a_hundred_thousand_tokens_without_stalling(browser: Browser) -> None:
    """Only what is in view is in the document, and neither opening nor moving takes long."""
    view = big(100_000)
    count = len(view.execution.tokens)
    assert count > 100_000
    started = time.perf_counter()
    with browser.open(view) as opened:
        assert opened.text("document.querySelector('.tokens h2').textContent") == f"{count:,} tokens"
        assert time.perf_counter() - started < 10
        frames = """async () => { const box = document.getElementById('tokens-0'); const times = [];
          for (let step = 1; step <= 60; step += 1) {
            const start = performance.now();
            box.scrollTop = box.scrollHeight * ((step * 7919) % 60) / 60;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b); }"""
        times = opened.page.evaluate(frames)
        assert isinstance(times, list)
        assert times[len(times) // 2] < 250, times
        assert opened.number("document.querySelectorAll('*').length") < 3000
        opened.page.focus("#tokens-0")
        opened.page.keyboard.press("Control+End")
        started = time.perf_counter()
        for _ in range(20):
            opened.page.keyboard.press("ArrowUp")
        assert time.perf_counter() - started < 4
        opened.page.keyboard.press("Control+End")
        assert opened.shown()["id"] == str(view.execution.tokens[-1].id)
        opened.page.click("input[type=search]")
        opened.page.keyboard.type(f"#{count - 500}")
        opened.page.keyboard.press("Enter")
        assert opened.text("document.querySelector('#tokens-0 .active').dataset.item") == str(count - 500)
        rows = opened.texts("[...document.querySelectorAll('#tokens-0 .number')].map(n => n.textContent)")
        assert all(one != two for one, two in pairwise(rows))
