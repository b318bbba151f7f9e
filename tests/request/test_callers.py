"""What the calls of a model say to a caller whose values are of another type than they ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pytest

import katapi
from katapi.runtime.messages import messages_of
from katapi.runtime.request_model import RequestModel

BOOK = katapi.load("book")
RAW = '{"messages": [{"role": "user", "content": "天空"}]}'.encode()
OTHER = katapi.load("qwen3").decode_request(RAW)
REQUEST = "katapi_models.book.request.Request"


def untyped(call: object) -> Callable[[object], object]:
    """A call as a caller without a type checker makes it."""
    return cast(Callable[[object], object], call)


CALLS = {
    "a number as a request": (untyped(BOOK.assemble), 5, f"takes a request as bytes or as a {REQUEST}, not as a int"),
    "a text as a request": (untyped(BOOK.render), RAW.decode(), "not as a str; encode the text"),
    "an object as a request": (untyped(BOOK.assemble), json.loads(RAW), "not as a dict; write it as JSON"),
    "a request of another model": (untyped(BOOK.render), OTHER, "not as a katapi_models.qwen3.request.Request"),
    "nothing to decode": (untyped(BOOK.decode_request), None, "not as a NoneType"),
    "nothing to encode": (untyped(BOOK.encode), None, "a text is a str, or bytes in UTF-8, not a NoneType"),
    "a text as ids": (untyped(BOOK.decode), "x", "ids are a sequence of integers, not a str"),
    "bytes as ids": (untyped(BOOK.decode), b"\x01", "ids are a sequence of integers, not a bytes"),
    "a text pushed": (untyped(BOOK.decoder().push), "x", "an id is an integer, not a str"),
    "a number pushed": (untyped(BOOK.decoder().push), 1.0, "an id is an integer, not a float"),
    "a list pushed": (untyped(BOOK.decoder().push), [1], "an id is an integer, not a list"),
    "one id": (untyped(BOOK.decode_text), 5, "ids are a sequence of integers, not a int"),
    "a fraction as an id": (untyped(BOOK.decode), [1, 1.5], "a sequence of integers, not a list of float, int"),
    "nothing as a name": (untyped(katapi.load), None, "a model is loaded by its name in a str, not by a NoneType"),
    "a number as a package": (untyped(katapi.models), 5, "a package of models is named in a str, not in a int"),
    "a number as a policy": (
        lambda value: BOOK.assemble(RAW, cast(str, value)),
        5,
        "the name of one in a str, not a int",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_a_wrong_type_gives_one_sentence(name: str) -> None:
    call, value, said = CALLS[name]
    with pytest.raises(TypeError) as caught:
        call(value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["book", "qwen3", "llama3.2", "gemma3", "qwen3-vl"])
def test_a_message_of_a_subclass_becomes_one_of_its_class(name: str) -> None:
    model = katapi.load(name)
    plain = model.decode_request(RAW)
    (message,) = messages_of(plain)
    own: type[RequestModel] = type(message)
    derived = type("Derived", (own,), {})
    request = model.request_type.model_validate({"messages": [derived(role="user", content="天空")]})
    assert type(messages_of(request)[0]) is own
    assert model.render(request) == model.render(plain)


def test_ids_may_be_those_of_an_array() -> None:
    ids = BOOK.assemble(RAW).input_ids
    assert BOOK.decode(cast(Sequence[int], ids)) == BOOK.decode(ids.tolist())
    assert BOOK.decode([np.int32(8)]) == "天空".encode()  # type: ignore[list-item]  # an integer by its protocol


def test_an_id_that_the_vocabulary_lacks_is_an_error_of_the_tokenizer() -> None:
    with pytest.raises(katapi.TokenizerError):
        BOOK.decode([99])


def test_params_stand_in_place_of_the_keys_of_the_bytes() -> None:
    model = katapi.load("qwen3")
    raw = RAW[:-1] + b', "enable_thinking": true}'
    plain = model.assemble(raw)
    silent = model.assemble(raw, params={"enable_thinking": False})
    assert silent.text == plain.text + "<think>\n\n</think>\n\n"
    assert model.decode_request(raw, {"enable_thinking": False}) == model.decode_request(raw.replace(b"true", b"false"))


def test_the_record_names_the_bytes_only_where_they_are_the_whole_request() -> None:
    request: RequestModel = BOOK.decode_request(RAW)
    assert BOOK.assemble(RAW).record.request_sha256 is not None
    assert BOOK.assemble(request).record.request_sha256 is None
    changed = BOOK.assemble(RAW, params={"add_generation_prompt": False}).record
    assert changed.request_sha256 is None
    assert changed.request["add_generation_prompt"] is False


def test_params_beside_a_typed_request_are_refused() -> None:
    with pytest.raises(TypeError, match="a typed request holds its own"):
        BOOK.assemble(BOOK.decode_request(RAW), params={"add_generation_prompt": False})
