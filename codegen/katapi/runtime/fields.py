"""Field types of request models that pydantic lacks: a JSON value, a JSON object, a number, a date. Nothing is coerced.

A value out of `strict_json` is known to be JSON and is taken as it is: pydantic's context is `FromJson` then. A value
that a Python caller gives is checked and copied, so that no later change of the caller's lists reaches the request.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import kind, quoted
from katapi.runtime.strict_json import MAX_DEPTH


class FromJson(NamedTuple):
    """The validation context under which JSON values come from `strict_json` and belong to nobody else."""

    max_depth: int
    """How deep JSON may nest that stands as a text in the request, counted by itself."""


def refuse(code: str, message: str, *, help: str = "", within: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """What a validator raises, and `request_errors` turns into a `RequestError` of this code, R100 to R119.

    It is a pydantic error of type `katapi`.

    `within` is the path from the field to the place at fault, when that is further down.
    """
    context = {"code": code, "message": message, "help": help, "within": within}
    return PydanticCustomError("katapi", "{message}", context)


@dataclass(frozen=True, slots=True)
class Validated:
    """Annotation: pydantic calls `check` and takes what it returns. `schema` is the JSON schema shown to clients."""

    check: Callable[[object, core_schema.ValidationInfo], object]
    schema: dict[str, object] = field(hash=False)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        return self.schema


def checked_object(value: object, info: core_schema.ValidationInfo) -> JsonObject:
    """`value` as a JSON object. R113 for another kind of value, and the codes of `checked_json`."""
    if isinstance(info.context, FromJson) and isinstance(value, dict):
        return value
    if not isinstance(value, Mapping):
        raise refuse("R113", f"expected an object, got {kind(value)}")
    return _object(value, ())


def checked_json(value: object, info: core_schema.ValidationInfo) -> Json:
    """`value` as a JSON value: R105 for a float that is not finite, R108, R109, R113 for what JSON does not have."""
    if isinstance(info.context, FromJson):
        trusted: Json = value  # type: ignore[assignment]  # the context says that the strict reader made it
        return trusted
    return _json(value, ())


def _json(value: object, path: tuple[str | int, ...]) -> Json:
    match value:
        case None | bool() | int():
            return value
        case str():
            return checked_text(value, path)
        case float():
            if not math.isfinite(value):
                raise refuse("R105", f"{value} is no JSON number", help="send a finite number, or null", within=path)
            return value
        case Mapping():
            return _object(value, path)
        case list() | tuple():
            _limit_depth(path)
            return [_json(element, (*path, index)) for index, element in enumerate(value)]
        case _:
            raise refuse("R113", f"expected a JSON value, got {kind(value)}", within=path)


def _object(value: Mapping[object, object], path: tuple[str | int, ...]) -> dict[str, Json]:
    _limit_depth(path)
    copy: dict[str, Json] = {}
    for key, member in value.items():
        if not isinstance(key, str):
            raise refuse("R113", f"expected text as a key, got {kind(key)}", within=path)
        copy[checked_text(key, path)] = _json(member, (*path, key))
    return copy


def checked_number(value: object, info: core_schema.ValidationInfo) -> int | float:
    """`value` as a JSON number: R113 for another kind of value, R105 for a float that is not finite."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise refuse("R113", f"expected a number, got {kind(value)}")
    _json(value, ())
    return value


def checked_text(value: str, path: tuple[str | int, ...] = ()) -> str:
    """`value`, or R108 when it holds half a surrogate pair, which only a Python caller's text can."""
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            message = "the text holds half of a surrogate pair, which is no character"
            raise refuse("R108", message, within=path) from None
    return value


def _limit_depth(path: tuple[str | int, ...]) -> None:
    if len(path) >= MAX_DEPTH:
        raise refuse("R109", f"lists and objects nest more than {MAX_DEPTH} deep", help="send a flatter value")


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?", re.ASCII)


def checked_date(value: object, info: core_schema.ValidationInfo) -> datetime:
    """`2025-03-09` or `2025-03-09T14:05:07` as a `datetime` without time zone; R115 for anything else.

    A Python caller may give such a `datetime` itself: without zone, in whole seconds.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None and value.microsecond == 0:
            return value
        raise refuse("R115", "expected a date without time zone and in whole seconds")
    if not isinstance(value, str):
        raise refuse("R113", f"expected a date as text, got {kind(value)}", help=_DATE_HELP)
    if _DATE.fullmatch(value):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            raise refuse("R115", f"there is no date {quoted(value)}") from None
    raise refuse("R115", f"{quoted(value)} is not written as a date", help=_DATE_HELP)


_DATE_HELP = "write 2025-03-09 or 2025-03-09T14:05:07"

# At run time the annotations name `object`: pydantic would try to resolve the recursive types and needs only the check.
if TYPE_CHECKING:
    JsonValueField: TypeAlias = Json
    JsonObjectField: TypeAlias = JsonObject
    NumberField: TypeAlias = int | float
    DateField: TypeAlias = datetime
else:
    JsonValueField = Annotated[object, Validated(checked_json, {})]
    """Any JSON value."""
    JsonObjectField = Annotated[object, Validated(checked_object, {"type": "object"})]
    """A JSON object, in the order of the request."""
    NumberField = Annotated[object, Validated(checked_number, {"type": "number"})]
    """A JSON number, which is no truth."""
    DateField = Annotated[
        datetime, Validated(checked_date, {"type": "string", "examples": ["2025-03-09", "2025-03-09T14:05:07"]})
    ]
    """The language's `date`: a day, or a day and a time of day to the second, in no time zone."""
