"""The message of a reply, made of the fields that were read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.reply.json_value import NoJson, json_value
from katapi.runtime.reply.log import Spelled, Value
from katapi.runtime.reply.message import ToolCall
from katapi.runtime.strict_json import MAX_DEPTH, parse_json


def call_of(value: Value, tools: Sequence[JsonObject]) -> tuple[JsonObject, ToolCall] | None:
    """A call in the form of the request, and as such; None where it has no name, or no object of arguments."""
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(function, dict):
        return None
    name = settled(function.get("name"))
    if not isinstance(name, str):
        return None
    name = _as_known(name, tools)
    written = function.get("arguments")
    arguments = _arguments(written if written is not None else {}, _types(name, tools))
    if arguments is None:
        return None
    kept = as_kept(written, arguments) if isinstance(written, Spelled) else arguments
    identity = value.get("id")
    form = {key: settled(part) for key, part in value.items() if key != "function"}
    inside = {key: settled(part) for key, part in function.items() if key not in ("name", "arguments")}
    whole: JsonObject = {**form, "function": {"name": name, "arguments": kept, **inside}}
    return whole, ToolCall(name, arguments, identity if isinstance(identity, str) else None)


def _as_known(name: str, tools: Sequence[JsonObject]) -> str:
    """The name of a tool, without white space at its ends where only so there is such a tool."""
    names = {_function(tool).get("name") for tool in tools}
    return name.strip() if name not in names and name.strip() in names else name


def as_kept(spelled: Spelled, value: JsonObject) -> Json:
    """An object as the request keeps it: as the text that it was written as, where that is JSON."""
    if not spelled.form.verbatim:
        return value
    try:
        parse_json(spelled.text, max_depth=MAX_DEPTH)
    except RequestError:
        return json.dumps(value)
    return spelled.text


def settled(value: Value) -> Json:
    """A value in which nothing is open how it was spelled."""
    match value:
        case Spelled(value=inside):
            return inside
        case list():
            return [settled(item) for item in value]
        case dict():
            return {key: settled(item) for key, item in value.items()}
        case _:
            return value


def _arguments(written: Value, types: Mapping[str, Json]) -> JsonObject | None:
    if isinstance(written, Spelled):
        value = written.value
        if isinstance(value, str):  # arguments that are written as a text which holds them
            try:
                value = json_value(value)
            except NoJson:
                return None
        return value if isinstance(value, dict) else None
    if not isinstance(written, dict):
        return None
    return {key: _as_declared(value, types.get(key)) for key, value in written.items()}


def _as_declared(value: Value, declared: Json) -> Json:
    """An argument of the type that the tool declares, where it was written without its type."""
    if isinstance(value, Spelled):
        return value.text if value.form.exact and declared == "string" else value.value
    if isinstance(value, str) and isinstance(declared, str) and declared != "string":
        try:
            read = json_value(value, python=True)
        except NoJson:
            return value
        return value if isinstance(read, str) else read
    return settled(value)


def _types(name: str, tools: Sequence[JsonObject]) -> dict[str, Json]:
    """The declared types of a tool's parameters, by their names."""
    for tool in tools:
        function = _function(tool)
        if function.get("name") == name:
            parameters = function.get("parameters")
            properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
            if isinstance(properties, Mapping):
                return {key: part.get("type") for key, part in properties.items() if isinstance(part, Mapping)}
    return {}


def _function(tool: JsonObject) -> JsonObject:
    """What a tool says of its function."""
    function = tool.get("function", tool)
    return function if isinstance(function, Mapping) else {}
