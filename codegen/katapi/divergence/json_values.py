"""The smallest difference of two JSON values, by its path; and of two spellings of one value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias, TypeGuard, TypeVar

from katapi.divergence.characters import named
from katapi.divergence.difference import Difference, Excerpt, Kind
from katapi.divergence.texts import text_difference
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.places import json_path, quoted
from katapi.runtime.record import canonical_json
from katapi.runtime.strict_json import parse_json

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the outermost value on."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+|[\[\]{}:,]', re.DOTALL)
_CHARACTER: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
"""One character inside of a string, escaped or as it is."""
_DIGEST: Final = re.compile(r"(?:sha256:)?[0-9a-f]{64}")
_DEEPEST: Final = 256
"""How deep a text may nest to be compared as JSON: as deep as any request may."""

T = TypeVar("T")


def json_difference(one: Json, other: Json, path: Path = ()) -> Difference | None:
    """The first value that differs; where only orders of keys do, the first of those. None for the same value."""
    return _value(one, other, path) or _order(one, other, path)


def _value(one: Json, other: Json, path: Path) -> Difference | None:
    """The first difference that is not one of the order of keys."""
    if one is other:
        return None
    if isinstance(one, str) and isinstance(other, str):
        return _text(one, other, json_path(path))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return _objects(one, other, path)
    if _is_list(one) and _is_list(other):
        return _lists([*one], [*other], path)
    if canonical_json(one) == canonical_json(other):
        return None
    same = _is_number(one) and _is_number(other) and one == other
    return Difference(Kind.NUMBER if same else Kind.VALUE, json_path(path), _shown(one), _shown(other))


def _objects(one: Mapping[str, Json], other: Mapping[str, Json], path: Path) -> Difference | None:
    # In the order of the keys where that is the same, else in one that does not depend on which is the first.
    keys = [*one] if [*one] == [*other] else sorted({*one, *other})
    for key in keys:
        if key not in one or key not in other:
            return _missing(one.get(key), other.get(key), (*path, key), key in one)
        if found := _value(one[key], other[key], (*path, key)):
            return found
    return None


def _lists(one: list[Json], other: list[Json], path: Path) -> Difference | None:
    spelled = [canonical_json(item) for item in one], [canonical_json(item) for item in other]
    start, end = missing_items(*spelled)
    if start < end:
        longer = one if len(one) > len(other) else other
        shown = _shown(longer[start]) + (f" and {end - start - 1} more" if end - start > 1 else "")
        at = json_path((*path, start))
        return Difference(Kind.MISSING, at, *((shown, "") if longer is one else ("", shown)))
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if found := _value(a, b, (*path, index)):
            return found
    if len(one) == len(other):
        return None
    index = min(len(one), len(other))
    longer = max(one, other, key=len)
    return _missing(longer[index], longer[index], (*path, index), longer is one)


def missing_items(one: Sequence[T], other: Sequence[T]) -> tuple[int, int]:
    """The half-open range of the longer one that the shorter one lacks; empty where more than this differs."""
    short, long = sorted((one, other), key=len)
    start = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    end = start + len(long) - len(short)
    return (start, end) if short[start:] == long[end:] else (0, 0)


def _missing(one: Json, other: Json, path: Path, in_first: bool) -> Difference:
    first, second = (_shown(one), "") if in_first else ("", _shown(other))
    return Difference(Kind.MISSING, json_path(path), first, second)


def _order(one: Json, other: Json, path: Path) -> Difference | None:
    """The first object whose keys stand in another order; the values are the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if [*one] != [*other]:
            return Difference(Kind.KEY_ORDER, json_path(path), _keys(one), _keys(other))
        return next((found for key in one if (found := _order(one[key], other[key], (*path, key)))), None)
    if _is_list(one) and _is_list(other):
        pairs = enumerate(zip(one, other, strict=True))
        return next((found for n, (a, b) in pairs if (found := _order(a, b, (*path, n)))), None)
    return None


