"""Every difference from an official template that the documents state: its request gives what stands there.

`docs/differences.md` is about Qwen3, with ids and with both editions of its template. The pages in `docs/differences/`
are about the other models, each under a heading of its name; a template whose package is not installed is passed over,
and Katapi's side is compared all the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import katapi
from tests.official import FIRST, SECOND, official_ids, official_text
from tools.official_templates.environment import OfficialTemplate
from tools.official_templates.places import NotFound, facts, official

DOCS = Path(__file__).parents[2] / "docs"
ARCHIVES = DOCS.parent / "build" / "templates"
"""Where CONTRIBUTING puts archives of packages that are not installed, if there are any."""
PAGE = (DOCS / "differences.md").read_text(encoding="utf-8")
WHILE = " while calling a Python object"
"""What Python says behind some errors of recursion, and behind others not."""
FAMILIES = sorted((DOCS / "differences").glob("*.md"))
LABELS = {"official", "official, later edition", "official ids", "katapi", "katapi ids", "both", "both ids"}


@dataclass(frozen=True)
class Section:
    """A heading below that of a model, the request under it, and what is stated about it by label."""

    model: str
    title: str
    request: str
    stated: dict[str, str]


def sections(page: str, level: str) -> list[Section]:
    """The sections of a page that have a request, in order; `level` is a pattern of the signs before their headings."""
    found: list[Section] = []
    before, *parts = re.split(rf"^{level} ", page, flags=re.MULTILINE)
    model = last_model(before, "")
    for part in parts:
        if "\n```json\n" not in part:
            model = last_model(part, model)
            continue
        title = part.split("\n", 1)[0]
        fences = re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", part, re.MULTILINE)
        (request,) = [body for label, body in fences if label == "json"]
        stated = {label.removeprefix("text "): body for label, body in fences if label != "json"}
        assert len(stated) == len(fences) - 1, f"{title}: a label stands twice"
        assert set() < stated.keys() <= LABELS, f"{title}: {stated.keys()}"
        found.append(Section(model, title, request, stated))
        model = last_model(part, model)
    return found


def last_model(text: str, known: str) -> str:
    """The name in the last heading of the first level."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found: list[str] = re.findall(r"^# (.*)$", outside, re.MULTILINE)
    return [known, *found][-1]


SECTIONS = sections(PAGE, "###")
OF_FAMILIES = [section for path in FAMILIES for section in sections(path.read_text(encoding="utf-8"), "#{2,3}")]


def by_official(request: str, edition: str, *, ids: bool) -> str:
    """What the official implementation gives for a request's bytes, as the page writes it."""
    try:
        text = official_text(json.loads(request), edition)
        printed = official_ids(text)
    except (TypeError, UndefinedError) as error:
        return f"fails: {type(error).__name__}: {error}\n"
    return " ".join(map(str, printed)) + "\n" if ids else text


def by_katapi(request: str, *, ids: bool, model: str = "qwen3") -> str:
    """What Katapi gives for the same bytes. The line of a specification where an error arose is left out."""
    try:
        if not ids:
            return katapi.load(model).render(request.encode()).text
        found = katapi.load(model).assemble(request.encode())
    except katapi.KatapiError as error:
        place = f" at {error.where}" if isinstance(error, katapi.RequestError) else ""
        return f"{type(error).__name__} {error.code}{place}: {error.message}\n"
    return " ".join(map(str, found.input_ids.tolist())) + "\n"


@cache
def template(model: str) -> OfficialTemplate | None:
    """The official template of a model, where its package is installed."""
    fact = facts()[model]
    try:
        return OfficialTemplate(
            official(fact, ARCHIVES if ARCHIVES.is_dir() else None).text, bos=fact.bos, eos=fact.eos
        )
    except NotFound:
        return None


def fits(stated: str, given: str) -> bool:
    """Whether a text is as stated; a line `…` stands for any lines."""
    pattern = "(?s:.*)".join(map(re.escape, re.split(r"^…\n", stated, flags=re.MULTILINE)))
    return re.fullmatch(pattern, given) is not None


def test_the_page_is_read_whole() -> None:
    assert len(SECTIONS) == PAGE.count("\n```json\n") == PAGE.count("\n### ") > 25
    assert sum(len(section.stated) + 1 for section in SECTIONS) == PAGE.count("\n```") / 2


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_it_is_as_stated(section: Section) -> None:
    stated, request = section.stated, section.request
    first, katapis = by_official(request, FIRST, ids=False), by_katapi(request, ids=False)
    if "official" in stated:
        assert fits(stated["official"], first), first
        assert fits(stated["katapi"], katapis), katapis
        assert first != katapis
    else:
        assert first == katapis
    if "both" in stated:
        assert fits(stated["both"], katapis), katapis
    later = by_official(request, SECOND, ids=False)
    assert fits(stated.get("official, later edition", first), later), later
    assert ("official, later edition" in stated) == (later != first)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_the_ids_are_as_stated(section: Section) -> None:
    stated, request = section.stated, section.request
    officials, katapis = by_official(request, FIRST, ids=True), by_katapi(request, ids=True)
    if "official ids" in stated:
        assert stated["official ids"] == officials
        assert stated["katapi ids"] == katapis
    if "both ids" in stated:
        assert stated["both ids"] == officials == katapis
    assert (officials != katapis) == ("official" in stated or "official ids" in stated)


def whole_line(text: str) -> str:
    """A text as it stands between fences, where the last line ends."""
    return text if text.endswith("\n") else f"{text}\n"


@pytest.mark.parametrize("section", OF_FAMILIES, ids=lambda section: f"{section.model}: {section.title}")
def test_a_family_is_as_stated(section: Section) -> None:
    stated = section.stated
    katapis = whole_line(by_katapi(section.request, ids=False, model=section.model))
    assert fits(stated.get("katapi") or stated["both"], katapis), katapis
    side = template(section.model)
    if side is not None:
        request = json.loads(section.request)
        now = request.get("now")
        outcome = side.render(request, None if now is None else datetime.fromisoformat(now))
        failed = f"fails: {outcome.error.removesuffix(WHILE)}\n"
        officials = failed if outcome.text is None else whole_line(outcome.text)
        assert fits(stated.get("official") or stated["both"], officials), officials
        assert (officials == katapis) == ("both" in stated)


def test_the_pages_of_families_are_read_whole() -> None:
    for path in FAMILIES:
        page = path.read_text(encoding="utf-8")
        assert len(sections(page, "#{2,3}")) == page.count("\n```json\n"), path.name
