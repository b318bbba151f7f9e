"""The page in Chromium: it shows what the record says, content stays text, keys and pointer work, phone and desktop."""

from __future__ import annotations

from dataclasses import replace

import pytest

import katapi
from katapi.inspecting.from_input import view_of
from katapi.inspecting.kinds import LOOKS
from katapi.inspecting.view import Execution
from katapi.runtime.budget.policy import Allotment, Budget, Misfit, Order, Section
from katapi.runtime.json_types import Json
from tests.browser.browser import PHONE, Browser, fits
from tests.browser.views import RESULT, RUN, VIEW, beside_a_text, differing, failed_beside_foreign, hostile, two_packs
from tests.inspecting.inputs import long_talk, looked_at

pytestmark = pytest.mark.browser

TOKENS = "[...document.querySelectorAll('#tokens-0 .token')]"


# ---- what it shows


def test_every_token_with_its_text_and_kind(browser: Browser) -> None:
    with browser.open(VIEW, size=(1440, 4000)) as opened:
        assert opened.text("document.title") == "qwen3 · Katapi"
        shown = opened.page.evaluate(f"{TOKENS}.map(t => [t.textContent, t.className.split(' ')])")
        assert isinstance(shown, list)
        assert len(shown) == len(RUN.tokens)
        for token, (text, classes) in zip(RUN.tokens, shown, strict=True):
            expected = (token.bytes or b"").decode(errors="replace").replace("\n", "↵")
            assert text == expected or "raw" in classes
            assert RUN.places[token.place].kind in classes
            assert ("sampled" in classes) is token.sampled


def test_details_of_every_token_by_keyboard(browser: Browser) -> None:
    with browser.open(VIEW) as opened:
        opened.page.focus("#tokens-0")
        for index, token in enumerate(RUN.tokens):
            place = RUN.places[token.place]
            shown = opened.shown()
            assert shown["id"] == str(token.id)
            assert shown["bytes"] == (token.bytes or b"").hex(" ").upper()
            assert shown["origin"].startswith(f"{place.kind}: ")
            assert shown["trust"] == LOOKS[place.kind].trust
            assert shown["sampled"].startswith("yes" if token.sampled else "no")
            assert shown.get("template", "") == "\n".join(place.lines)
            assert shown.get("request", "") == "\n".join(place.paths)
            assert shown.get("field") == place.field
            expected = None if place.message is None else f"{place.message} ({RUN.messages[place.message].role})"
            assert shown.get("message") == expected
            active = opened.text("document.getElementById('tokens-0').getAttribute('aria-activedescendant')")
            assert active == f"tokens-0-{index}"
            opened.page.keyboard.press("ArrowRight")
        assert opened.shown()["id"] == str(RUN.tokens[-1].id)


def test_stages_messages_segments_and_counts(browser: Browser) -> None:
    with browser.open(VIEW) as opened:
        names = opened.texts("[...document.querySelectorAll('.stages .name')].map(n => n.textContent)")
        assert names == [stage.name for stage in RUN.stages]
        for number, stage in enumerate(RUN.stages):
            opened.page.evaluate(f"document.querySelectorAll('.stages button')[{number}].click()")
            shown = opened.shown()
            assert shown["digest"] == (stage.digest or "none")
            assert {fact.name: fact.text for fact in stage.facts}.items() <= shown.items()
        rows = opened.texts("[...document.querySelectorAll('#messages-0 .what')].map(n => n.textContent)")
        assert rows == [message.role for message in RUN.messages]
        opened.page.click("#messages-0-1")
        assert opened.text("document.querySelector('#details pre').textContent") == "What is 2 + 2?\nTell me, 天空 é."
        lit = opened.texts("[...document.querySelectorAll('#tokens-0 .token:not(.beside)')].map(t => t.dataset.item)")
        assert [*map(int, lit)] == [i for i, t in enumerate(RUN.tokens) if RUN.places[t.place].message == 1]
        opened.page.click("#segments-0-tab")
        assert opened.text("document.querySelector('#segments-0-tab').textContent") == f"Segments {len(RUN.parts)}"
        opened.page.click("#segments-0-0")
        assert opened.shown()["place"] == RUN.parts[0].place
        legend = opened.texts("[...document.querySelectorAll('.switch')].map(b => b.textContent)")
        kinds = [RUN.places[token.place].kind for token in RUN.tokens]
        assert {*legend} >= {f"{kind}{kinds.count(kind)}" for kind in {*kinds}}
        assert f"sampled{int(RESULT.sampled.sum())}" in legend


