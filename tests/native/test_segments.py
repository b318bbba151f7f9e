"""Unigram models that take texts as they come give what the pure form gives, for every text and vocabulary."""

from __future__ import annotations

from itertools import islice
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from katapi.runtime.compiled import why_pure
from katapi.runtime.native.engine import DERIVATION
from katapi.runtime.native.unpatterned import ENCODER, SegmentEngine
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array
from tests.charsmaps import character_map
from tests.differential.texts import many_texts

_OWN = ("character_pairs", "rewriting", "segments", "unigram", "word_memo", "word_tables", "words")
_REASON = why_pure(*ENCODER, *DERIVATION, *(f"katapi.runtime.native.{name}" for name in _OWN))
pytestmark = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))

_LETTERS = "ab▁é中.{が"
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_MAPS = {
    "none": b"",
    "simple": character_map({"\n": " ", "\u3000": " ", "\u00a0": " ", "，": ".", "\x01": "", "ﬁ": "fi", "B": "a b"}),
    "joining": character_map({"a\u0301": "á", "か\u3099": "が", "\n": " ", "e\u0301b": "é", "\r\n": " ", "C": " c "}),
    "with marks": character_map({"\n": " ", "D": "▁", "\u2028": " ▁"}),
    "with spaces in keys": character_map({"a b": "c", "\n": " "}),
}
_WORDS = (c.WhitespaceSplit(), c.Metaspace("▁", c.PrependScheme.ALWAYS, split=True))
_SPACES = c.Spaces(dummy=True, remove_extra=True, mark="▁", behind=False)
_STAGES: dict[str, tuple[c.Normalizer, ...]] = {
    "nothing": (),
    "a map by clusters": (c.Precompiled(),),
    "quotes": (c.Replace(c.Verbatim("``"), '"'), c.Replace(c.Verbatim("''"), '"')),
    "taken apart": (c.Normalize(c.NormalForm.NFKD), c.StripAccents(), c.Precompiled()),
    "composed": (c.Normalize(c.NormalForm.NFC), c.Lowercase()),
}
_UNITS = [
    *"ab.{}中文☃é \n\t▁\u3000\u00a0\u0301、，\x01ﬁ\u0600\u200d\u2028한BCD\U0001f642",
    *("  ", "\r\n", "a\u0301", "か\u3099", "``", "ab", "中中", " a", "\u1100\u1161", "a b", "x" * 9, "ab" * 9),
]
_TEXTS = st.lists(st.sampled_from(_UNITS), max_size=24).map("".join) | st.text("ab ", max_size=30)


def _near(score: float) -> float:
    """The next number of binary32."""
    return float(np.nextafter(np.float32(score), np.float32(0)))


_SCORES = st.sampled_from([-1.0, -2.0, -3.0, -2.5, _near(-1.0), _near(-2.0), -0.1, -0.3, 0.0, -1000.0, -999.9])


@st.composite
def _vocabularies(draw: st.DrawFn, *, fallback: bool) -> VocabularyData:
    letters = draw(st.sampled_from(["▁", "▁ab", _LETTERS]))
    words = draw(st.lists(st.text(_LETTERS, min_size=1, max_size=5), max_size=20))
    inner = draw(st.booleans())  # whether a mark may stand within a token
    words = [word for word in words if inner or "▁" not in word[1:]]
    front = ["<unk>", *_BYTES] if fallback else ["<unk>"]
    texts = [*dict.fromkeys([*front, *letters, *words])]
    scores = [0.0] * len(front) + [draw(_SCORES) for _ in texts[len(front) :]]
    return VocabularyData(
        Tokens.of([text.encode() for text in texts]),
        scores=score_array(scores),
        lowest=min(scores),
        unreachable=frozenset(range(len(front))),
        charsmap=_MAPS[draw(st.sampled_from([*_MAPS]))],
    )


@st.composite
def _rules(draw: st.DrawFn, data: VocabularyData, *, single: bool, fallback: bool) -> c.TokenizerConfiguration:
    if single:
        normalizers: tuple[c.Normalizer, ...] = (c.CharacterMap(), _SPACES) if data.charsmap else (_SPACES,)
    else:
        normalizers = draw(st.sampled_from([*_STAGES.values()]))
        if not data.charsmap:
            normalizers = tuple(one for one in normalizers if not isinstance(one, c.Precompiled))
    segmentation = c.Unigram(byte_fallback=fallback, binary32=single)
    return c.TokenizerConfiguration(
        normalizers, () if single else _WORDS, segmentation, c.Frame(), (c.Fuse(),), unknown=0
    )


def _engine(tokenizer: PipelineTokenizer) -> object:
    tokenizer.encode("a")
    return tokenizer._encoding and tokenizer._encoding.engine  # which no caller can see, since both give the same


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("single", [True, False])
@given(data=st.data())
def test_any_vocabulary(single: bool, fallback: bool, data: st.DataObject) -> None:
    vocabulary = data.draw(_vocabularies(fallback=fallback))
    rules = data.draw(_rules(vocabulary, single=single, fallback=fallback))
    compiled, pure = build_tokenizer(rules, vocabulary), build_tokenizer(rules, vocabulary, pure=True)
    assume(isinstance(_engine(compiled), SegmentEngine))
    for text in data.draw(st.lists(_TEXTS, min_size=1, max_size=6)):
        for whole in (text, text * 9, f"{text} " * 40):
            ids = pure.encode(whole)
            assert compiled.encode(whole) == ids, whole
            assert compiled.encode(whole) == ids, whole  # from the memos
            assert compiled.encode_array(whole).tolist() == ids


