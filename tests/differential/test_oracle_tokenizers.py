"""Tokenizers of the runtime against the oracle: any rules, over any vocabulary, on any text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import given, reject
from hypothesis import strategies as st

from katapi.oracle import tokenizer as oracle
from katapi.runtime.errors import ArtifactError, TokenizerError
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.interface import Tokenizer
from tests.examples import examples
from tests.random_tokenizers import Drawn, ids, texts, tokenizers

Result = TypeVar("Result")

_FEW = 12  # tokens after which a text is asked of as if it ended there


def outcome(function: Callable[[], Result]) -> Result | str:
    """What a function gives, or the code of its error."""
    try:
        return function()
    except TokenizerError as error:
        return error.code


def check_text(tokenizer: Tokenizer, drawn: Drawn, text: str, *, first: bool) -> None:
    """Ids and where they come from are those of the oracle."""
    expected = outcome(lambda: oracle.encoded(text, drawn.configuration, drawn.data, first=first))
    found = outcome(lambda: tokenizer.encode(text, first))
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    assert found == [token.id for token in expected]
    spans = tokenizer.spans(text, found, first).tolist()
    assert spans == [[token.start, token.end] for token in expected]
    assert tokenizer.post_process(found) == oracle.framed(found, drawn.configuration)
    check_ids(tokenizer, drawn, found)


def check_ids(tokenizer: Tokenizer, drawn: Drawn, numbers: list[int]) -> None:
    """What ids stand for is what the oracle says, at once and as they come."""
    data = oracle.decoded(numbers, drawn.configuration, drawn.data)
    assert tokenizer.decode(numbers) == data
    assert tokenizer.decode_text(numbers) == oracle.shown(numbers, drawn.configuration, drawn.data)
    decoder = tokenizer.decoder()
    come = b""
    for count, number in enumerate(numbers, 1):
        come += decoder.push(number)
        assert data.startswith(come)
        if count < _FEW:  # it might end here: nothing is given that what follows could still change
            assert oracle.decoded(numbers[:count], drawn.configuration, drawn.data).startswith(come)
    assert come + decoder.finish() == data


@examples(test=400, fuzz=5_000)
@given(drawn=tokenizers(), data=st.data())
def test_random_tokenizers(drawn: Drawn, data: st.DataObject) -> None:
    try:
        tokenizer = build_tokenizer(drawn.configuration, drawn.data)
    except ArtifactError as error:
        if error.code != "A108":  # a random pattern that is none
            raise
        reject()
    for text in data.draw(st.lists(texts(drawn), min_size=1, max_size=4)):
        check_text(tokenizer, drawn, text, first=data.draw(st.booleans()))
    check_ids(tokenizer, drawn, data.draw(ids(drawn)))