def test_the_budget_with_what_was_left_out_and_why(browser: Browser) -> None:
    budget = Budget("small@1", 200, 20, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.STOP),))
    view, result = looked_at("qwen3", long_talk(5, 12), budget)
    run = view.execution
    with browser.open(view, size=(1440, 1400)) as opened:
        shares = opened.texts("[...document.querySelectorAll('.shares li:not(.verdict)')].map(n => n.textContent)")
        free = 200 - 20 - len(result)
        parts = [*run.budget.sections, ("free", free), ("reserve", 20)]
        assert shares == [f"{name} {count}" for name, count in parts if count]
        widths = opened.page.evaluate(
            "[...document.querySelectorAll('.bar i')].map(n => n.getBoundingClientRect().width)"
        )
        assert isinstance(widths, list)
        counts = [count for _, count in parts if count]
        for width, count in zip(widths, counts, strict=True):
            assert width == pytest.approx(sum(widths) * count / 200, abs=3)
        left = opened.texts("[...document.querySelectorAll('#messages-0 .left')].map(n => n.textContent)")
        out = [message for message in run.messages if message.index is None]
        assert len(left) == len(out) > 0
        assert all(message.left_out in row for message, row in zip(out, left, strict=True))
        opened.page.click("#budget-0-tab")
        rows = opened.texts("[...document.querySelectorAll('#budget-0 .row')].map(n => n.textContent)")
        assert len(rows) == len(run.budget.items)
        assert all(item.why in row and item.section in row for item, row in zip(run.budget.items, rows, strict=True))


def test_images_and_their_placeholders(browser: Browser) -> None:
    parts: list[Json] = [{"type": "image"}, {"type": "text", "text": "and"}, {"type": "image"}]
    view, _ = looked_at("qwen3-vl", {"messages": [{"role": "user", "content": parts}]})
    with browser.open(view) as opened:
        opened.page.click("#images-0-tab")
        for number, image in enumerate(view.execution.images):
            opened.page.click(f"#images-0-{number}")
            assert image.tokens is not None
            assert opened.shown()["request"] == image.path
            lit = "[...document.querySelectorAll('#tokens-0 .token:not(.beside)')]"
            assert opened.texts(f"{lit}.map(t => t.dataset.item)") == [*map(str, range(*image.tokens))]
            assert opened.texts(f"{lit}.map(t => t.textContent)") == ["<|image_pad|>"]


# ---- content stays text


def test_content_stays_text_and_nothing_runs(browser: Browser) -> None:
    view, _ = hostile()
    with browser.open(view) as opened:
        for row in range(4):
            opened.page.click(f"#messages-0-{row}")
            shown = opened.text("document.querySelector('#details pre').textContent")
            assert shown.startswith("<script>window.executed = 1</script>")
            assert "{{STYLE}} {{DATA}}" in shown
            assert "⟨U+202E⟩⟨U+200B⟩␀" in shown
        opened.page.click("#segments-0-tab")
        opened.page.focus("#tokens-0")
        opened.page.keyboard.press("Control+End")
        assert opened.page.evaluate("window.executed === undefined") is True
        assert opened.number("document.querySelectorAll('script').length") == 2
        assert (
            opened.number("document.querySelectorAll('main script, main img, main svg, main a, main iframe').length")
            == 0
        )


def test_what_the_policy_refuses(browser: Browser) -> None:
    """The policy holds: a script that is not the page's own does not run, and markup cannot be made of text."""
    with browser.open(VIEW) as opened:
        opened.page.evaluate(
            "() => { const s = document.createElement('script');"
            " try { s.textContent = 'window.executed = 1'; document.body.append(s); } catch { window.refused = 1; } }"
        )
        opened.page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; } catch { window.refused2 = 1; } }")
        assert opened.page.evaluate("window.executed === undefined") is True
        assert opened.number("window.refused2") == 1
        assert opened.complaints
        opened.complaints.clear()


# ---- keys and pointer


def test_keys_move_through_rows_and_segments(browser: Browser) -> None:
    with browser.open(VIEW) as opened:

        def at() -> int:
            active = opened.text("document.getElementById('tokens-0').getAttribute('aria-activedescendant')")
            return int(active.rpartition("-")[2])

        press = opened.page.keyboard.press
        opened.page.focus("#tokens-0")
        assert at() == 0
        press("ArrowLeft")
        assert at() == 0
        press("ArrowDown")
        row = at()
        assert (RUN.tokens[row - 1].bytes or b"").endswith(b"\n")
        press("End")
        assert b"\n" in (RUN.tokens[at()].bytes or b"")
        press("Home")
        assert at() == row
        press("ArrowUp")
        assert at() < row
        press("Control+End")
        assert at() == len(RUN.tokens) - 1
        press("Control+Home")
        assert at() == 0
        places = [RUN.places[token.place].parts for token in RUN.tokens]
        for _ in range(5):
            before = at()
            press("n")
            assert places[at()] != places[before]
            assert {*places[before : at()]} == {places[before]}
        for _ in range(5):
            press("p")
        assert at() == 0


