"""Mistakes planted into sound specs: each is reported on its line, whatever else is wrong, and nothing else is."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from katapi.analyse import analyse
from katapi.language.diagnostics import SpecError
from katapi.language.source import Source

ROOT = Path(__file__).parents[2]
SPECS = [ROOT / "spec" / "book.kata", *sorted(Path(__file__).with_name("pass").glob("*.kata"))]
#: Those that need no other file.
IMAGES = [p for p in sorted((ROOT / "spec" / "images").glob("*.kata")) if "\nuse " not in p.read_text(encoding="utf-8")]
#: What a slip of the hand makes of a piece of a line.
SLIPS = {
    r"\bwhen\b": "whn",
    r"\bsampled\b": "smapled",
    r"\bgenerate\b": "generat",
    r" == ": " = ",
    r"(?<=[a-z]): (?=[a-z\"])": " ",
    r'\\n"(?= )': "\\\\n",
    r"(?<= )@(?=[a-z])": "@un",
    r"\) ": ") ) ",
    r"\)(?= \{)": "",
    r"\}$": "} }",
    r" \{$": "",
}


def lines_of(text: str) -> set[int]:
    """The lines on which something is found."""
    try:
        analyse("spec", Source("spec.kata", text))
    except SpecError as error:
        return {error.source.line_column(finding.span.start)[0] for finding in error.diagnostics}
    return set()


def findings_of(text: str) -> list[tuple[str, str]]:
    """The codes of what is found, each with what is marked in the text."""
    try:
        analyse("spec", Source("spec.kata", text))
    except SpecError as error:
        return [(f.code, text[f.span.start : f.span.end]) for f in error.diagnostics]
    return []


def slips(lines: list[str]) -> list[tuple[int, str]]:
    """The lines with one slip each, by their index; those inside block texts and rows of tokens are left alone."""
    out: list[tuple[int, str]] = []
    within = False
    for index, line in enumerate(lines):
        within ^= line.count('"""') % 2 == 1
        if within or '"""' in line or "#" in line or re.match(r"\s*\d+ ", line):
            continue
        out.extend(
            (index, line[: m.start()] + m.expand(new) + line[m.end() :])
            for pattern, new in SLIPS.items()
            for m in re.finditer(pattern, line)
        )
    return out


def braces(line: str) -> int:
    """How many braces a line opens more than it closes."""
    return line.count("{") - line.count("}")


def with_slips(lines: list[str], planted: list[tuple[int, str]]) -> str:
    """The text with some lines replaced."""
    changed = dict(planted)
    return "\n".join(changed.get(index, line) for index, line in enumerate(lines))


@pytest.mark.parametrize("path", [*SPECS, *IMAGES], ids=lambda path: path.stem)
def test_each_planted_mistake_is_told_and_nothing_else(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    chance = random.Random(path.stem)
    possible = slips(lines)
    for _ in range(5):
        planted = sorted(chance.sample(possible, min(3, len(possible))))
        places = {index + 1 for index, _ in planted}
        if sum(braces(new) != braces(lines[index]) for index, new in planted) > 1:
            continue  # where braces are wrong at two places, the second may wait (docs/diagnostics.md)
        alone = [lines_of(with_slips(lines, [slip])) for slip in planted]
        if any(found != {index + 1} for found, (index, _) in zip(alone, planted, strict=True)):
            continue  # a slip that is none, or one that cannot be told from another by itself
        assert lines_of(with_slips(lines, planted)) == places, planted


def test_what_a_mistake_does_not_touch_is_still_checked() -> None:
    text = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
    text = text.replace("when system { @system m.content", "when system { @sytem m.content")
    text = text.replace("when user { @user m.content", "when user { @user")
    with pytest.raises(SpecError) as caught:
        analyse("book", Source("book.kata", text))
    assert [finding.code for finding in caught.value.diagnostics] == ["K102", "K309"]


@pytest.mark.parametrize(
    ("header", "marked"),
    [
        ('template Book "1" for Book {', '"1"'),
        ("template Book version for Book {", "for"),
        ('template Book version "1" for {', "{"),
        ('template version "1" for Book {', '"1"'),
        ('templat Book version "1" for Book {', "templat"),
    ],
)
def test_a_declaration_is_read_whose_header_lacks_a_word(header: str, marked: str) -> None:
    text = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
    text = text.replace('template Book version "1" for Book {', header).replace("@user m.content", "@usr m.content")
    assert findings_of(text) == [("K001", marked), ("K102", "@usr")]


def test_what_names_a_vocabulary_without_a_name_is_not_reported() -> None:
    text = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
    text = text.replace("vocabulary Book version", "vocabulary version")
    assert findings_of(text) == [("K001", '"1"')]


@pytest.mark.parametrize("word", ["iff", "fi", "If"])
@pytest.mark.parametrize(
    "let",
    [
        "let a = WORD given m.content then 'a' else 'b'",
        "let a = WORD given m.content\n        then 'a'\n        else 'b'",
        "let a = WORD\n        given m.content\n        then 'a'\n        else 'b'",
        "let a =\n        WORD given m.content\n        and m is last\n        then 'a'\n        else 'b'",
    ],
)
def test_a_misspelt_if_in_a_let_is_told_once(let: str, word: str) -> None:
    text = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
    text = text.replace("when user { @user m.content", f"when user {{\n      @user\n      {let}\n      a m.content")
    assert findings_of(text.replace("WORD", "if")) == []
    assert findings_of(text.replace("WORD", word)) == [("K001", word)]


BOOK = SPECS[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", ["{", "Book {"])
@pytest.mark.parametrize(
    "header",
    [
        'template Book version "1" for Book {',
        'budget Book version "1" for Book {',
        'tokenizer Book version "1" over Book {',
    ],
)
def test_a_header_that_lacks_a_word_hides_nothing(header: str, broken: str) -> None:
    broken = f"{header.rsplit(' ', 3)[0]} {broken}"
    text = BOOK.replace(header, broken).replace("@user m.content", "@user m.contents")
    assert ("K104", "contents") in findings_of(text)
    sound = broken.startswith("budget") and broken.endswith('" {')  # a budget need not say for which vocabulary it is
    assert len(lines_of(text)) == (1 if sound else 2)


@pytest.mark.parametrize("word", ["i", "f", "fi", "iff", "of", "uf", "ig"])
def test_a_misspelt_if_is_told_once(word: str) -> None:
    text = BOOK.replace("@user m.content", f"{word} given m.content {{ @user m.content }}")
    assert findings_of(text) == [("K001", word)]


def test_two_mistakes_on_a_line_are_both_told() -> None:
    text = BOOK.replace("when user { @user m.content", 'whn user { if m.content = "a" { "a" } @user m.content')
    assert findings_of(text) == [("K001", "whn"), ("K001", "=")]


def test_nothing_behind_a_comma() -> None:
    text = BOOK.replace("@user m.content", "@user m.content show(m.content,)")
    assert findings_of(text) == [("K001", ",")]
