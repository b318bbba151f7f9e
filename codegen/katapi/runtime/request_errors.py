"""One `RequestError` out of all that pydantic found: the most useful fault, in the words of the request.

| code | fault                                                             |
| ---- | ----------------------------------------------------------------- |
| R110 | an unknown role, or another unknown kind of message, part or call |
| R111 | an unknown field or parameter                                     |
| R112 | a field or parameter is missing                                   |
| R113 | a value of the wrong kind: text for a number, null for text       |
| R114 | a value that is not one of the choices                            |
| R115 | a text that is no date                                            |
| R116 | what a part says of its image is nothing that can be read         |
| R117 | a part says in two ways where its image comes from                |
| R118 | an image in a value that is printed as JSON                       |
| R119 | another rule that the model declares                              |

Faults that the field types of `fields` and `arguments` find carry their own code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import RequestError
from katapi.runtime.open_roles import ANY_OTHER
from katapi.runtime.places import json_path, kind, quoted, shown
from katapi.runtime.request_shape import Choices, Place, Tagged, place, spellings

_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "an integer",
    "float_type": "a number",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
}


_MOST = 100  # faults that are looked at; a place costs a walk through the model


@dataclass(frozen=True, slots=True)
class _Fault:
    """What pydantic found, and where that is in the request."""

    details: ErrorDetails
    place: Place


def request_error(model: type[BaseModel], error: ValidationError) -> RequestError:
    """The error to raise for what `model` refused: one fault, and how many more there are."""
    details = error.errors(include_url=False)
    groups = _groups([_Fault(d, place(model, d["loc"])) for d in details[:_MOST]])
    # A misspelled key is both an unknown field and a missing one; the unknown one tells more.
    first = min(groups, key=lambda group: group[0].details["type"] == "missing")
    told = _alternatives(first) if len(first) > 1 else _fault(first[0])
    more = len(groups) - 1
    many = f"{more} more fault{'s' if more > 1 else ''}" if len(details) <= _MOST else f"more than {more} more faults"
    count = f" (and {many})" if more else ""
    return RequestError(told.message + count, code=told.code, where=told.where, help=told.help)


def _groups(faults: list[_Fault]) -> list[list[_Fault]]:
    """The faults, those together that only say why each alternative for one value was refused."""
    groups: dict[tuple[object, ...], list[_Fault]] = {}
    for index, fault in enumerate(faults):
        fork = fault.place.fork
        key: tuple[object, ...] = ("alone", index) if fork is None else ("at", *fault.place.path[:fork])
        groups.setdefault(key, []).append(fault)
    return list(groups.values())


def _alternatives(faults: list[_Fault]) -> RequestError:
    """The fault of a value that may be of several kinds: within the kind that was meant, or that it is of none."""
    deepest = max(faults, key=lambda fault: (len(fault.place.path), fault.details["type"] != "missing"))
    expected = [_EXPECTED.get(fault.details["type"]) for fault in faults if fault.place.path == deepest.place.path]
    if None in expected:
        return _fault(deepest)
    kinds = " or ".join(dict.fromkeys(name for name in expected if name is not None))
    return _error("R113", deepest.place.path, f"expected {kinds}, got {kind(deepest.details['input'])}")


def _fault(fault: _Fault) -> RequestError:
    details, path, shape = fault.details, fault.place.path, fault.place.shape
    value: object = details["input"]
    match details["type"]:
        case "katapi":
            context = details["ctx"]
            return _error(context["code"], (*path, *context["within"]), details["msg"], context["help"])
        case "union_tag_invalid" | "union_tag_not_found" if isinstance(shape, Tagged):
            return _tag_fault(value, path, shape)
        case "extra_forbidden":
            return _unknown_key(path, fault.place.owner)
        case "missing":
            return _error("R112", path, f"{_noun(path)} {quoted(str(path[-1]))} is missing")
        case "literal_error" if isinstance(shape, Choices):
            choices = [shown(choice) for choice in shape.values]
            if len(choices) == 1:
                return _error("R114", path, f"expected {choices[0]}, got {shown(value)}")
            return _error(
                "R114", path, f"{shown(value)} is not one of the choices", f"the choices are {', '.join(choices)}"
            )
        case "string_unicode":
            return _error("R108", path, "the text holds half of a surrogate pair, which is no character")
        case other if other in _EXPECTED:
            return _error("R113", path, f"expected {_EXPECTED[other]}, got {kind(value)}")
        case _:
            return _error("R119", path, details["msg"].replace("Input should", "the value should", 1))


def _tag_fault(value: object, path: tuple[str | int, ...], shape: Tagged) -> RequestError:
    """A message without a role that the request declares; other unions of models have another word for their `role`."""
    name = shape.discriminator
    members = [member for member in shape.members if member != ANY_OTHER]
    help = f"the {name}s are {', '.join([*members, 'any other text'] if shape.open else members)}"
    where = (*path, name)
    if not isinstance(value, Mapping) and shape.open:
        return _error("R113", path, f"expected an object, got {kind(value)}")
    if not isinstance(value, Mapping) or name not in value:
        return _error("R112", where, f"field {quoted(name)} is missing", help)
    tag = value[name]
    if not isinstance(tag, str):
        return _error("R113", where, f"expected text, got {kind(tag)}", help)
    return _error("R110", where, f"unknown {name} {quoted(tag)}", help)


def _unknown_key(path: tuple[str | int, ...], owner: type[BaseModel] | None) -> RequestError:
    key = str(path[-1])
    message = f"unknown {_noun(path)} {quoted(key)}"
    fields = spellings(owner) if owner else []
    accepted = [name for names in fields for name in names]
    if key in accepted:
        names = next(names for names in fields if key in names)
        message = f"{_noun(path)} {quoted(key)} stands here under two spellings"
        return _error("R111", path, message, f"send one of {', '.join(names)}")
    if path == ("documents",):
        help = "the model's template has no place for documents: what the model is to read goes into a message"
        return _error("R111", path, message, help)
    close = get_close_matches(key, accepted, n=1)
    help = f"did you mean {close[0]}?" if close else f"accepted here: {', '.join(accepted)}"
    return _error("R111", path, message, help)


def _noun(path: Sequence[str | int]) -> str:
    return "parameter" if len(path) == 1 else "field"


def _error(code: str, path: Sequence[str | int], message: str, help: str = "") -> RequestError:
    return RequestError(message, code=code, where=json_path(path), help=help)
