"""The tables of each version against the data of every Python that is found here, and what versions are and may be."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

import pytest

from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.syntax import Dialect, PatternError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_decoding, build_normalizer, build_pretokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.unicode_kinds import needed_unicode
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.unicode import known_versions, tables
from katapi.runtime.unicode.codepoints import CodePoints
from katapi.runtime.unicode.history import History, without
from tests.charsmaps import character_map
from tools.determinism import other_pythons

KINDS = [field.name for field in fields(c.UnicodeVersions)]
ALL = known_versions("categories")
PYTHONS = {"this": Path(sys.executable), **dict(other_pythons([], oldest=6))}
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cn Co".split()
# Also for Pythons that this project does not support otherwise, whose data are old.
ASK = """
import json, unicodedata as u
categories, combining, forms, lower = {}, {}, {}, {}
for i in [*range(0xD800), *range(0xE000, 0x110000)]:
    c = chr(i)
    categories.setdefault(u.category(c), []).append(i)
    if u.combining(c): combining[c] = u.combining(c)
    if c.lower() != c: lower[c] = c.lower()
    changed = [u.normalize(f, c) for f in ("NFC", "NFD", "NFKC", "NFKD")]
    if changed != [c] * 4: forms[c] = changed
print(json.dumps(dict(version=u.unidata_version, categories=categories, combining=combining, forms=forms, lower=lower)))
"""


class Data(TypedDict):
    """What a Python knows of the characters; `forms` are NFC, NFD, NFKC and NFKD of those that change."""

    version: str
    categories: dict[str, list[int]]
    combining: dict[str, int]
    forms: dict[str, list[str]]
    lower: dict[str, str]


@cache
def data_of(python: str) -> Data:
    done = subprocess.run([PYTHONS[python], "-I", "-c", ASK], stdout=subprocess.PIPE, check=True)
    return cast(Data, json.loads(done.stdout))


def members(code_points: CodePoints) -> list[int]:
    return [code for first, last in code_points.ranges for code in range(first, last + 1)]


def katapi_version(data: Data) -> str:
    version = data["version"].removesuffix(".0")
    if version not in ALL:
        pytest.skip(f"there are no tables of Unicode {version}")
    return version


@pytest.mark.parametrize("python", PYTHONS)
def test_general_categories_are_those_of_this_python(python: str) -> None:
    data = data_of(python)
    version = katapi_version(data)
    for name in CATEGORIES:
        assert members(tables.general_category(name, version)) == data["categories"].get(name, []), name


@pytest.mark.parametrize("python", PYTHONS)
def test_normalization_is_that_of_this_python(python: str) -> None:
    data = data_of(python)
    version = katapi_version(data)
    canonical, compatible = tables.normalization(version), tables.compatibility(version)
    assert canonical.classes == data["combining"]
    changing = {*map(chr, members(compatible.movable)), *map(chr, members(compatible.unstable)), *data["forms"]}
    for character in changing:
        ours = [f(character) for f in (canonical.nfc, canonical.nfd, compatible.nfkc, compatible.nfkd)]
        assert ours == data["forms"].get(character, [character] * 4), hex(ord(character))


@pytest.mark.parametrize("python", PYTHONS)
def test_lower_case_is_that_of_this_python(python: str) -> None:
    data = data_of(python)
    table = {chr(code): text for code, text in tables.lower_case(katapi_version(data)).table.items()}
    assert table == data["lower"]


def test_a_category_is_made_of_parts() -> None:
    for version in ALL:
        parts = (tables.general_category(part, version) for part in ("Lu", "Ll", "Lt", "Lm", "Lo"))
        assert members(tables.general_category("L", version)) == sorted(m for part in parts for m in members(part))
    with pytest.raises(ValueError, match="no general category"):
        tables.general_category("Q", "16.0")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_version_is_an_error_that_lists_the_known(kind: str) -> None:
    assert getattr(c.UnicodeVersions(), kind) in known_versions(kind)
    with pytest.raises(ArtifactError, match=rf"(?s)A124.*Unicode 99\.0 for {kind}.*known: .*17\.0"):
        tables.need_version(kind, "99.0")


def test_the_versions_are_told_apart() -> None:
    # U+0C3C is a nukta since 14.0, U+088F a letter since 17.0; U+2B95 was assigned in 8.0 and U+1F16C in 12.0.
    assert tables.normalization("13.0").nfc("\u0c3c\u0334") != tables.normalization("14.0").nfc("\u0c3c\u0334")
    assert [v for v in ALL if 0x88F in members(tables.general_category("Lo", v))] == ["17.0"]
    assert [v for v in ALL if tables.compatibility(v).nfkd("\U0001f16c") == "MR"] == list(ALL[ALL.index("12.0") :])
    assert 0x295 in members(tables.general_category("Ll", "16.0"))  # a letter that changed its category in 17.0
    assert 0x295 in members(tables.general_category("Lo", "17.0"))


def test_a_script_that_a_version_does_not_have_is_an_error() -> None:
    assert compile_pattern(r"\p{Sidetic}+", unicode="17.0").split("a\U00010940") == ["a", "\U00010940"]
    with pytest.raises(PatternError, match=r"Unicode 16\.0 has no script Sidetic"):
        compile_pattern(r"\p{Sidetic}+", unicode="16.0")


def test_members_without_others() -> None:
    assert without(((0, 9), (20, 29)), ((3, 4), (9, 20), (25, 40))) == ((0, 2), (5, 8), (21, 24))
    assert without(((5, 6),), ((1, 9),)) == ()
    assert without((), ((1, 2),)) == ()
    history = History({"a": "1-5"}, {"2": {"a": "9", "b": "2"}, "1": {"b": "1 9"}})
    assert history.members("3", ["a"]) == ((1, 5),)
    assert history.members("2", ["a"]) == ((1, 1), (3, 5), (9, 9))
    assert history.members("1", ["a", "b"]) == ((1, 5), (9, 9))


# ---- which kinds a stage needs

REGEX = c.Regex("a", Dialect.TIKTOKEN)
NORMALIZERS: tuple[c.Normalizer, ...] = (
    c.Normalize(c.NormalForm.NFC),
    c.Normalize(c.NormalForm.NFKD),
    c.Lowercase(),
    c.StripAccents(),
    c.Nmt(),
    c.Replace(REGEX, ""),
    c.Replace(c.Verbatim("a"), ""),
    c.Prepend("a"),
    c.Strip(True, True),
    c.BertNormalize(True, True, None, True),
    c.Precompiled(),
    c.CharacterMap(),
    c.Spaces(True, True, "▁", False),
)
PRETOKENIZERS: tuple[c.PreTokenizer, ...] = (
    c.Split(REGEX, c.Behaviour.ISOLATED, False),
    c.Split(c.Verbatim("a"), c.Behaviour.ISOLATED, False),
    c.ByteLevel(True, True),
    c.ByteLevel(True, False),
    c.Metaspace("▁", c.PrependScheme.ALWAYS, True),
    c.Digits(True),
    c.Punctuation(c.Behaviour.ISOLATED),
    c.Whitespace(),
    c.WhitespaceSplit(),
    c.BertPreTokenize(),
)
DECODERS: tuple[c.Decoder, ...] = (
    c.DecodeBytes(),
    c.DecodeByteFallback(),
    c.DecodeMetaspace("▁", c.PrependScheme.ALWAYS),
    c.DecodeWordPiece("##", True),
    c.DecodeSuffix("</w>"),
    c.DecodeReplace(REGEX, ""),
    c.DecodeReplace(c.Verbatim("a"), ""),
    c.DecodeStrip(" ", 1, 0),
    c.Fuse(),
    c.Spaced(),
)


def test_a_stage_needs_exactly_the_kinds_that_it_is_built_from() -> None:
    vocabulary = Vocabulary.of(Tokens.of([b"a"]), {})
    alone: list[tuple[list[c.Normalizer], list[c.PreTokenizer], list[c.Decoder]]] = [
        *(([stage], [], []) for stage in NORMALIZERS),
        *(([], [stage], []) for stage in PRETOKENIZERS),
        *(([], [], [stage]) for stage in DECODERS),
    ]
    for normalizers, pretokenizers, decoders in alone:
        used: set[str] = set()
        for kind in KINDS:
            unicode = c.UnicodeVersions(**{kind: "99.0"})
            try:
                build_normalizer(normalizers, unicode, character_map({"a": "b"}))
                build_pretokenizer(pretokenizers, unicode)
                build_decoding(decoders, vocabulary, unicode)
            except ArtifactError:
                used.add(kind)
        model = c.LongestMatch()
        whole = c.TokenizerConfiguration(
            tuple(normalizers), tuple(pretokenizers), model, c.Frame(), tuple(decoders), added_tokens=()
        )
        assert needed_unicode(whole) == used, (normalizers, pretokenizers, decoders)
