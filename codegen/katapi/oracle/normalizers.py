"""Every normalizer of a configuration: which characters of a text give way to which."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import assert_never

from katapi.oracle.characters import lower_case, members
from katapi.oracle.graphemes import clusters
from katapi.oracle.letters import Edit, Letter, edited, text_of
from katapi.oracle.normalize import parts
from katapi.oracle.regex import spans
from katapi.runtime.tokenization import configuration as c


def normalized(
    letters: list[Letter], stages: tuple[c.Normalizer, ...], unicode: c.UnicodeVersions, rules: dict[str, str]
) -> list[Letter]:
    """The text after all stages, one after the other; `rules` are those of the vocabulary's character map."""
    for stage in stages:
        letters = _applied(letters, stage, unicode, rules)
    return letters


def occurrences(text: str, pattern: c.Pattern, unicode: c.UnicodeVersions) -> list[tuple[int, int]]:
    """Where the matches of a pattern begin and end; an empty text has none."""
    if not text:
        return []
    match pattern:
        case c.Regex():
            return spans(pattern.source, unicode.patterns, text, pattern.dialect)
        case c.Verbatim(text=wanted):
            found: list[tuple[int, int]] = []
            for start in range(len(text) + 1):
                free = not found or start >= found[-1][1]
                if free and text[start : start + len(wanted)] == wanted:
                    found.append((start, start + len(wanted)))
            return found
        case _:
            assert_never(pattern)


def _applied(
    letters: list[Letter], stage: c.Normalizer, unicode: c.UnicodeVersions, rules: dict[str, str]
) -> list[Letter]:
    text = text_of(letters)
    match stage:
        case c.Normalize():
            return edited(letters, _form(text, stage.form.value, unicode))
        case c.Lowercase():
            return edited(letters, _each(text, lower_case(unicode.characters)))
        case c.StripAccents():
            return edited(letters, _each(text, _gone("M", unicode.normalization)))
        case c.Nmt():
            return edited(letters, _each(text, {**dict.fromkeys(_NMT_GONE, ""), **dict.fromkeys(_NMT_SPACES, " ")}))
        case c.Replace():
            return edited(letters, [Edit(*span, stage.content) for span in occurrences(text, stage.pattern, unicode)])
        case c.Prepend():
            return edited(letters, [Edit(0, 0, stage.text)] if text else [])
        case c.Strip():
            return _stripped(letters, stage, unicode)
        case c.BertNormalize():
            return _bert(letters, stage, unicode)
        case c.Precompiled():
            return edited(letters, _by_clusters(text, unicode, rules))
        case c.CharacterMap():
            return edited(letters, _by_longest_keys(text, rules))
        case c.Spaces():
            return _spaces(letters, stage)
        case _:
            assert_never(stage)


def _each(text: str, becomes: dict[str, str]) -> list[Edit]:
    """Every character by itself."""
    return [Edit(at, at + 1, becomes[character]) for at, character in enumerate(text) if character in becomes]


@cache
def _gone(name: str, version: str) -> dict[str, str]:
    """All characters of a class become nothing."""
    return dict.fromkeys(members(name, version), "")


def _form(text: str, form: str, unicode: c.UnicodeVersions) -> list[Edit]:
    edits: list[Edit] = []
    at = 0
    for source, new in parts(text, unicode.normalization, form):
        if new != source:
            edits.append(Edit(at, at + len(source), new))
        at += len(source)
    return edits


_NMT_GONE = [chr(code) for code in (*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)]
_NMT_SPACES = "\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"


def _stripped(letters: list[Letter], stage: c.Strip, unicode: c.UnicodeVersions) -> list[Letter]:
    white = members("WS", unicode.patterns)
    while stage.left and letters and letters[0].character in white:
        letters = letters[1:]
    while stage.right and letters and letters[-1].character in white:
        letters = letters[:-1]
    return letters


def _bert(letters: list[Letter], stage: c.BertNormalize, unicode: c.UnicodeVersions) -> list[Letter]:
    if stage.clean_text:
        letters = edited(letters, _each(text_of(letters), _bert_cleaning(unicode)))
    if stage.handle_chinese_chars:
        edits: list[Edit] = []
        for at, letter in enumerate(letters):
            if any(first <= ord(letter.character) <= last for first, last in _IDEOGRAPHS):
                edits += [Edit(at, at, " "), Edit(at + 1, at + 1, " ")]
        letters = edited(letters, edits)
    if stage.lowercase if stage.strip_accents is None else stage.strip_accents:
        letters = edited(letters, _form(text_of(letters), "NFD", unicode))
        letters = edited(letters, _each(text_of(letters), _gone("Mn", unicode.categories)))
    if stage.lowercase:
        letters = edited(letters, _each(text_of(letters), lower_case(unicode.characters)))
    return letters


@cache
def _bert_cleaning(unicode: c.UnicodeVersions) -> dict[str, str]:
    """What stays white space becomes a space; controls go, U+FFFD too."""
    controls = {ch for name in ("Cc", "Cf", "Co") for ch in members(name, unicode.categories)} | {"\ufffd"}
    return {
        **dict.fromkeys(members("WS", unicode.patterns), " "),
        **dict.fromkeys(controls, ""),
        **dict.fromkeys("\t\n\r", " "),
    }


_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


def _by_clusters(text: str, unicode: c.UnicodeVersions, rules: dict[str, str]) -> list[Edit]:
    """As `tokenizers` applies a map: a short cluster by the shortest key that it begins with, others by characters."""
    edits: list[Edit] = []
    at = 0
    for cluster in clusters(text, unicode.graphemes):
        new = _shortest(cluster, rules) if len(cluster.encode()) < 6 else None
        if new is None:
            edits += [Edit(at + i, at + i + 1, rules[ch]) for i, ch in enumerate(cluster) if ch in rules]
        elif new != cluster:
            edits.append(Edit(at, at + len(cluster), new))
        at += len(cluster)
    return edits


def _shortest(cluster: str, rules: dict[str, str]) -> str | None:
    return next((rules[cluster[:end]] for end in range(1, len(cluster) + 1) if cluster[:end] in rules), None)


def _by_longest_keys(text: str, rules: dict[str, str]) -> list[Edit]:
    """As SentencePiece applies a map: from left to right the longest key that fits."""
    edits: list[Edit] = []
    longest = max(map(len, rules), default=0)
    at = 0
    while at < len(text):
        end = next((end for end in range(min(len(text), at + longest), at, -1) if text[at:end] in rules), None)
        if end is None:
            at += 1
        else:
            edits.append(Edit(at, end, rules[text[at:end]]))
            at = end
    return edits


def _spaces(letters: list[Letter], stage: c.Spaces) -> list[Letter]:
    """Extra spaces go, then spaces become marks, the dummy comes, and at the end extra marks go.

    Where a character map has left nothing of a text, the dummy still comes; where extra spaces go, it goes with them.
    """
    if stage.remove_extra:
        while letters and letters[0].character == " ":
            letters = letters[1:]
        pairs = list(pairwise(letters))
        letters = letters[:1] + [b for a, b in pairs if (a.character, b.character) != (" ", " ")]
        if not letters:
            return []
    letters = [Letter(stage.mark, *source) if ch == " " else Letter(ch, *source) for ch, *source in letters]
    if stage.dummy and not stage.behind:
        letters = edited(letters, [Edit(0, 0, stage.mark)])
    while stage.remove_extra and letters and letters[-1].character == stage.mark:
        letters = letters[:-1]
    if stage.dummy and stage.behind:
        letters = edited(letters, [Edit(len(letters), len(letters), stage.mark)])
    return letters
