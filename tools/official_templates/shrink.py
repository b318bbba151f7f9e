"""Makes a request smaller for as long as it shows the same difference.

What can be left out is left out, texts and numbers become the simplest, and an object or list gives way to one that it
holds. Of two requests the one with the shorter JSON is the smaller, of equally long ones the earlier in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from katapi.runtime.json_types import Json

Members = dict[str, Json]
_PLAIN = "a"


def smallest(request: Members, same: Callable[[Members], bool], *, tries: int = 5000) -> Members:
    """The smallest request that is found in so many tries; `same` says whether one still shows the difference."""
    left = tries
    progress = True
    while progress:
        progress = False
        for candidate in _members(request):
            if left == 0:
                return request
            if _size(candidate) < _size(request):
                left -= 1
                if same(candidate):
                    request, progress = candidate, True
                    break
    return request


def _size(value: Json) -> tuple[int, str]:
    written = json.dumps(value, ensure_ascii=False)
    return len(written) + 2 * written.count("true"), written  # false is simpler: it leaves something out


def _smaller(value: Json) -> Iterator[Json]:
    """Values that are a step simpler, the boldest steps first."""
    match value:
        case str():
            yield from _texts(value)
        case bool():
            yield False
        case int() | float():
            yield 0
        case Mapping():
            yield {}
            yield from (inner for inner in value.values() if isinstance(inner, Mapping))
            yield from _members(dict(value))
        case Sequence():
            yield []
            yield from (inner for inner in value if isinstance(inner, Sequence) and not isinstance(inner, str))
            yield from _items([*value])
        case None:
            pass


def _members(value: Members) -> Iterator[Members]:
    for key in value:
        yield {k: v for k, v in value.items() if k != key}
    for key, member in value.items():
        for simpler in _smaller(member):
            yield {**value, key: simpler}
        if len(key) > 1 and _PLAIN not in value:
            yield {_PLAIN if k == key else k: v for k, v in value.items()}


def _items(value: list[Json]) -> Iterator[list[Json]]:
    half = len(value) // 2
    if half > 1:
        yield value[half:]
        yield value[:half]
    for at in range(len(value)):
        yield value[:at] + value[at + 1 :]
    for at, item in enumerate(value):
        for simpler in _smaller(item):
            yield [*value[:at], simpler, *value[at + 1 :]]


def _texts(value: str) -> Iterator[str]:
    yield ""
    yield _PLAIN
    if value.startswith("{"):
        yield from _objects(value)
    half = len(value) // 2
    if half > 1:
        yield value[half:]
        yield value[:half]
    for at in range(len(value)):
        yield value[:at] + value[at + 1 :]
    for at, character in enumerate(value):
        if character != _PLAIN:
            yield value[:at] + _PLAIN + value[at + 1 :]


def _objects(value: str) -> Iterator[str]:
    """Texts of smaller objects, where a text is that of an object."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return
    yield "{}"
    for simpler in (parsed, *_members(parsed)):
        yield json.dumps(simpler, ensure_ascii=False)
