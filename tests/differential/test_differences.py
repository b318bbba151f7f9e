"""Every difference that `docs/differences.md` states: its request gives what stands there, officially and in Katapi."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import katapi
from tests.official import FIRST, SECOND, official_ids, official_text

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
LABELS = {"official", "official, later edition", "official ids", "katapi", "katapi ids", "both", "both ids"}


@dataclass(frozen=True)
class Section:
    """A heading, the request under it, and what is stated about it by label."""

    title: str
    request: str
    stated: dict[str, str]


def sections() -> list[Section]:
    """The sections of the page, in order."""
    found: list[Section] = []
    for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        title = part.split("\n", 1)[0]
        fences = re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", part, re.MULTILINE)
        (request,) = [body for label, body in fences if label == "json"]
        stated = {label.removeprefix("text "): body for label, body in fences if label != "json"}
        assert len(stated) == len(fences) - 1, f"{title}: a label stands twice"
        assert set() < stated.keys() <= LABELS, f"{title}: {stated.keys()}"
        found.append(Section(title, request, stated))
    return found


SECTIONS = sections()


def by_official(request: str, edition: str, *, ids: bool) -> str:
    """What the official implementation gives for a request's bytes, as the page writes it."""
    try:
        text = official_text(json.loads(request), edition)
        printed = official_ids(text)
    except (TypeError, UndefinedError) as error:
        return f"fails: {type(error).__name__}: {error}\n"
    return " ".join(map(str, printed)) + "\n" if ids else text


def by_katapi(request: str, *, ids: bool) -> str:
    """What Katapi gives for the same bytes. The line of a specification where an error arose is left out."""
    try:
        found = katapi.load("qwen3").assemble(request.encode())
    except katapi.KatapiError as error:
        place = f" at {error.where}" if isinstance(error, katapi.RequestError) else ""
        return f"{type(error).__name__} {error.code}{place}: {error.message}\n"
    return " ".join(map(str, found.input_ids.tolist())) + "\n" if ids else found.text


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
