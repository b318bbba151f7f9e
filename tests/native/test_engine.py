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
from katapi.runtime.native.engine import DERIVATION, ENCODER
from katapi.runtime.tokenization import build
from katapi.runtime.tokenization.interface import Tokenizer
from katapi_scanners import SCANNERS
from tests.differential.texts import many_texts
from tests.differential.texts import texts as odd_texts

_REASON = why_pure(*ENCODER, *DERIVATION, *(f"katapi_scanners.{name}" for name in SCANNERS.values()))
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
        assert form.compiled.count(text) == len(ids)


@pytest.mark.parametrize(
    "package", ["qwen2_5_tokens", "gpt2", "deepseek_r1_tokens", "gpt_oss_tokens", "glm_4_5_tokens"]
)
@given(st.data())
def test_texts_that_hypothesis_draws(package: str, data: st.DataObject) -> None:
    form = both(package)
    text = data.draw(odd_texts(form.tokens))
    assert form.compiled.encode(text) == form.pure.encode(text), text


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
    for text in ("\ud800", "a\udfff", "天\udc80"):
        with pytest.raises(TokenizerError) as caught:
            form.compiled.encode(text)
        assert caught.value.code == "V101"
    assert form.compiled.encode("a") == form.pure.encode("a")


def test_many_threads_at_once() -> None:
    form = both("qwen2_5_tokens")
    texts = [f"{number} says {'xyz' * number} 天空为什么 {number * 7919}\n" * 30 for number in range(40)]
    expected = [form.pure.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for ids in pool.map(lambda _: [form.compiled.encode(text) for text in texts], range(24)):
            assert ids == expected


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


def test_what_a_model_reports() -> None:
    assert katapi.engine("qwen2.5").form == "compiled"
