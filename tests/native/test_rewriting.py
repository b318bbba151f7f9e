"""Normalizers that run compiled give what their pure forms give, for every text."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.compiled import VARIABLE, why_pure
from katapi.runtime.native.local import LocalRewriting
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_normalizer
from katapi.runtime.tokenization.spaces import Spaces
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import CodePoints
from tests.charsmaps import character_map
from tests.differential.texts import many_texts
from tests.differential.texts import texts as odd_texts

_REASON = why_pure(*(f"katapi.runtime.native.{name}" for name in ("merging", "rewriting", "longest_prefixes")))
pytestmark = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))

_SHARED = Path(__file__).parents[2].parent / "shared" / "artifacts"
_MAP = character_map(
    {
        "\t": " ",
        "\r": " ",
        "\r\n": "\n",
        "\x07": "",
        "A": "a",
        "~": "tilde",
        "é": "e",
        "e\u0301": "é",
        "ﬁ": "fi",
        "ab": "X",
        "abcdé": "a key of several characters",
        "\u200b": "",
        "\u0301": "",
        "\U0001f600": ":)",
        "中": "a long result",
        "\u1100\u1161": "가",
    }
)


def _bert(*, clean: bool, chinese: bool, accents: bool | None, lower: bool) -> tuple[c.Normalizer, ...]:
    return (c.BertNormalize(clean_text=clean, handle_chinese_chars=chinese, strip_accents=accents, lowercase=lower),)


_STAGES: dict[str, tuple[c.Normalizer, ...]] = {
    **{form.value: (c.Normalize(form),) for form in c.NormalForm},
    "BERT, uncased": _bert(clean=True, chinese=True, accents=None, lower=True),
    "BERT, cased": _bert(clean=True, chinese=True, accents=False, lower=False),
    "BERT, accents": _bert(clean=False, chinese=False, accents=True, lower=False),
    "lower case": (c.Lowercase(),),
    "accents": (c.Normalize(c.NormalForm.NFKD), c.StripAccents()),
    "nmt": (c.Nmt(),),
    "by clusters": (c.Precompiled(),),
    "longest": (c.CharacterMap(),),
}
_FILES = ("t5-small.tokenizer.json", "t5.spiece.model", "xlm-roberta.tokenizer.json", "xlnet-base-cased.spiece.model")


@dataclass(frozen=True)
class Both:
    """A normalizer in both forms."""

    compiled: Normalizer
    pure: Normalizer

    @classmethod
    def of(cls, stages: tuple[c.Normalizer, ...], charsmap: bytes = _MAP) -> Both:
        """From its configuration."""
        unicode = c.UnicodeVersions()
        form = cls(build_normalizer(stages, unicode, charsmap), build_normalizer(stages, unicode, charsmap))
        form.compiled.normalize("é")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, "pure")
            form.pure.normalize("é")  # which decides how it runs
        return form

    def agree(self, text: str) -> None:
        """Fails where the two differ."""
        assert self.compiled.normalize(text) == self.pure.normalize(text), text


@cache
def both(name: str) -> Both:
    """The normalizer by its name, or that of a file."""
    if name in _STAGES:
        return Both.of(_STAGES[name])
    path = _SHARED / f"{name}.gz"
    if not path.exists():
        pytest.skip("../shared/artifacts is not there")
    file = read_tokenizer_file(gzip.decompress(path.read_bytes()), where=name)
    return Both.of(file.configuration.normalizers, file.data.charsmap)


def _members(*sets: CodePoints) -> Iterator[str]:
    for part in sets:
        for first, last in part.ranges:
            yield from map(chr, {first, (first + last) // 2, last} - {*range(0xD800, 0xE000)})


_GRAPHEMES = tables.graphemes("17.0")
_LIVELY = [
    *"ab~eé \t\r\n\x00\x07\x7f中가각\u1100\u1161\u11a8\u0301\u0323\u0344\u0338\u0345\u200b\u200d\ufffd\ufb01İ",
    *_members(_GRAPHEMES.prepend, _GRAPHEMES.linker, _GRAPHEMES.consonant, _GRAPHEMES.leading, _GRAPHEMES.vowel),
    *_members(_GRAPHEMES.trailing, _GRAPHEMES.spacing, _GRAPHEMES.pictographic, CodePoints("1F1E6-1F1FF")),
    *_members(tables.normalization("16.0").joining, tables.normalization("9.0").moving),
    *_members(tables.general_category("Cf", "8.0"), tables.general_category("M", "9.0")),
]
_WORDS = ("tokens", " of", "é", "a text")
_TEXTS = st.lists(st.sampled_from(_LIVELY) | st.characters(exclude_categories=["Cs"]), max_size=16).map("".join)


@pytest.mark.parametrize("name", [*_STAGES, *_FILES])
@given(text=_TEXTS | odd_texts(_WORDS))
@example(text="a\u0323\x00\u0301b\u0301\ufffd\u0323")
@example(text="\r\n\r\r\n\u0301\u0600\u0600a")
@example(text="\U0001f1e6\U0001f1e7\U0001f1e6x\U0001f469\u0301\u200d\U0001f469\u200d")
@example(text="क\u094dक\u0301\u094d\u0301क कक")
@example(text="\u1100\u1161\u11a8\u1100가\u11a8각\u11a8\u1161")
@example(text="~\u0338~\u0301 ﷺ")
def test_both_forms_agree(name: str, text: str) -> None:
    form = both(name)
    form.agree(text)
    form.agree(f"plain text before {text} and behind")
    form.agree(text * 5)


@pytest.mark.parametrize("name", [*_STAGES, *_FILES])
def test_many_texts(name: str) -> None:
    form = both(name)
    for text in islice(many_texts(Random(7), _WORDS), 300):
        form.agree(text)
    random = Random(8)
    for size in (30, 300, 3000):
        form.agree("".join(random.choices(_LIVELY, k=size)))


@pytest.mark.parametrize("name", _STAGES)
def test_every_character_alone_and_between_others(name: str) -> None:
    form = both(name)
    codes = [code for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    Random(1).shuffle(codes)
    for start in range(0, len(codes), 1 << 12):
        characters = [*map(chr, codes[start : start + (1 << 12)])]
        form.agree("x".join(characters))
        form.agree("é".join(characters))
        form.agree("".join(characters))


@pytest.mark.parametrize("name", _STAGES)
def test_every_length_at_the_end(name: str) -> None:
    form = both(name)
    for size in range(40):
        for end in ("", "é", "\u0301", "\t", "中"):
            form.agree("abcdefgh"[: size % 9] * (size // 3) + end)
            form.agree("é" + "ab cd" * size + end)


def test_a_text_in_which_nothing_changes_is_given_back() -> None:
    for name in (c.NormalForm.NFC.value, "longest"):
        text = "naïve 文 text of 30 characters" * 3
        assert both(name).compiled.normalize(text) is text


def test_threads_share_a_normalizer() -> None:
    form = Both.of(_STAGES["BERT, uncased"])
    random = Random(4)
    texts = ["".join(random.choices(_LIVELY, k=200)) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(form.compiled.normalize, texts)] == [*map(form.pure.normalize, texts)]


def test_a_learned_page_tells_several_characters_apart() -> None:
    """A normalizer under which "~" changes, so that characters cannot be tried with it between them."""
    rewriting = LocalRewriting(lambda text: text.replace("~", "-").replace("é", "~"), tuple, lambda first, last: False)
    assert rewriting("é~e é") == "~-e ~"


_SPACES = st.builds(Spaces, dummy=st.booleans(), remove_extra=st.booleans(), mark=st.just("▁"), behind=st.booleans())


@given(spaces=_SPACES, text=st.text(" ▁ab\n", max_size=12))
def test_spaces_for_marks(spaces: Spaces, text: str) -> None:
    assert spaces.unmarked().normalize(text) == spaces.normalize(text).replace("▁", " ")
