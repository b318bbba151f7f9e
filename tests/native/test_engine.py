"""The compiled engine gives what the pure one gives, for every text and every vocabulary that has one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.runtime.compiled import why_pure
from katapi.runtime.errors import ArtifactError, TokenizerError
from katapi.runtime.native.engine import BYTE_LEVEL, DERIVATION
from katapi.runtime.tokenization import build
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.byte_alphabet import IN_NO_TEXT
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array
from tests.differential.texts import many_texts
from tests.differential.texts import texts as odd_texts

_REASON = why_pure(*BYTE_LEVEL, *DERIVATION)
pytestmark = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))

_MODELS = Path(import_module("katapi_models").__path__[0])
_BYTE_LEVEL = sorted(
    path.parent.name
    for path in _MODELS.glob("*/tokenizer.py")
    if "BytePairRanks" in (text := path.read_text("utf-8")) or "over_bytes=True" in text
)


@dataclass(frozen=True)
class Both:
    """A tokenizer in both forms, and some of its tokens as they stand in texts."""

    compiled: Tokenizer
    pure: Tokenizer
    tokens: list[str]


@cache
def both(package: str) -> Both:
    """The tokenizer of a generated package; skips where its vocabulary is not at hand."""
    module = import_module(f"katapi_models.{package}.tokenizer")
    made: list[Tokenizer] = []

    def pure(*arguments: object, **named: object) -> Tokenizer:
        return build.build_tokenizer(*arguments, **named, pure=True)  # type: ignore[arg-type]  # passed through

    patch = pytest.MonkeyPatch()
    try:
        compiled: Tokenizer = module.tokenizer()
        patch.setattr(module, "build_tokenizer", pure)
        made.append(module.tokenizer.__wrapped__())
    except ArtifactError as error:
        pytest.skip(error.message)
    finally:
        patch.undo()
    compiled.encode("a")
    assert compiled.engine.form == "compiled", compiled.engine.reason
    assert made[0].engine.form == "pure"
    tokens = [compiled.decode_text([token]) for token in Random(3).sample(range(compiled.vocabulary_size - 3000), 400)]
    return Both(compiled, made[0], [token for token in tokens if "\ufffd" not in token])


@pytest.mark.parametrize("package", _BYTE_LEVEL)
def test_many_texts(package: str) -> None:
    form = both(package)
    for text in islice(many_texts(Random(11), form.tokens), 1200):
        ids = form.pure.encode(text)
        assert form.compiled.encode(text) == ids, text
        assert form.compiled.encode_array(text).tolist() == ids
        assert [*memoryview(form.compiled.encode_bytes(text)).cast("q")] == ids
        assert form.compiled.count(text) == len(ids)


@pytest.mark.parametrize(
    "package", ["qwen2_5_tokens", "gpt2", "deepseek_r1_tokens", "gpt_oss_tokens", "glm_4_5_tokens"]
)
@given(st.data())
def test_texts_that_hypothesis_draws(package: str, data: st.DataObject) -> None:
    form = both(package)
    text = data.draw(odd_texts(form.tokens))
    assert form.compiled.encode(text) == form.pure.encode(text), text


_WIDE = "中京乐나다あ，ქა"
_TEXTS = st.text(_WIDE + "aé \u0e01", max_size=40) | st.text(_WIDE, min_size=4, max_size=12)


@st.composite
def _any_vocabulary(draw: st.DrawFn) -> tuple[str, Tokenizer, Tokenizer]:
    """A text, and a vocabulary that was merged out of it, in both forms, behind the pattern of Qwen.

    Its tokens hold parts of characters, and there are some that no merge makes.
    """
    text = draw(st.text(_WIDE, min_size=3, max_size=8))
    encoded = text.encode()
    tokens = [bytes([byte]) for byte in range(256)]
    merges: list[tuple[bytes, bytes]] = []
    parts = [bytes([byte]) for byte in encoded]
    for place in draw(st.lists(st.integers(0, 30), max_size=20)):
        if len(parts) < 2:
            break
        pair = parts[place % (len(parts) - 1)], parts[place % (len(parts) - 1) + 1]
        if b"".join(pair) not in tokens:
            merges.append(pair)
            tokens.append(b"".join(pair))
        parts = _merged(parts, pair)
    places = st.integers(0, len(encoded))
    for first, last in draw(st.lists(st.tuples(places, places), max_size=3)):
        if last > first + 1 and encoded[first:last] not in tokens:
            tokens.append(encoded[first:last])
    ids = {token: id for id, token in enumerate(tokens)}
    segmentation: c.Segmentation = c.BytePairRanks()
    rows: list[tuple[int, int, int]] = []
    if draw(st.booleans()):
        if draw(st.booleans()):  # a vocabulary that was learned from text has no tokens for bytes that none has
            tokens = [token for token in tokens if token[0] not in IN_NO_TEXT]
            ids = {token: id for id, token in enumerate(tokens)}
        rows = [(ids[left], ids[right], ids[left + right]) for left, right in merges]
        segmentation = c.BytePairMerges(
            over_bytes=True,
            ignore_merges=draw(st.booleans()),
            byte_fallback=False,
            fuse_unknown=False,
            continuing_prefix="",
            word_suffix="",
        )
    qwen: c.TokenizerConfiguration = import_module("katapi_models.qwen2_5_tokens.tokenizer").CONFIGURATION
    rules = c.TokenizerConfiguration(
        (), qwen.pretokenizers, segmentation, c.Frame(), qwen.decoders, unicode=qwen.unicode
    )
    data = VocabularyData(Tokens.of(tokens), merge_array(rows)) if rows else VocabularyData(Tokens.of(tokens))
    return text, build.build_tokenizer(rules, data), build.build_tokenizer(rules, data, pure=True)


def _merged(parts: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    merged: list[bytes] = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


@given(st.data())
def test_any_vocabulary(data: st.DataObject) -> None:
    text, compiled, pure = data.draw(_any_vocabulary())
    assert compiled.engine.form == "compiled", compiled.engine.reason
    for other in data.draw(st.lists(_TEXTS | st.text(text, max_size=12), min_size=1, max_size=6)):
        for each in (text, other, other + text, text * 3):
            assert compiled.encode(each) == pure.encode(each), each


def _runs() -> Iterator[str]:
    """Long texts without a place to cut, or with many."""
    for unit in (
        "a",
        "A",
        " ",
        "\n",
        "=",
        "中",
        "天空",
        "é",
        "0",
        "\U0001f600",
        "ab",
        "a\u0301",
        "がく",
        "!?",
        "\t ",
        "의",
    ):
        yield unit * 700
    yield " " * 500 + "x" + "\n" * 300 + "  y"
    random = Random(5)
    for alphabet in ("ab", "aAbB中", "的一是不了人我", "=-_", "\u4e00\u3042\u30a2", "aeinorst"):
        for size in (33, 64, 257, 900):
            yield "".join(random.choices(alphabet, k=size))


@pytest.mark.parametrize("package", _BYTE_LEVEL)
def test_long_pieces(package: str) -> None:
    form = both(package)
    for text in _runs():
        assert form.compiled.encode(text) == form.pure.encode(text), text[:60]


def test_memos_that_overflow_change_nothing() -> None:
    form = both("qwen2_5_tokens")
    random = Random(2)
    words = [
        "".join(random.choices("abcdefghijklmnop天空为什么是蓝色", k=random.randint(1, 24))) for _ in range(60_000)
    ]
    text = " ".join(words)
    first = form.compiled.encode(text)
    assert first == form.pure.encode(text)
    assert form.compiled.encode(text) == first


def test_the_empty_text_and_surrogates() -> None:
    form = both("qwen2_5_tokens")
    assert form.compiled.encode("") == []
    assert form.compiled.count("") == 0
    assert form.compiled.encode_array("").tolist() == []
    assert form.compiled.encode_bytes("") == b""
    for text, place in {"\ud800": 0, "a\udfff": 1, "天\udc80": 1, "e\u0301 \ud800": 3}.items():
        compiled = (form.compiled.encode, form.compiled.encode_array, form.compiled.encode_bytes, form.compiled.count)
        for encode in (*compiled, form.pure.encode):
            with pytest.raises(TokenizerError) as caught:
                encode(text)
            assert (caught.value.code, caught.value.where) == ("V101", f"character {place}")
    assert form.compiled.encode("a") == form.pure.encode("a")


def test_many_threads_at_once() -> None:
    form = both("qwen2_5_tokens")
    texts = [f"{number} says {'xyz' * number} 天空为什么 {number * 7919}\n" * 30 for number in range(40)]
    expected = [form.pure.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for ids in pool.map(lambda _: [form.compiled.encode(text) for text in texts], range(24)):
            assert ids == expected


def test_threads_that_leave_the_lock_to_others() -> None:
    """Texts of more than 8 KiB, with words that the kernel must ask for while others encode."""
    form = both("qwen2_5_tokens")
    random = Random(9)
    words = ["".join(random.choices("abcdefgh天é", k=random.randint(1, 60))) for _ in range(6000)]
    texts = [" ".join(random.choices(words, k=1500)) for _ in range(12)]
    expected = [form.pure.encode(text) for text in texts]
    with ThreadPoolExecutor(6) as pool:
        for ids in pool.map(lambda _: [form.compiled.encode(text) for text in texts], range(12)):
            assert ids == expected
    assert form.compiled.encode_array(texts[0]).tolist() == expected[0]


def test_an_array_is_its_own() -> None:
    form = both("qwen2_5_tokens")
    first = form.compiled.encode_array("the first text")
    kept = first.tolist()
    form.compiled.encode_array("and now quite another one")
    assert first.tolist() == kept
    first[0] = 0


def test_the_variable_asks_for_the_pure_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATAPI_ENGINE", "pure")
    module = import_module("katapi_models.qwen2_5_tokens.tokenizer")
    tokenizer: Tokenizer = module.tokenizer.__wrapped__()
    assert tokenizer.engine.form == "pure"
    assert tokenizer.engine.reason == "KATAPI_ENGINE=pure asks for it"


def test_tables_are_derived_when_a_text_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    tokenizer: Tokenizer = import_module("katapi_models.gpt2.tokenizer").tokenizer.__wrapped__()
    form = tokenizer.engine
    assert form.form == "compiled"
    assert tokenizer.decode([15496, 995]) == b"Hello world"
    assert tokenizer.encode("") == []
    assert not [*tmp_path.iterdir()]
    assert tokenizer.encode("Hello world") == [15496, 995]
    assert tokenizer.engine == form
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


_RULES = import_module("katapi_models.gpt2.tokenizer").CONFIGURATION


def _of(tokens: list[bytes], merges: list[tuple[int, int, int]]) -> Tokenizer:
    return build.build_tokenizer(_RULES, VocabularyData(Tokens.of(tokens), merge_array(merges)))


def test_a_vocabulary_without_tables_is_pure_from_its_first_text_on() -> None:
    bytes_alone = [bytes([byte]) for byte in range(256)]
    tokenizer = _of([*bytes_alone, b"ac"], [(97, 98, 256)])  # a and b become the token "ac"
    assert tokenizer.engine.form == "compiled"
    assert tokenizer.encode("ab b") == [256, 32, 98]
    reason = "its vocabulary has no tables for compiled code: the merge 0 does not give the bytes of its parts"
    assert (tokenizer.engine.form, tokenizer.engine.reason) == ("pure", reason)
    tokenizer = _of(bytes_alone[:98], [])
    reason = "its vocabulary has no tables for compiled code: the byte 98 is no token"
    assert (tokenizer.engine.form, tokenizer.engine.reason) == ("pure", reason)
    assert tokenizer.encode("ab") == [97]


def test_what_a_file_lacks_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    """Not when the first text comes: there is a scanner for the pattern."""
    path = tmp_path / "a.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    pattern = import_module("katapi_models.qwen2_5_tokens.tokenizer").PATTERN.source
    with pytest.raises(ArtifactError, match=r"A105.*255 are missing"):
        katapi.tokenizer_from_file(path, pattern=pattern)


def test_what_a_model_reports() -> None:
    assert katapi.engine("qwen2.5").form == "compiled"
