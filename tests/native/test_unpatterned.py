"""The compiled engines of tokenizers without a pattern give what the pure ones give, for every text and vocabulary."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.compiled import why_pure
from katapi.runtime.errors import ArtifactError, TokenizerError
from katapi.runtime.native.engine import DERIVATION
from katapi.runtime.native.unpatterned import ENCODER
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array, score_array
from tests.differential.texts import many_texts
from tests.differential.texts import texts as odd_texts

_OWN = ("character_pairs", "character_tables", "unigram", "word_memo", "word_pieces", "word_tables", "words")
_REASON = why_pure(*ENCODER, *DERIVATION, *(f"katapi.runtime.native.{name}" for name in _OWN))
pytestmark = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))

_SHARED = Path(__file__).parents[2].parent / "shared" / "artifacts"
_FILES = (
    "bert-base-cased.tokenizer.json",
    "bert-uncased-gte.tokenizer.json",
    "gemma4.tokenizer.json",
    "llama2.tokenizer.json",
    "llama2.tokenizer.model",
    "mistral-v1.tokenizer.json",
    "mistral-v3.tokenizer.json",
    "phi-3-mini.tokenizer.json",
    "t5-small.tokenizer.json",
    "t5.spiece.model",
    "xlm-roberta.tokenizer.json",
    "xlnet-base-cased.spiece.model",
    "xlnet-base-cased.tokenizer.json",
)
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_DECODERS = (c.Fuse(),)


@dataclass(frozen=True)
class Both:
    """A tokenizer in both forms, and some of its tokens as they stand in texts."""

    compiled: Tokenizer
    pure: Tokenizer
    tokens: tuple[str, ...] = ()

    @classmethod
    def of(cls, rules: c.TokenizerConfiguration, data: VocabularyData, tokens: tuple[str, ...] = ()) -> Both:
        """From its rules and data."""
        return cls(build_tokenizer(rules, data), build_tokenizer(rules, data, pure=True), tokens)

    def agree(self, text: str, *, first: bool = True) -> None:
        """Fails where the two differ."""
        ids = self.pure.encode(text, first)
        assert self.compiled.encode(text, first) == ids, text
        assert self.compiled.encode_array(text, first).tolist() == ids, text
        assert [*memoryview(self.compiled.encode_bytes(text, first)).cast("q")] == ids, text
        assert self.compiled.count(text, first) == len(ids), text


@cache
def both(name: str) -> Both:
    """The tokenizer of a file."""
    path = _SHARED / f"{name}.gz"
    if not path.exists():
        pytest.skip("../shared/artifacts is not there")
    file = read_tokenizer_file(gzip.decompress(path.read_bytes()), where=name)
    tokens = [file.data.tokens[token] for token in Random(3).sample(range(len(file.data.tokens)), 400)]
    form = Both.of(file.configuration, file.data, tuple(token.decode().replace("▁", " ") for token in tokens))
    form.compiled.encode("a")
    assert form.compiled.engine.form == "compiled", form.compiled.engine.reason
    return form


@pytest.mark.parametrize("name", _FILES)
def test_many_texts(name: str) -> None:
    form = both(name)
    for number, text in enumerate(islice(many_texts(Random(11), form.tokens), 400)):
        form.agree(text, first=number % 2 == 0)


def _units() -> tuple[str, ...]:
    return ("a", " ", "▁", "\n", "=", "中", "天空", "é", "\U0001f600", "ab", "a\u0301", " ▁", "กข", "\t ", "의", "\x00")


@pytest.mark.parametrize("name", _FILES)
def test_long_runs(name: str) -> None:
    form = both(name)
    random = Random(5)
    for unit in _units():
        form.agree(unit * 700)
        form.agree(f"x{unit * 300} y")
    for alphabet in ("ab", "aAbB中▁ ", "的一是不了人我\U0001f600", "=-_", "aeinorst", "ðþ中a"):
        for size in (15, 16, 33, 64, 257, 900):
            form.agree("".join(random.choices(alphabet, k=size)))


@pytest.mark.parametrize("name", ["llama2.tokenizer.json", "mistral-v1.tokenizer.json", "t5-small.tokenizer.json"])
@given(data=st.data())
def test_texts_that_hypothesis_draws(name: str, data: st.DataObject) -> None:
    form = both(name)
    form.agree(data.draw(odd_texts(form.tokens)), first=data.draw(st.booleans()))


# ---- small vocabularies at random

_LETTERS = "ab▁é中."
_TEXTS = st.text("ab▁ é中.x\n", max_size=40) | st.text("ab▁ ", max_size=40) | st.text(max_size=12)
_WORDS = st.lists(st.text(_LETTERS, min_size=1, max_size=5), max_size=20, unique=True)


def _encoded(texts: list[str]) -> Tokens:
    return Tokens.of([text.encode() for text in texts])


_MARKING: st.SearchStrategy[tuple[tuple[c.Normalizer, ...], tuple[c.PreTokenizer, ...]]] = st.sampled_from(
    [
        ((c.Replace(c.Verbatim(" "), "▁"),), ()),
        ((c.Prepend("▁"), c.Replace(c.Verbatim(" "), "▁")), ()),
        ((c.Replace(c.Verbatim(" "), "▁"),), (c.Split(c.Verbatim(" "), c.Behaviour.MERGED_WITH_PREVIOUS, False),)),
        ((), (c.Metaspace("▁", c.PrependScheme.FIRST, split=False),)),
        ((), (c.Metaspace("▁", c.PrependScheme.ALWAYS, split=False),)),
        ((), ()),
        ((c.Spaces(dummy=True, remove_extra=True, mark="▁", behind=False),), ()),
    ]
)
_WORDING: st.SearchStrategy[tuple[c.PreTokenizer, ...]] = st.sampled_from(
    [
        (c.WhitespaceSplit(), c.Metaspace("▁", c.PrependScheme.ALWAYS, split=True)),
        (c.Metaspace("▁", c.PrependScheme.ALWAYS, split=True),),
    ]
)


@st.composite
def _merged(draw: st.DrawFn) -> Both:
    characters = draw(st.lists(st.sampled_from(_LETTERS), min_size=1, unique=True))
    texts = ["<unk>", *_BYTES, *characters]
    rows: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        pool = st.sampled_from(texts[257:])
        rows.append((draw(pool), draw(pool)))
        if "".join(rows[-1]) not in texts:
            texts.append("".join(rows[-1]))
    rows = draw(st.permutations(rows))
    ids = {text: number for number, text in enumerate(texts)}
    merges = [(ids[left], ids[right], ids[left + right]) for left, right in rows]
    segmentation = c.BytePairMerges(
        over_bytes=False,
        ignore_merges=False,
        byte_fallback=True,
        fuse_unknown=True,
        continuing_prefix="",
        word_suffix="",
    )
    normalizers, pretokenizers = draw(_MARKING)
    rules = c.TokenizerConfiguration(normalizers, pretokenizers, segmentation, c.Frame(), _DECODERS, unknown=0)
    return Both.of(rules, VocabularyData(_encoded(texts), merge_array(merges), unreachable=frozenset({0})))


@st.composite
def _scored(draw: st.DrawFn, segmentation: c.BytePairScores | c.Unigram) -> Both:
    texts = list(dict.fromkeys(["<unk>", *_BYTES, *draw(st.sampled_from(["", _LETTERS])), *draw(_WORDS)]))
    chosen = st.sampled_from([-1.0, -2.0, -2.5, -0.1, -0.3, 0.0, 12.0]) | st.floats(-20, 5, width=32)
    scores = [0.0] * 257 + [draw(chosen) for _ in texts[257:]]
    normalizers, pretokenizers = draw(_MARKING)
    if isinstance(segmentation, c.Unigram) and draw(st.booleans()):
        normalizers, pretokenizers = (), draw(_WORDING)
    rules = c.TokenizerConfiguration(normalizers, pretokenizers, segmentation, c.Frame(), _DECODERS, unknown=0)
    data = VocabularyData(
        _encoded(texts), scores=score_array(scores), lowest=min(scores), unreachable=frozenset(range(257))
    )
    return Both.of(rules, data)


@st.composite
def _word_pieces(draw: st.DrawFn) -> Both:
    prefix = draw(st.sampled_from(["##", "", "a"]))
    words = draw(_WORDS)
    texts = list(dict.fromkeys(["<unk>", *words, *(prefix + word for word in words)]))
    cuts: list[tuple[c.PreTokenizer, ...]] = [(c.BertPreTokenize(),), (c.WhitespaceSplit(),)]
    pretokenizers = draw(st.sampled_from(cuts))
    segmentation = c.WordPiece(prefix, draw(st.sampled_from([100, 4])))
    rules = c.TokenizerConfiguration((), pretokenizers, segmentation, c.Frame(), _DECODERS, unknown=0)
    return Both.of(rules, VocabularyData(_encoded(texts)))


_KINDS: dict[str, Callable[[], st.SearchStrategy[Both]]] = {
    "merges": _merged,
    "scores": lambda: _scored(c.BytePairScores(byte_fallback=True)),
    "unigram": lambda: _scored(c.Unigram(byte_fallback=False, binary32=False)),
    "unigram in bytes": lambda: _scored(c.Unigram(byte_fallback=True, binary32=False)),
    "unigram in binary32": lambda: _scored(c.Unigram(byte_fallback=True, binary32=True)),
    "WordPiece": _word_pieces,
}


@pytest.mark.parametrize("kind", _KINDS)
@given(data=st.data())
def test_any_vocabulary(kind: str, data: st.DataObject) -> None:
    form = data.draw(_KINDS[kind]())
    form.compiled.encode("a")
    assume(form.compiled.engine.form == "compiled")  # two kinds of ties between scores have none
    for text in data.draw(st.lists(_TEXTS, min_size=1, max_size=6)):
        form.agree(text, first=data.draw(st.booleans()))
        form.agree(text * 9)


@pytest.mark.parametrize("wrong", [b"\xe4", b"\x96\x81"])
def test_a_token_that_is_no_text_is_an_error_before_any_text(wrong: bytes) -> None:
    tokens = Tokens.of([b"<unk>", *(text.encode() for text in _BYTES), "▁".encode(), wrong])
    scores, lacking = score_array([0.0] * len(tokens)), frozenset(range(257))
    data = VocabularyData(tokens, scores=scores, unreachable=lacking)
    segmentation = c.BytePairScores(byte_fallback=True)
    rules = c.TokenizerConfiguration((), (), segmentation, c.Frame(), _DECODERS, unknown=0)
    for pure in (False, True):
        with pytest.raises(ArtifactError, match="A110: the token 258 "):
            build_tokenizer(rules, data, pure=pure)


# ---- what holds for all


def test_memos_that_overflow_change_nothing() -> None:
    form = both("llama2.tokenizer.json")
    random = Random(2)
    words = ["".join(random.choices("abcdefghijklmnop天空为什么", k=random.randint(1, 24))) for _ in range(40_000)]
    text = " ".join(words)
    first = form.compiled.encode(text)
    assert first == form.pure.encode(text)
    assert form.compiled.encode(text) == first


@pytest.mark.parametrize("name", ["llama2.tokenizer.json", "t5-small.tokenizer.json", "bert-base-cased.tokenizer.json"])
def test_many_threads_at_once(name: str) -> None:
    form = both(name)
    texts = [f"{number} says {'xyz' * number} 天空为什么 {number * 7919}\n" * 10 for number in range(40)]
    expected = [form.pure.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for ids in pool.map(lambda _: [form.compiled.encode(text) for text in texts], range(24)):
            assert ids == expected


@pytest.mark.parametrize("name", _FILES)
def test_surrogates_are_refused(name: str) -> None:
    """At their places in the text as it came, whatever is put in front of it."""
    form = both(name)
    assert form.compiled.encode("") == []
    for text, place in {"\ud800": 0, "a\udfff": 1, "天\udc80": 1, "e\u0301 \ud800": 3}.items():
        compiled = (form.compiled.encode, form.compiled.encode_array, form.compiled.encode_bytes, form.compiled.count)
        for encode in (*compiled, form.pure.encode):
            for first in (True, False):
                with pytest.raises(TokenizerError) as caught:
                    encode(text, first)
                assert (caught.value.code, caught.value.where) == ("V101", f"character {place}")
    form.agree("a")


def test_spans_go_with_the_ids() -> None:
    for name in ("llama2.tokenizer.json", "gemma4.tokenizer.json", "mistral-v1.tokenizer.json"):
        form = both(name)
        text = " a  naïve ▁ text\n"
        ids = form.compiled.encode(text)
        assert form.compiled.spans(text, ids).tolist() == form.pure.spans(text, ids).tolist()


def test_tables_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    path = _SHARED / "llama2.tokenizer.json.gz"
    if not path.exists():
        pytest.skip("../shared/artifacts is not there")
    file = read_tokenizer_file(gzip.decompress(path.read_bytes()), where=path.name)
    ids = build_tokenizer(file.configuration, file.data).encode("it is kept")
    (kept,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    before = kept.stat().st_mtime_ns
    assert build_tokenizer(file.configuration, file.data).encode("it is kept") == ids
    assert kept.stat().st_mtime_ns == before
    kept.write_bytes(kept.read_bytes()[:-1])
    assert build_tokenizer(file.configuration, file.data).encode("it is kept") == ids
    assert kept.stat().st_mtime_ns != before
