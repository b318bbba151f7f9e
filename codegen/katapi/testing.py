"""Hypothesis strategies for generated property tests: texts that try to pass for control tokens, JSON, requests."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeVar

import hypothesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from katapi.artifacts.cache import Cache
from katapi.runtime.arguments import JsonText
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import RequestError, TemplateError, TokenizerError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.parts import FromParts, MergedText
from katapi.runtime.reply.message import AssistantMessage
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Content, ControlToken
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.configuration import BytePairMerges, BytePairRanks, TokenizerConfiguration
from katapi.runtime.tokenization.facade import TextAndIds
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array

T = TypeVar("T")
D = TypeVar("D", bound=DeclaredTokenizer)
R = TypeVar("R", bound=RequestModel)

_PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_SCRIPTS = st.sampled_from(
    [
        "",
        " ",
        "\n",
        "\n\n",
        "\t",
        "  ",
        "hello",
        " world",
        "don't",
        "天空",
        "é",
        "e\u0301",
        "👩‍👩‍👧",
        "\u200b",
        "1234",
        "{}",
        '"',
    ]
)


def given(strategy: SearchStrategy[T], one_in: int = 1) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Hypothesis's own `given` without its limits of time: the first example of a process builds a tokenizer.

    A test whose examples take long draws `one_in` so many of the usual number.
    """

    def decorate(test: Callable[[T], None]) -> Callable[..., None]:
        count = max(1, settings().max_examples // one_in)
        patient = settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        return patient(hypothesis.given(strategy)(test))

    return decorate


def with_vocabulary(declared: D, configuration: TokenizerConfiguration, sha256: str) -> D:
    """The same, but over single bytes where the artifact of its vocabulary is not in the user's cache.

    A vocabulary that may not be passed on is on few machines, and the rules hold over any.
    """
    cache = Cache.of_user()
    if cache.path(sha256).is_file() or cache.table_path(sha256).is_file():
        return declared
    return replace(declared, _tokenizer=functools.cache(lambda: over_single_bytes(configuration)))


def over_single_bytes(configuration: TokenizerConfiguration) -> Tokenizer:
    """The tokenizer of a configuration over a vocabulary of nothing but the single bytes and its own control tokens."""
    return build_tokenizer(configuration, single_bytes(configuration))


def single_bytes(configuration: TokenizerConfiguration) -> VocabularyData:
    """A vocabulary of nothing but the single bytes, as the segmentation of a configuration takes them."""
    match configuration.segmentation:
        case BytePairRanks() | BytePairMerges(over_bytes=True):
            tokens = [bytes([byte]) for byte in range(256)]
        case _:
            tokens = ["▁".encode(), *(b"<0x%02X>" % byte for byte in range(256))]
    added = {token.id for token in configuration.added_tokens}
    free = (token for token in itertools.count() if token not in added)
    data = VocabularyData(Tokens.by_id(dict(zip(free, tokens, strict=False))))
    return replace(data, scores=score_array([0.0] * len(data.tokens)))


def texts(controls: type[ControlToken]) -> SearchStrategy[Content]:
    """Any text without lone surrogates; every so often one that spells control tokens."""
    return texts_with([c.spelling for c in controls])


def texts_with(spellings: Collection[str]) -> SearchStrategy[Content]:
    """Any text without lone surrogates; every so often one that has some of `spellings` in it."""
    parts = st.lists(st.one_of(_SCRIPTS, _PLAIN, st.sampled_from([*spellings, ""])), max_size=5)
    return parts.map(lambda p: Content("".join(p)))


def texts_of_parts(controls: type[ControlToken], separator: str) -> SearchStrategy[Content]:
    """A text, or one that came as a list of text parts."""
    parts = st.lists(texts(controls), max_size=4).map(lambda found: [{"type": "text", "text": text} for text in found])
    return texts(controls) | parts.map(lambda found: Content(FromParts(separator).merged(found)))


def other_roles(controls: type[ControlToken], named: Collection[str]) -> SearchStrategy[Content]:
    """Any text as a role, but for the roles that have a class of their own."""
    return texts(controls).filter(lambda role: role not in named)


def json_values(controls: type[ControlToken]) -> SearchStrategy[Json]:
    """Any JSON value, its texts and keys as `texts` gives them."""
    scalars: SearchStrategy[Json] = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts(controls)
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(controls), inner, max_size=3),
        max_leaves=6,
    )


def json_objects(controls: type[ControlToken]) -> SearchStrategy[JsonObject]:
    """A JSON object."""
    return st.dictionaries(texts(controls), json_values(controls), max_size=3)


def json_numbers() -> SearchStrategy[int | float]:
    """A JSON number."""
    return st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def json_documents(controls: type[ControlToken]) -> SearchStrategy[JsonObject]:
    """A document that is plain JSON, with a score or without."""
    scores: SearchStrategy[JsonObject] = st.just({}) | st.fixed_dictionaries({"score": st.none() | json_numbers()})
    plain = json_objects(controls).map(lambda document: {k: v for k, v in document.items() if k != "score"})
    return st.builds(lambda score, document: {**score, **document}, scores, plain)


def json_texts(controls: type[ControlToken]) -> SearchStrategy[JsonText]:
    """A JSON object as a tool call carries it: as an object, or as text."""
    plain = json_objects(controls).map(JsonText)
    written = json_objects(controls).map(lambda v: JsonText(v, json.dumps(v, ensure_ascii=False)))
    return plain | written