def test_keys_go_from_a_message_to_its_tokens(browser: Browser) -> None:
    with browser.open(VIEW) as opened:
        opened.page.focus("#messages-0")
        opened.page.keyboard.press("ArrowDown")
        opened.page.keyboard.press("ArrowDown")
        opened.page.keyboard.press("Enter")
        assert opened.text("document.activeElement.id") == "tokens-0"
        opened.page.keyboard.press("ArrowRight")
        assert opened.shown()["message"] == "2 (assistant)"
        opened.page.keyboard.press("Escape")
        assert opened.number("document.querySelectorAll('.beside').length") == 0
        opened.page.focus("#messages-0-tab")
        opened.page.keyboard.press("ArrowRight")
        assert opened.text("document.activeElement.id") == "segments-0-tab"
        assert opened.text("document.activeElement.getAttribute('aria-selected')") == "true"


def test_the_pointer_shows_a_token_and_leaves_the_active_one(browser: Browser) -> None:
    with browser.open(VIEW) as opened:
        opened.page.click("#tokens-0-3")
        opened.page.hover("#tokens-0-5")
        assert opened.shown()["id"] == str(RUN.tokens[5].id)
        opened.page.hover("h1")
        assert opened.shown()["id"] == str(RUN.tokens[3].id)


@pytest.mark.parametrize("wanted", ["briefly. <|im", "#7", "=198", "天空 é", "no such text"])
def test_a_token_is_found(browser: Browser, wanted: str) -> None:
    spelled = b"".join(token.bytes or b"" for token in RUN.tokens)
    if wanted.startswith("#"):
        expected: int | None = int(wanted[1:])
    elif wanted.startswith("="):
        expected = next(index for index, token in enumerate(RUN.tokens) if token.id == int(wanted[1:]))
    else:
        start = spelled.find(b"briefly.<|im" if "<" in wanted else wanted.encode())
        wanted = wanted.replace(" <", "<")
        ends = [sum(len(t.bytes or b"") for t in RUN.tokens[: index + 1]) for index in range(len(RUN.tokens))]
        expected = None if start < 0 else next(index for index, end in enumerate(ends) if end > start)
    with browser.open(VIEW) as opened:
        opened.page.click("input[type=search]")
        opened.page.keyboard.type(wanted)
        opened.page.keyboard.press("Enter")
        if expected is None:
            assert opened.text("document.querySelector('[role=status]').textContent") == "not found"
        else:
            assert opened.text("document.querySelector('#tokens-0 .active').dataset.item") == str(expected)


def test_each_enter_goes_to_the_next_and_behind_the_last_to_the_first(browser: Browser) -> None:
    """Here each occurrence is within one token, and no token has two."""
    expected = [index for index, token in enumerate(RUN.tokens) if b"user" in (token.bytes or b"")]
    assert len(expected) == 2
    with browser.open(VIEW) as opened:
        opened.page.click("input[type=search]")
        opened.page.keyboard.type("user")
        for at in (*expected, *expected):
            opened.page.keyboard.press("Enter")
            assert opened.text("document.querySelector('#tokens-0 .active').dataset.item") == str(at)


def test_roles_and_names(browser: Browser) -> None:
    with browser.open(VIEW) as opened:
        roles = opened.page.evaluate(
            "[...document.querySelectorAll('[role=listbox]')].map(b => [b.getAttribute('aria-label'), b.tabIndex,"
            " [...b.querySelectorAll('[data-item]')].every(i => i.getAttribute('role') === 'option'"
            " && i.getAttribute('aria-label') && i.getAttribute('aria-setsize') && i.getAttribute('aria-posinset'))])"
        )
        assert roles == [["Messages", 0, True], ["Segments", 0, True], ["Tokens", 0, True]]
        unnamed = "!node.textContent && !node.getAttribute('aria-label')"
        found = f"[...document.querySelectorAll('button, input')].filter(node => {unnamed})"
        assert opened.number(f"{found}.length") == 0
        assert opened.text("document.documentElement.lang") == "en"


# ---- two executions