def _drawn(random: Random, *, single: bool) -> tuple[PipelineTokenizer, PipelineTokenizer, list[str]]:
    """A vocabulary whose segmentations are seldom far apart, in both forms, and words to write texts of."""
    letters = "abcdef"
    texts = [*dict.fromkeys("".join(random.choices(letters, k=random.randint(1, 4))) for _ in range(150))]
    texts = ["<unk>", "▁", *dict.fromkeys([*letters, *texts, *("▁" + text for text in texts[:60])])]
    steps = random.choice([0.0, 2.0**-20, 2.0**-12, 2.0**-6])
    scores = [0.0, -2.0]
    for text in texts[2:]:
        if single:
            score = -3.0 * len(text) + random.randint(-2, 2) * steps
            scores.append(float(np.float32(score if random.random() < 0.9 else score - random.random())))
        else:
            scores.append(-len(text) / 10)  # such sums are not equal where they should be
    data = VocabularyData(
        Tokens.of([text.encode() for text in texts]),
        scores=score_array(scores),
        lowest=min(scores),
        unreachable=frozenset({0}),
    )
    segmentation = c.Unigram(byte_fallback=False, binary32=single)
    rules = c.TokenizerConfiguration(
        (_SPACES,) if single else (), () if single else _WORDS, segmentation, c.Frame(), (c.Fuse(),), unknown=0
    )
    words = ["".join(random.choices(letters, k=random.randint(1, 18))) for _ in range(300)]
    words += ["".join(random.choices([*letters, "☃", "中"], k=random.randint(1, 12))) for _ in range(40)]
    return build_tokenizer(rules, data), build_tokenizer(rules, data, pure=True), words


@pytest.mark.parametrize("seed", range(12))
def test_what_is_almost_as_good(seed: int) -> None:
    """In long texts, where sums are rounded so coarsely that it is better."""
    random = Random(seed)
    compiled, pure, words = _drawn(random, single=seed % 4 != 3)
    assert isinstance(_engine(compiled), SegmentEngine)
    for size in (3, 40, 300, 4000):
        text = " ".join(random.choices(words, k=size))
        ids = pure.encode(text)
        assert compiled.encode(text) == ids
        assert compiled.encode(text) == ids


@pytest.mark.parametrize("score", [-10.0, -13.3, -17.25, -20 - 2.0**-7, -20 - 2.0**-9, -20 - 2.0**-11 - 2.0**-12])
def test_runs_of_unknown_characters(score: float) -> None:
    """Sums to which one score is added often are as if each were added, also where they are rounded to even numbers."""
    data = VocabularyData(
        Tokens.of([text.encode() for text in ("<unk>", "▁", "a", "b", "ab", "aba")]),
        scores=score_array([0.0, -1.7, -1.0, -1.0 - 2.0**-10, -2.0 - 2.0**-9, -3.3]),
        lowest=score + 10,
        unreachable=frozenset({0}),
    )
    segmentation = c.Unigram(byte_fallback=False, binary32=True)
    rules = c.TokenizerConfiguration((_SPACES,), (), segmentation, c.Frame(), (c.Fuse(),), unknown=0)
    compiled, pure = build_tokenizer(rules, data), build_tokenizer(rules, data, pure=True)
    assert isinstance(_engine(compiled), SegmentEngine)
    random = Random(1)
    for size in (1, 2, 3, 50, 1000, 20_000):
        text = " ".join(["中" * size + "aba", "ababab", "文" * 7 + "abab"] * 3)
        assert compiled.encode(text) == pure.encode(text)
    for _ in range(20):
        units = ["中" * random.randint(1, 9), "".join(random.choices("ab ", k=random.randint(1, 9)))]
        text = "".join(random.choice(units) for _ in range(2500))
        assert compiled.encode(text) == pure.encode(text)


@pytest.mark.parametrize("stages", [*_STAGES, "in binary32"])
def test_characters_that_go_together(stages: str) -> None:
    """Where one is in no token, but what becomes of both is."""
    texts = ["<unk>", "▁", "が", "é", "á", *"abe.", "▁が", "한", "가"]
    data = VocabularyData(
        Tokens.of([text.encode() for text in texts]),
        scores=score_array([0.0] + [-1.0] * (len(texts) - 1)),
        lowest=-1.0,
        unreachable=frozenset({0}),
        charsmap=_MAPS["joining"],
    )
    single = stages == "in binary32"
    normalizers = (c.CharacterMap(), _SPACES) if single else _STAGES[stages]
    segmentation = c.Unigram(byte_fallback=False, binary32=single)
    rules = c.TokenizerConfiguration(
        normalizers, () if single else _WORDS, segmentation, c.Frame(), (c.Fuse(),), unknown=0
    )
    compiled, pure = build_tokenizer(rules, data), build_tokenizer(rules, data, pure=True)
    assert isinstance(_engine(compiled), SegmentEngine)
    pairs = ("か\u3099", "a\u0301", "e\u0301", "\u1112\u1161\u11ab", "中\u0301", "\u0600中", "❤\ufe0f", "\r\n")
    for pair in pairs:
        for text in (
            pair,
            f"中{pair}中",
            f" {pair} ",
            f"a{pair}b",
            f"かか{pair}か",
            f"{pair} {pair}\n{pair}",
            f"\n{pair}。",
        ):
            assert compiled.encode(text) == pure.encode(text), text


@pytest.mark.parametrize("single", [True, False])
def test_many_texts(single: bool) -> None:
    random = Random(4)
    compiled, pure, words = _drawn(random, single=single)
    for text in islice(many_texts(random, tuple(words)), 300):
        assert compiled.encode(text) == pure.encode(text), text