def dates() -> SearchStrategy[datetime]:
    """Dates without time zone, in whole seconds."""
    return st.datetimes().map(lambda date: date.replace(microsecond=0))


def known_ids(model: TextAndIds, controls: type[ControlToken]) -> SearchStrategy[int]:
    """Any id that stands for something; a vocabulary may have gaps, whose ids give way to common ones."""
    common = [*(c.id for c in controls), *model.encode("Hello, 天空!")]

    def known(drawn: int) -> int:
        try:
            model.decode([drawn])
        except TokenizerError:
            return common[drawn % len(common)]
        return drawn

    return st.integers(0, model.tokenizer.vocabulary_size - 1).map(known) | st.sampled_from(common)


CODES_OF_RULES = ("T103", "T140", "T143")
"""Boundaries that a template refuses in contents, and numbers that a serialization refuses."""


def rejection(model: Model[R], request: R) -> str | None:
    """The rule that rejects a request: the place of a `reject`, or the code of a rule about what is printed.

    None where the template takes the request.
    """
    try:
        model.render(request)
    except TemplateError as error:
        if error.code == "T100":
            return error.where
        if error.code in CODES_OF_RULES:
            return error.code
        raise
    return None


def accepted(requests: SearchStrategy[R], model: Model[R]) -> SearchStrategy[R]:
    """Requests whose messages are the longest stretch of those drawn that the template takes.

    Where it takes none, the request is as it was drawn, so that no rule is too strict for the search: what a test asks
    of such a request is its rejection.
    """

    def shortened(request: R) -> R:
        messages = dict(request)["messages"]
        count = len(messages)
        for length in range(count, -1, -1):
            for start in range(count - length + 1):
                part = request.model_copy(update={"messages": messages[start : start + length]})
                if rejection(model, part) is None:
                    return part
                if not length:
                    break
        return request

    return requests.map(shortened)


def nesting(value: object, around: int = 0) -> int:
    """How many lists and objects stand in each other in a request; JSON that came as a text is counted by itself."""
    match value:
        case RequestModel():
            parts = [part for name, part in value if name in value.model_fields_set]
        case JsonText(source=source):
            return nesting(value.value, around if source is None else 0)
        case MergedText(parts=texts_of_them):
            return around + (2 if texts_of_them else 1)
        case Mapping():
            parts = list(value.values())
        case list() | tuple():
            parts = list(value)
        case _:
            return around
    return max([around + 1, *(nesting(part, around + 1) for part in parts)])


def texts_at(message: RequestModel, places: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The texts of a message at places such as `tool_calls.function.name`, each with its path."""
    for place in places:
        yield from _texts(message, place.split("."), ())


def _texts(value: object, steps: list[str], path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _texts(item, steps, (*path, at))
    elif isinstance(value, RequestModel) and steps and steps[0] in type(value).model_fields:
        yield from _texts(getattr(value, steps[0]), steps[1:], (*path, steps[0]))
    elif isinstance(value, str) and not steps:
        yield path, value


def request_bytes(request: RequestModel) -> bytes:
    """A request as a client would send it."""
    given = request.model_dump(exclude_unset=True)
    return json.dumps(given, ensure_ascii=False, default=datetime.isoformat).encode()


class Reread(NamedTuple):
    """The last reply of a conversation: its ids, the message they are read as, and the ids of that message."""

    ids: list[int]
    message: AssistantMessage
    again: list[int]


def reread(model: Model[R], request: R) -> Reread | None:
    """The last reply of a conversation, read and printed again.

    None where there is none, where it shares a token with what stands around it, where the bytes of the request are
    refused (they nest too deep), and where its message has something that a model does not write: a name, a picture.
    """
    messages = dict(request)["messages"]
    last = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
    if last < 0 or not isinstance(getattr(messages[last], "content", ""), str | None):
        return None
    try:
        model.decode_request(request_bytes(request))
    except RequestError:
        return None

    def with_last(message: Json) -> R:
        plain = request.model_copy(update={"messages": messages[:last], "add_generation_prompt": False})
        given = json.loads(request_bytes(plain))
        return model.decode_request(json.dumps(given | {"messages": [*given["messages"], message]}).encode())

    whole = json.loads(request_bytes(request))["messages"][last]
    if rejection(model, with_last(whole)) is not None:
        return None
    before = model.assemble(with_last(whole))
    ids = _sampled_ids(before, last)
    if not ids:
        return None
    message = model.parse(ids)
    kept = with_last({key: value for key, value in whole.items() if key in message.message})
    if rejection(model, kept) is not None or model.assemble(kept).input_ids.tolist() != before.input_ids.tolist():
        return None
    return Reread(before.input_ids.tolist(), message, model.assemble(with_last(message.message)).input_ids.tolist())


def _sampled_ids(result: ModelInput, message: int) -> list[int]:
    """The ids that a model wrote for a message; none where one of them is not wholly its own."""
    [places] = result.loss_mask([message]).nonzero()
    if not len(places):
        return []
    first, end = int(places[0]), int(places[-1]) + 1
    ranges = result.origins.ranges
    regions = [part for part in result.rendered.sampled if part[1] > ranges[first, 0]]
    opened = first == 0 or not any(start < ranges[first - 1, 1] for start, _ in regions)
    closed = end == len(result) or not any(start < ranges[end, 0] < stop for start, stop in regions)
    return result.input_ids[first:end].tolist() if opened and closed else []
