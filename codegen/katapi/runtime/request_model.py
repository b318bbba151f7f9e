"""What every generated request model is built from, and the way from bytes to such a model.

A generated `request.py` looks like this::

    class SystemMessage(RequestModel):
        role: Literal["system"]
        content: Content

    class Call(RequestModel):
        name: Content
        arguments: JsonText

    class AssistantMessage(RequestModel):
        role: Literal["assistant"]
        content: Content | None = None
        tool_calls: Items[Call] | None = None

    Message = Annotated[SystemMessage | AssistantMessage, Field(discriminator="role")]

    class Request(RequestModel):
        messages: Items[Message]
        tools: Items[JsonObjectField] | None = None
        now: DateField

`Items[X]` is `tuple[X, ...]`. Strict pydantic refuses a list for a tuple, and a list is what JSON gives, so `Items`
alone is lax; the elements stay strict.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, ValidationError

from katapi.runtime.errors import RequestError
from katapi.runtime.fields import FromJson
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import kind
from katapi.runtime.strict_json import MAX_DEPTH, InvalidUtf8, Substitution, decode_json

Element = TypeVar("Element")

Items: TypeAlias = Annotated[tuple[Element, ...], Strict(False)]
"""A list of the request, as a tuple."""


class RequestModel(BaseModel):
    """Base of all request types: nothing is coerced, nothing is ignored, nothing can be assigned afterwards.

    `model_config` says so to pydantic.
    """

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        protected_namespaces=(),
        # With any bound pydantic reads a text as UTF-8, and so refuses half a surrogate pair from a Python caller.
        str_min_length=0,
        # Renderers tell messages apart by their classes, which are final: an instance of a subclass is read anew.
        revalidate_instances="subclass-instances",
    )

    __test__: ClassVar[bool] = False
    """pytest takes no message of a role `tester` for a class of tests."""


Model = TypeVar("Model", bound=RequestModel)


def defaults_of(request: RequestModel) -> JsonObject:
    """The values of the parameters that a request does not set, in the order of its fields."""
    own = type(request).model_fields
    return {name: field.default for name, field in own.items() if name not in request.model_fields_set}


class DecodedRequest(NamedTuple, Generic[Model]):
    """A `request`, and the `substitutions` that were made to read its bytes (none under the policy `strict`)."""

    request: Model
    substitutions: tuple[Substitution, ...]


def decode_request(
    model: type[Model],
    raw: bytes,
    *,
    invalid_utf8: InvalidUtf8 = "strict",
    max_depth: int = MAX_DEPTH,
    params: JsonObject | None = None,
) -> DecodedRequest[Model]:
    """Network bytes as an instance of `model`; `params` are keys that stand in place of those of the same meaning.

    Raises `RequestError`: R100 to R109 for the text (`strict_json`), R110 to R119 for its shape
    (`request_errors`). `max_depth` counts arrays and objects, the outermost as 1.
    """
    decoded = decode_json(raw, invalid_utf8=invalid_utf8, max_depth=max_depth, listed="tools")
    value = _object(decoded.value, raw)
    try:
        request = model.model_validate(_replaced(model, value, params or {}), context=FromJson(max_depth))
    except ValidationError as error:
        from katapi.runtime.request_errors import request_error  # no request that is in order needs it

        raise request_error(model, error) from None
    return DecodedRequest(request, decoded.substitutions)


def _replaced(model: type[Model], value: JsonObject, params: JsonObject) -> JsonObject:
    """The keys of a request with `params` in place of those that spell the same, in the same way or another."""
    if not params:
        return value
    from katapi.runtime.request_shape import spellings  # only a request with parameters beside it needs it

    same = {key for names in spellings(model) if not params.keys().isdisjoint(names) for key in names}
    return {**{key: member for key, member in value.items() if key not in same}, **params}


def _object(value: Json, raw: bytes) -> JsonObject:
    """The outermost value of a request; where it begins, line and column alone can tell."""
    if isinstance(value, dict):
        return value
    before = raw[: len(raw) - len(raw.lstrip(b" \t\n\r"))]
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    raise RequestError(
        f"expected an object, got {kind(value)}",
        code="R113",
        where=f"{line}:{column}",
        help='send {"messages": […]} with what else the model takes',
    )
