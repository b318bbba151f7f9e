"""The language's `object from text`: a tool call's arguments, which come as a JSON object or as a text that holds one.

OpenAI's Chat Completions interface writes the arguments of a call as a text.

A text is parsed once, when the request is decoded, by the rules of `strict_json`; templates see only the object. With
`verbatim` the text is kept beside it, so that a call that a model wrote goes back into the history as it was written.
The JSON in a text may nest as deep as the specification allows a request to nest, counted by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import RequestError
from katapi.runtime.fields import FromJson, Validated, checked_object, checked_text, refuse
from katapi.runtime.json_types import JsonObject
from katapi.runtime.places import kind
from katapi.runtime.strict_json import MAX_DEPTH, parse_json

_SCHEMA: dict[str, object] = {"anyOf": [{"type": "object"}, {"type": "string", "contentMediaType": "application/json"}]}


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON object and, when it came as text, that text. As a field type it is `object from text verbatim`.

    A `Serialization` prints the source where there is one, and the value otherwise.
    """

    value: JsonObject
    """The object."""
    source: str | None = None
    """The text that it was read from, as it came; None where an object came."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            _verbatim, serialization=core_schema.plain_serializer_function_ser_schema(_as_received)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        return _SCHEMA


def _as_received(value: JsonText) -> JsonObject | str:
    return value.value if value.source is None else value.source


def _verbatim(value: object, info: core_schema.ValidationInfo) -> JsonText:
    if isinstance(value, JsonText):
        return value
    if isinstance(value, str):
        return JsonText(_parsed(value, info), value)
    return JsonText(_object(value, info), None)


def _parsed_object(value: object, info: core_schema.ValidationInfo) -> JsonObject:
    return _parsed(value, info) if isinstance(value, str) else _object(value, info)


def _object(value: object, info: core_schema.ValidationInfo) -> JsonObject:
    if not isinstance(value, Mapping):
        raise refuse("R113", f"expected an object or a text that holds one, got {kind(value)}")
    return checked_object(value, info)


def _parsed(text: str, info: core_schema.ValidationInfo) -> JsonObject:
    checked_text(text)
    max_depth = info.context.max_depth if isinstance(info.context, FromJson) else MAX_DEPTH
    try:
        value = parse_json(text, max_depth=max_depth)
    except RequestError as error:
        help = "write {} for no arguments" if error.code == "R100" else error.help
        raise refuse(error.code, f"in this JSON text, at {error.where}: {error.message}", help=help) from None
    if not isinstance(value, Mapping):
        raise refuse("R113", f"expected a text that holds an object, got one that holds {kind(value)}")
    return value


# At run time the annotation names `object`, as in `fields`.
if TYPE_CHECKING:
    ObjectFromText: TypeAlias = JsonObject
else:
    ObjectFromText = Annotated[object, Validated(_parsed_object, _SCHEMA)]
    """`object from text` without `verbatim`: only the object is kept."""