def test_two_executions_side_by_side_at_the_first_difference(browser: Browser) -> None:
    view = differing()
    other, difference = view.other, view.difference
    assert other is not None
    assert difference is not None
    with browser.open(view) as opened:
        assert difference.what in opened.text("document.getElementById('difference').textContent")
        assert (
            opened.texts("[...document.querySelectorAll('.stages .parts .name')].map(n => n.textContent)")
            == ["request"] * 2
        )
        runs: list[Execution] = [view.execution, other]
        for number, run in enumerate(runs):
            at = difference.tokens[number]
            box = f"document.getElementById('tokens-{number}')"
            assert opened.text(f"{box}.querySelector('.apart').dataset.item") == str(at)
            opened.page.focus(f"#tokens-{number}")
            opened.page.keyboard.press("ArrowLeft")
            opened.page.keyboard.press("ArrowRight")
            assert opened.shown()["id"] == str(run.tokens[at].id)
        lefts = opened.page.evaluate(
            "[...document.querySelectorAll('.execution')].map(n => n.getBoundingClientRect().left)"
        )
        assert isinstance(lefts, list)
        assert lefts[0] < lefts[1]
    with browser.open(view, size=PHONE) as opened:
        fits(opened, PHONE[0])
    with browser.open(replace(view, difference=None)) as opened:
        assert opened.text("document.getElementById('difference').textContent") == "The two are alike."


def test_the_view_of_a_typed_input(browser: Browser) -> None:
    model = katapi.load("book")
    result = model.assemble(model.decode_request('{"messages": [{"role": "user", "content": "天空"}]}'.encode()))
    with browser.open(view_of(model, result), "dark", PHONE) as opened:
        for index, id in enumerate(result.input_ids.tolist()):
            opened.page.click(f"#tokens-0-{index}")
            assert opened.shown()["id"] == str(id)


def test_two_packs_where_they_part(browser: Browser) -> None:
    view = two_packs()
    difference = view.difference
    assert difference is not None
    with browser.open(view) as opened:
        told = opened.text("document.getElementById('difference').textContent")
        assert told.startswith("First difference: bytes")
        assert "U+00A0 NO-BREAK SPACE" in told
        assert all(line in told for line in difference.follows)
        assert opened.texts("[...document.querySelectorAll('.execution > h2')].map(h => h.textContent)") == [
            "a.pack",
            "b.pack",
        ]
        for number, token in enumerate(difference.tokens):
            active = f"document.querySelector('#tokens-{number} .active')"
            assert opened.text(f"{active}.dataset.item") == str(token)
            assert opened.number(f"{active}.classList.contains('apart') ? 1 : 0") == 1


def test_what_was_not_reached_and_what_is_unknown(browser: Browser) -> None:
    with browser.open(failed_beside_foreign()) as opened:
        shown = [
            opened.texts(
                f"[...document.querySelectorAll('.stages')[{at}].querySelectorAll('.id')].map(i => i.textContent)"
            )
            for at in (0, 1)
        ]
        assert shown[0][1:] == ["error R113"] + ["not reached"] * 8
        assert shown[1] == ["unknown"] * 8 + ["3 tokens", "unknown"]
        assert opened.texts("[...document.querySelectorAll('#tokens-1 .token')].map(t => t.textContent)") == [
            "<|im_start|>",
            "user",
            "?",
        ]
        assert opened.number("document.querySelectorAll('#tokens-0 .token').length") == 0
        said = opened.text("document.querySelector('.pane.tokens .note').textContent")
        assert said.startswith("The error R113 at messages ended the execution at the stage request: ")


def test_of_a_text_without_ids_the_segment_is_shown(browser: Browser) -> None:
    view = beside_a_text()
    with browser.open(view) as opened:
        told = opened.text("document.getElementById('difference').textContent")
        assert 'a.pack has nothing; b.pack has "<think>Hm.</think>"' in told
        heads = "[...document.querySelectorAll('.pane.tokens h2')].map(h => h.textContent)"
        assert opened.texts(heads) == [f"{len(view.execution.tokens)} tokens", "Tokens: unknown"]
        assert opened.texts("[...document.querySelectorAll('.token.apart')].map(t => t.textContent)") == ["Yes"]
        chosen = "[...document.querySelectorAll('[role=tab][aria-selected=true]')].map(t => t.textContent)"
        assert opened.texts(chosen) == ["Messages 2", "Segments 1"]


@pytest.mark.parametrize("size", [(390, 844), (1000, 800), (1400, 900)])
def test_no_word_of_a_stage_is_cut_off(browser: Browser, size: tuple[int, int]) -> None:
    for view in (failed_beside_foreign(), VIEW):
        with browser.open(view, size=size) as opened:
            cut = "[...document.querySelectorAll('.stages .id')].filter(e => e.scrollWidth > e.clientWidth).length"
            assert opened.number(cut) == 0