def _keys(value: Mapping[str, Json]) -> str:
    return ", ".join(map(quoted, value))


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Json) -> str:
    """A value on one line, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 and text.isprintable() else quoted(text)[1:-1].replace('\\"', '"')


def _text(one: str, other: str, where: str) -> Difference | None:
    """The difference of two texts: two that have no beginning in common are two values, a word or a digest.

    Two that are the same JSON are named by what differs of it: arguments of a call come as texts.
    """
    found = text_at(one, other, where)
    if found is None or found.kind is not Kind.TEXT:
        return found
    digests = _DIGEST.fullmatch(one) and _DIGEST.fullmatch(other)
    if one[:1] == other[:1] and not digests:
        inner = _same_json(one, other)
        if inner is None:
            return found
        shown = inner.first or found.first, inner.second or found.second
        return replace(found, kind=inner.kind, where=f"{found.where}{inner.where}", first=shown[0], second=shown[1])
    return Difference(Kind.VALUE, where, quoted(one), quoted(other))


def _same_json(one: str, other: str) -> Difference | None:
    """What differs of two texts that are the same JSON but for orders of keys and spellings; None for others."""
    first, second = (read_json(text) if text[:1] in ("{", "[") else None for text in (one, other))
    if first is None or second is None:
        return None
    found = json_difference(first, second)
    if found is None:
        spelled = spelling_difference(one, other)
        return None if spelled is None else Difference(spelled.kind, "", "", "")
    if found.kind not in (Kind.KEY_ORDER, Kind.NUMBER):
        return None
    return replace(found, where=f", JSON {found.where}".rstrip())


def read_json(text: str) -> Json:
    """The JSON value that a text spells; None where it spells none, or none that a request may hold."""
    try:
        return parse_json(text, max_depth=_DEEPEST)
    except RequestError:
        return None


def text_at(one: str, other: str, where: str) -> Difference | None:
    """The difference of two texts that stand at one place, with the index of the character."""
    found = text_difference(one, other)
    if found is None:
        return None
    start, (end, second_end) = found.start, found.ends
    return Difference(
        found.kind,
        f"{where}, character {start}" if where else f"character {start}",
        named(one[start:end]),
        named(other[start:second_end]),
        (Excerpt(one, start, end), Excerpt(other, start, second_end)),
    )


class Spelled(NamedTuple):
    """A difference of two spellings of one JSON value: its `kind`, and in `ranges` where it is in each, half-open."""

    kind: Kind
    ranges: tuple[tuple[int, int], tuple[int, int]]


def spelling_difference(one: str, other: str) -> Spelled | None:
    """The first difference of two JSON texts, by their tokens: white space counts only where nothing else differs."""
    tokens = [*_TOKEN.finditer(one)], [*_TOKEN.finditer(other)]
    for a, b in zip(*tokens, strict=False):
        if a[0] == b[0]:
            continue
        if a[0][0] == b[0][0] == '"' and (found := text_difference(a[0], b[0])):
            ends, start, kind = found.ends, found.start, found.kind
            if _read(a[0]) == _read(b[0]):
                (start, ends), kind = _escape(a[0], b[0]), Kind.ESCAPE
            return Spelled(kind, ((a.start() + start, a.start() + ends[0]), (b.start() + start, b.start() + ends[1])))
        same = _is_number(_read(a[0])) and _read(a[0]) == _read(b[0])
        return Spelled(Kind.NUMBER if same else Kind.TEXT, (a.span(), b.span()))
    found = text_difference(one, other)
    if found is None:
        return None
    kind = found.kind if found.kind is Kind.LINE_END else Kind.WHITE_SPACE
    return Spelled(kind, ((found.start, found.ends[0]), (found.start, found.ends[1])))


def _escape(one: str, other: str) -> tuple[int, tuple[int, int]]:
    """Where two spellings of one string first differ: the start of one character in both, and its end in each."""
    pairs = zip(_CHARACTER.finditer(one), _CHARACTER.finditer(other), strict=False)
    first, second = next((a, b) for a, b in pairs if a[0] != b[0])
    return first.start(), (first.end(), second.end())


def _read(token: str) -> Json:
    """The value of a JSON text; the text itself where it is none."""
    try:
        value: Json = json.loads(token)
    except (ValueError, RecursionError):
        return token
    return value
