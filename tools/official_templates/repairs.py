"""Requests written otherwise, so that an official template prints them: what a difference comes down to.

Where the official template fails, prints a value of Python or loses something, and prints exactly what Katapi prints
once the request is written otherwise, the difference is that writing and can hide no other. Each repair is one such way
to write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from katapi.runtime.json_types import Json

Request = Mapping[str, Json]
Members = dict[str, Json]
Separators = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Written:
    """A request written otherwise, and what a text printed for it holds in place of what: stand-ins."""

    request: Request
    stand_ins: tuple[tuple[str, str], ...] = ()

    def resolved(self, printed: str | None) -> str | None:
        """A printed text with all that stand-ins stood for."""
        for stand_in, meant in self.stand_ins:
            printed = None if printed is None else printed.replace(stand_in, meant)
        return printed


@dataclass(frozen=True, slots=True)
class Repair:
    """One way to write requests otherwise; its name reads behind `as with`."""

    name: str
    write: Callable[[Request, Separators], Written]
    """Takes a request and, by role, what stands between the parts of a content, None where it has no parts."""
    both: bool = False
    """Whether Katapi gets what is written as well."""


def written(request: Request, repairs: Sequence[Repair], separators: Separators) -> Written:
    """A request after several repairs."""
    stand_ins: list[tuple[str, str]] = []
    for repair in repairs:
        next_one = repair.write(request, separators)
        request = next_one.request
        stand_ins += next_one.stand_ins
    return Written(request, tuple(stand_ins))


def ways(
    request: Request, repairs: Sequence[Repair], separators: Separators, most: int
) -> Iterator[tuple[tuple[Repair, ...], Written]]:
    """Choices of repairs, the fewest first, and what they make of a request: those of at most some number, and all.

    Repairs that change nothing, neither by themselves nor behind the others, are left out.
    """
    useful: list[Repair] = []
    so_far = request
    for repair in repairs:
        changed = repair.write(so_far, separators).request
        if changed != so_far or repair.write(request, separators).request != request:
            useful.append(repair)
        so_far = changed
    for number in [*range(1, min(most + 1, len(useful))), *([len(useful)] if useful else [])]:
        for some in combinations(useful, number):
            yield some, written(request, some, separators)


def _each_message(change: Callable[[Members], Members]) -> Callable[[Request, Separators], Written]:
    def write(request: Request, separators: Separators) -> Written:
        messages = _objects(request.get("messages"))
        return Written({**request, "messages": [change(message) for message in messages]})

    return write


def _each_call(change: Callable[[Members], Members]) -> Callable[[Request, Separators], Written]:
    def of_message(message: Members) -> Members:
        calls = message.get("tool_calls")
        return {**message, "tool_calls": [change(call) for call in _objects(calls)]} if calls else message

    return _each_message(of_message)


def _each_function(change: Callable[[Members], Members]) -> Callable[[Request, Separators], Written]:
    def of_call(call: Members) -> Members:
        function = call.get("function")
        return {**call, "function": change(dict(function))} if isinstance(function, Mapping) else call

    return _each_call(of_call)


def _objects(value: Json | None) -> list[Members]:
    return [dict(item) for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _empty_content(message: Members) -> Members:
    """With an empty content; that of a result may be null as such."""
    said = message.get("content") is not None or message.get("role") in _RESULTS
    return message if said else {**message, "content": ""}


def _null_content(message: Members) -> Members:
    return {"content": None, **message}


def _empty_arguments(function: Members) -> Members:
    return function if function.get("arguments") is not None else {**function, "arguments": {}}


def _parsed(function: Members) -> Members:
    arguments = function.get("arguments")
    try:
        return {**function, "arguments": json.loads(arguments)} if isinstance(arguments, str) else function
    except ValueError:
        return function


def _as_text(function: Members) -> Members:
    arguments = function.get("arguments")
    if not isinstance(arguments, Mapping):
        return function
    return {**function, "arguments": json.dumps(arguments, ensure_ascii=False)}


def _escaped_name(function: Members) -> Members:
    return {**function, "name": json.dumps(function.get("name"), ensure_ascii=False)[1:-1]}


def _typed(call: Members) -> Members:
    return call if call.get("type") is not None else {**call, "type": "function"}


def _no_empty_calls(message: Members) -> Members:
    return {key: value for key, value in message.items() if key != "tool_calls" or value}


def _given(members: Request, kept: str = "") -> Members:
    """The members that are not null, and one that may be."""
    return {key: value for key, value in members.items() if value is not None or key == kept}


def _without_scores(request: Request, separators: Separators) -> Written:
    """Documents without the numbers by which they are ordered."""
    documents = request.get("documents")
    if not isinstance(documents, list):
        return Written(request)
    return Written(
        {**request, "documents": [{k: v for k, v in d.items() if k != "score"} for d in _objects(documents)]}
    )


def _no_nulls(request: Request, separators: Separators) -> Written:
    """Without the members that are null of the request, its messages, and their calls; not of JSON that it holds."""

    def of_message(message: Members) -> Members:
        return _given(message, "content" if message.get("role") in _RESULTS else "")

    def of_responses(message: Members) -> Members:
        responses = message.get("tool_responses")
        if not responses:
            return message
        return {**message, "tool_responses": [_given(one, "response") for one in _objects(responses)]}

    for write in (_each_message(of_message), _each_call(_given), _each_function(_given), _each_message(of_responses)):
        request = write(request, separators).request
    return Written(_given(request))


def _joined(message: Members, separators: Separators, bare: Callable[[str], str] = str) -> Members:
    """A content of text parts as one text, each part changed."""
    parts = message.get("content")
    separator = separators.get(str(message.get("role")), separators.get(""))
    if separator is None or not isinstance(parts, list):
        return message
    texts = [text for part in _objects(parts) if isinstance(text := part.get("text"), str)]
    return {**message, "content": separator.join(map(bare, texts))} if len(texts) == len(parts) else message


def _joined_parts(request: Request, separators: Separators) -> Written:
    return _each_message(lambda message: _joined(message, separators))(request, separators)


def _joined_bare_parts(request: Request, separators: Separators) -> Written:
    return _each_message(lambda message: _joined(message, separators, str.strip))(request, separators)


def _joined_instructions(request: Request, separators: Separators) -> Written:
    """Only the parts of a system message in front."""
    messages = _objects(request.get("messages"))
    if messages and messages[0].get("role") == "system":
        messages[0] = _joined(messages[0], separators)
    return Written({**request, "messages": messages})


def _short_types(message: Members) -> Members:
    """Pictures and videos by the types `image` and `video`."""
    parts = message.get("content")
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        return message
    named = [{**part, "type": str(part.get("type")).removesuffix("_url")} for part in _objects(parts)]
    return {**message, "content": named}


def _calls_as_messages(request: Request, separators: Separators) -> Written:
    """Calls as GLM-4 has them: messages with the name as metadata, and results from the role `observation`."""
    out: list[Json] = []
    for message in _objects(request.get("messages")):
        calls = _objects(message.get("tool_calls"))
        if message.get("role") == "tool":
            out.append({**message, "role": "observation"})
        elif not calls or message.get("content") or message.get("metadata"):
            out.append({key: value for key, value in message.items() if key != "tool_calls"})
        for call in calls:
            (function,) = _objects([call.get("function")])
            arguments = function.get("arguments") or {}
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            out.append({"role": "assistant", "metadata": function.get("name"), "content": text})
    return Written({**request, "messages": out})


def _documents_as_messages(request: Request, separators: Separators) -> Written:
    """Documents as the model card of GLM-4-0414 has them: observations behind the last question."""
    messages = _objects(request.get("messages"))
    questions = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    found: list[Json] = []
    for one in _objects(request.get("documents")):
        text = f"【{one.get('id')}†{one.get('title')}†{one.get('url')}】\n{one.get('content', one.get('text'))}"
        found.append({"role": "observation", "content": text})
    if not questions or not found:
        return Written(request)
    behind = questions[-1] + 1
    others = {key: value for key, value in request.items() if key != "documents"}
    return Written({**others, "messages": [*messages[:behind], *found, *messages[behind:]]})


def _described(request: Request, separators: Separators) -> Written:
    """Functions without a description, or with one that is null, where a template puts one behind `// `."""
    described: list[Json] = []
    stand_in = _STAND_IN.format("")
    for tool in _objects(request.get("tools")):
        function = tool.get("function")
        if isinstance(function, Mapping) and function.get("description") is None:
            tool = {**tool, "function": {**function, "description": stand_in}}
        described.append(tool)
    return Written({**request, "tools": described} if described else request, ((f"// {stand_in}\n", ""),))


def _schemas_of_texts(request: Request, separators: Separators) -> Written:
    """Schemas in which values of an `enum`, types in a list, and a default beside an `enum` or `oneOf` are texts."""

    def text(value: Json) -> Json:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def of_schema(schema: Members) -> Members:
        for key in ("enum", "type"):
            values = schema.get(key)
            if isinstance(values, list):
                schema = {**schema, key: [text(one) for one in values]}
        return schema

    def of_parameter(schema: Json) -> Json:
        if isinstance(schema, Mapping) and "default" in schema and (schema.get("enum") or schema.get("oneOf")):
            return {**schema, "default": text(schema["default"])}
        return schema

    tools: list[Json] = []
    for tool in _objects(_each_schema(request.get("tools"), of_schema, "default")):
        for function in _objects([tool.get("function")]):
            for parameters in _objects([function.get("parameters")]):
                for properties in _objects([parameters.get("properties")]):
                    parameters["properties"] = {name: of_parameter(schema) for name, schema in properties.items()}
                    function["parameters"] = parameters
            tool = {**tool, "function": function}
        tools.append(tool)
    return Written({**request, "tools": tools} if tools else request)


def _asking_first(request: Request, separators: Separators) -> Written:
    """The first message that is no system message as one of the user, with what it says as a text."""
    messages = _objects(request.get("messages"))
    at = 1 if messages and messages[0].get("role") == "system" else 0
    if at < len(messages) and messages[at].get("role") != "user":
        content = messages[at].get("content")
        text = content if isinstance(content, str) else json.dumps(content)
        messages[at] = {"role": "user", "content": text}
    return Written({**request, "messages": messages})


def _systems_first(request: Request, separators: Separators) -> Written:
    messages = _objects(request.get("messages"))
    messages.sort(key=lambda message: message.get("role") != "system")
    return Written({**request, "messages": messages})


_STAND_IN = "qzkw{}qzkw"
_NUMBER = 918273645546372800


def _verbatim(request: Request, separators: Separators) -> Written:
    """Arguments that come as a text stand there as they came."""
    stand_ins: list[tuple[str, str]] = []

    def of_function(function: Members) -> Members:
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            return function
        object_in_place: Members = {_STAND_IN.format(len(stand_ins)): 0}
        stand_ins.append((json.dumps(object_in_place), arguments))
        return {**function, "arguments": object_in_place}

    changed = _each_function(of_function)(request, separators)
    return Written(changed.request, tuple(stand_ins))


def _json_results(request: Request, separators: Separators) -> Written:
    """Results that are no text stand there as JSON, and so does a `content` in one."""
    stand_ins: list[tuple[str, str]] = []

    def number(value: Json) -> Json:
        stand_ins.append((str(_NUMBER + len(stand_ins)), json.dumps(value, ensure_ascii=False)))
        return _NUMBER + len(stand_ins) - 1

    def of_message(message: Members) -> Members:
        content = message.get("content")
        if message.get("role") not in _RESULTS or isinstance(content, str):
            return message
        if not isinstance(content, Mapping) or "content" not in content:
            return {**message, "content": number(content)}
        inner = content["content"]
        return {**message, "content": {**content, "content": inner if isinstance(inner, str) else number(inner)}}

    changed = _each_message(of_message)(request, separators)
    return Written(changed.request, tuple(stand_ins))


def _null_values(request: Request, separators: Separators) -> Written:
    """Null stands in arguments and responses as JSON."""

    def number(value: Json) -> Json:
        if isinstance(value, list):
            return [number(item) for item in value]
        if isinstance(value, Mapping):
            return {key: number(member) for key, member in value.items()}
        return _NUMBER if value is None else value

    def of_function(function: Members) -> Members:
        return {**function, "arguments": number(function.get("arguments"))}

    def of_message(message: Members) -> Members:
        responses = message.get("tool_responses")
        if not responses:
            return message
        changed = [{**one, "response": number(one.get("response"))} for one in _objects(responses)]
        return {**message, "tool_responses": changed}

    request = _each_function(of_function)(request, separators).request
    return Written(_each_message(of_message)(request, separators).request, ((str(_NUMBER), "null"),))


def _parts_in_place(request: Request, separators: Separators) -> Written:
    """Contents in parts stand there as one text, pictures as `<|image|>`; not that of a system message in front."""
    stand_ins: list[tuple[str, str]] = []
    messages: list[Json] = []
    for message in _objects(request.get("messages")):
        role, parts = str(message.get("role")), message.get("content")
        leading = not messages and role == "system"
        if not leading and isinstance(parts, list) and separators.get(role, separators.get("")) is not None:
            stand_in = _STAND_IN.format(f"parts{len(stand_ins)}")
            stand_ins.append((stand_in, "".join(str(part.get("text", "<|image|>")) for part in _objects(parts))))
            message = {**message, "content": stand_in}
        messages.append(message)
    return Written({**request, "messages": messages}, tuple(stand_ins))


def _named_types(request: Request, separators: Separators) -> Written:
    """Types that have no name in Python stand in schemas as what is no text, which such a template takes for any."""
    stand_ins: list[tuple[str, str]] = []

    def number(kind: Json) -> Json:
        if not isinstance(kind, str) or kind in _PYTHON_TYPES:
            return kind
        stand_ins.append((str(_NUMBER + len(stand_ins)), json.dumps(kind, ensure_ascii=False)))
        return _NUMBER + len(stand_ins) - 1

    def of_schema(schema: Members) -> Members:
        kind = schema.get("type")
        named = [number(one) for one in kind] if isinstance(kind, list) else number(kind)
        return {**schema, "type": named} if "type" in schema else schema

    tools = _each_schema(request.get("tools"), of_schema)
    return Written({**request, "tools": tools}, tuple(stand_ins))


def _no_null_types(request: Request, separators: Separators) -> Written:
    def other(kind: Json) -> Json:
        return "string" if kind == "null" else kind

    def of_schema(schema: Members) -> Members:
        kind = schema.get("type")
        named = [other(one) for one in kind] if isinstance(kind, list) else other(kind)
        return {**schema, "type": named} if "type" in schema else schema

    return Written({**request, "tools": _each_schema(request.get("tools"), of_schema)})


def _plain_schemas(request: Request, separators: Separators) -> Written:
    """Schemas of which each has at most one type, and in which nothing is null."""

    def without_null(values: list[Json]) -> list[Json]:
        return [without_null(one) if isinstance(one, list) else "null" if one is None else one for one in values]

    def of_schema(schema: Members) -> Members:
        texts = {key: without_null(value) for key, value in schema.items() if isinstance(value, list)}
        kinds = texts.get("type")
        first: Members = {"type": kinds[0] if kinds else "string"} if isinstance(kinds, list) else {}
        return _given({**schema, **texts, **first})

    return Written({**request, "tools": _each_schema(request.get("tools"), of_schema)})


def _each_schema(value: Json, change: Callable[[Members], Members], kept: str = "") -> Json:
    """JSON with every object in it changed, the innermost first, but for what stands under a key."""
    if isinstance(value, list):
        return [_each_schema(item, change, kept) for item in value]
    if isinstance(value, Mapping):
        return change({k: v if k == kept else _each_schema(v, change, kept) for k, v in value.items()})
    return value


def _with_parameters(request: Request, separators: Separators) -> Written:
    tools: list[Json] = []
    for tool in _objects(request.get("tools")):
        function = tool.get("function", tool)
        if isinstance(function, Mapping) and "parameters" not in function:
            function = {**function, "parameters": {}}
        tools.append({**tool, "function": function} if "function" in tool else function)
    return Written({**request, "tools": tools} if tools else request)


def _some_function(request: Request, separators: Separators) -> Written:
    function: Json = {"name": "f", "description": "", "parameters": {}}
    return Written(request if request.get("tools") else {**request, "tools": [function]})


_RESULTS = ("tool", "ipython", "tool_results", "observation")
_PYTHON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null", "function")


REPAIRS: Mapping[str, Repair] = {
    repair.name: repair
    for repair in (
        Repair("an empty content", _each_message(_empty_content)),
        Repair("a null content", _each_message(_null_content)),
        Repair("joined parts", _joined_parts),
        Repair("joined bare parts", _joined_bare_parts),
        Repair("joined instructions", _joined_instructions),
        Repair("no empty calls", _each_message(_no_empty_calls)),
        Repair("no nulls", _no_nulls),
        Repair("documents without scores", _without_scores),
        Repair("parsed arguments", _each_function(_parsed)),
        Repair("arguments as they came", _verbatim),
        Repair("arguments as a text", _each_function(_as_text)),
        Repair("empty arguments", _each_function(_empty_arguments)),
        Repair("escaped names", _each_function(_escaped_name)),
        Repair("calls of a type", _each_call(_typed)),
        Repair("results as JSON", _json_results),
        Repair("calls as messages", _calls_as_messages),
        Repair("documents as messages", _documents_as_messages),
        Repair("short types of parts", _each_message(_short_types)),
        Repair("parts in place", _parts_in_place),
        Repair("some function", _some_function, both=True),
        Repair("functions with parameters", _with_parameters),
        Repair("named types", _named_types),
        Repair("no null types", _no_null_types, both=True),
        Repair("null values", _null_values),
        Repair("plain schemas", _plain_schemas, both=True),
        Repair("described functions", _described),
        Repair("schemas of texts", _schemas_of_texts),
        Repair("a first message of the user", _asking_first),
        Repair("system messages first", _systems_first),
    )
}


def without_unprinted(request: Request, prints: Callable[[Request], str | None], printed: str) -> Request:
    """A request without the parameters, messages, members and items of lists without which the same text is printed."""
    progress = True
    while progress:
        progress = False
        for shorter in _shorter(request):
            if prints(shorter) == printed:
                request, progress = shorter, True
                break
    return request


def _shorter(request: Request) -> Iterator[Members]:
    """Requests without one thing, the largest first."""
    messages = _objects(request.get("messages"))
    for at in range(len(messages)):
        yield {**request, "messages": [*messages[:at], *messages[at + 1 :]]}
    yield from _less(request, kept=("messages", "add_generation_prompt"))
    for at, message in enumerate(messages):
        for less in _less(message, kept=("role", "content")):
            yield {**request, "messages": [*messages[:at], less, *messages[at + 1 :]]}


def _less(members: Request, kept: Sequence[str]) -> Iterator[Members]:
    """An object without one member or without one item of a list that is a member."""
    for key, value in members.items():
        if key not in kept:
            yield {k: v for k, v in members.items() if k != key}
        if isinstance(value, list) and key != "messages":
            for at in range(len(value)):
                yield {**members, key: [*value[:at], *value[at + 1 :]]}
