"""The messages that a conversation goes on with, decoded as those of a request are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from pydantic import AliasChoices, ValidationError

from katapi.runtime.errors import ExtensionError, RequestError
from katapi.runtime.fields import FromJson
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.messages import messages_of
from katapi.runtime.request_model import RequestModel
from katapi.runtime.strict_json import InvalidUtf8, Substitution, decode_json

NAME = "new_messages"
"""What the places of errors begin with."""


class NewMessages(NamedTuple):
    """The `messages`, and the `substitutions` that were made to read their bytes (none under the policy `strict`)."""

    messages: tuple[RequestModel, ...]
    substitutions: tuple[Substitution, ...]


def decode_messages(
    request: RequestModel, given: bytes | Sequence[JsonObject], *, invalid_utf8: InvalidUtf8, max_depth: int
) -> NewMessages:
    """Messages to put behind those of a request, as a JSON array in bytes, or one by one.

    Raises `RequestError` R100 to R109 for their text and R110 to R119 for their shape. `max_depth` is that of
    the request, in which the array would have depth 2.
    """
    if not isinstance(given, bytes):
        return NewMessages(_validated(request, given, None), ())
    try:
        decoded = decode_json(given, invalid_utf8=invalid_utf8, max_depth=max_depth - 1)
    except RequestError as error:
        where = f"{NAME}{error.where}" if error.where.startswith("[") else error.where
        raise RequestError(error.message, code=error.code, where=where, help=error.help) from None
    substitutions = tuple(Substitution(s.stage, f"{NAME}, {s.where}", s.what) for s in decoded.substitutions)
    return NewMessages(_validated(request, decoded.value, FromJson(max_depth)), substitutions)


def decode_reply(request: RequestModel, reply: JsonObject) -> RequestModel:
    """The message that a completion is, as one of a request. Raises `ExtensionError` X105 where it is none."""
    try:
        (message,) = _validated(request, [reply], None)
    except RequestError as error:
        raise ExtensionError(
            f"the reply is no message of a request: {error.message}",
            code="X105",
            where=error.where.replace(f"{NAME}[0]", "reply", 1),
            help=error.help,
        ) from None
    return message


def decode_named_reply(request: RequestModel, reply: JsonObject, behind: Sequence[RequestModel]) -> RequestModel:
    """`decode_reply` of a message that was parsed: its calls get the ids by which the results behind it name them.

    A model seldom writes ids; the results stand in the order of the calls. Raises `ExtensionError` X105.
    """
    calls = reply.get("tool_calls")
    ids = [getattr(message, "tool_call_id", None) for message in takewhile(_is_result, behind)]
    if not isinstance(calls, Sequence) or len(ids) != len(calls) or None in ids:
        return decode_reply(request, reply)
    named = [
        {**call, "id": call.get("id", id_)} for call, id_ in zip(calls, ids, strict=True) if isinstance(call, Mapping)
    ]
    try:
        return decode_reply(request, {**reply, "tool_calls": named})
    except ExtensionError:  # calls have no ids here
        return decode_reply(request, reply)


def _is_result(message: RequestModel) -> bool:
    return getattr(message, "role", None) == "tool"


def _validated(
    request: RequestModel, messages: Json | Sequence[JsonObject], context: FromJson | None
) -> tuple[RequestModel, ...]:
    """Messages by the type of a request, which says for each role what it may hold."""
    owner = type(request)
    beside = {
        _spelling(owner, name): getattr(request, name)
        for name, field in owner.model_fields.items()
        if field.is_required()
    }
    try:
        return messages_of(owner.model_validate({**beside, "messages": messages}, context=context))
    except ValidationError as error:
        from katapi.runtime.request_errors import request_error  # no message that is in order needs it

        found = request_error(owner, error)
    raise RequestError(found.message, code=found.code, where=found.where.replace("messages", NAME, 1), help=found.help)


def _spelling(owner: type[RequestModel], name: str) -> str:
    """How a field is spelled in JSON."""
    alias = owner.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[0])
    return name
