"""What generated renderers call: neighbours and runs of messages, and tests on JSON values.

A message is passed on with its index in the request, since every segment names the message it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard, TypeVar

from typing_extensions import TypeIs

from katapi.runtime.json_types import Json, JsonArray, JsonObject
from katapi.runtime.printed import Fixed, Printed, PrintedText
from katapi.runtime.segments import Content, Literal, Path, Site

M = TypeVar("M")
R = TypeVar("R")
T = TypeVar("T")

# ---- messages


def message_at(messages: Sequence[tuple[int, M]], index: int) -> M | None:
    """The message at an index of what is walked; None beyond the ends."""
    return messages[index][1] if 0 <= index < len(messages) else None


def first_message(messages: Sequence[tuple[int, M]]) -> M | None:
    """The first message; None where there is none."""
    return messages[0][1] if messages else None


def last_message(messages: Sequence[tuple[int, M]]) -> M | None:
    """The last message; None where there is none."""
    return messages[-1][1] if messages else None


def run_from(messages: Sequence[tuple[int, M]], start: int, role: type[R]) -> list[tuple[int, R]]:
    """The messages from an index on as long as they are of one role."""
    run: list[tuple[int, R]] = []
    for at, message in messages[start:]:
        if not isinstance(message, role):
            break
        run.append((at, message))
    return run


# ---- what is printed


class Joined:
    """Puts a separator between those parts of what is printed in which there is something."""

    __slots__ = ("_any_before", "_out", "_separator", "_start")

    def __init__(self, out: list[Printed], separator: Fixed) -> None:
        self._out = out
        self._separator = separator
        self._start = len(out)
        self._any_before = False

    def end_part(self) -> None:
        """Ends a part and begins another: what was printed since the last part ended belongs together."""
        if any(part[0] for part in self._out[self._start :]):
            if self._any_before:
                self._out.insert(self._start, self._separator)
            self._any_before = True
        self._start = len(self._out)


# ---- numbers, lists and JSON values


def number(value: int, path: Path, site: Site) -> PrintedText:
    """A printed number: content where it came from the request, a literal where `path` is empty."""
    if path:
        return Content(str(value)), path, None
    return Literal(str(value)), site


def common_path(*paths: Path) -> Path:
    """The longest beginning that paths have in common; an empty one, of a value from elsewhere, does not count."""
    known = [path for path in paths if path]
    if not known:
        return ()
    shortest = min(known, key=len)
    alike = (len({path[at] for path in known}) == 1 for at in range(len(shortest)))
    return shortest[: next((at for at, same in enumerate(alike) if not same), len(shortest))]


def path_of(text: PrintedText | None) -> Path:
    """The path of a text that came with the request; an empty one for any other, and for none."""
    return text[1] if text is not None and len(text) == 3 else ()


def first_item(items: Sequence[T]) -> T | None:
    """The first item; None where there is none."""
    return items[0] if items else None


def last_item(items: Sequence[T]) -> T | None:
    """The last item; None where there is none."""
    return items[-1] if items else None


def json_field(value: Json, key: str) -> Json:
    """The value of a key; None where the key is missing or the value is no object."""
    return value.get(key) if isinstance(value, Mapping) else None


def has_key(value: Json, key: str) -> bool:
    """Whether a value is an object with this key, be it null."""
    return isinstance(value, Mapping) and key in value


def is_integer(value: Json) -> TypeGuard[int]:
    """A whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_fraction(value: Json) -> TypeGuard[float]:
    """A number with a fraction or an exponent."""
    return isinstance(value, float)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Any number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_list(value: Json) -> TypeIs[JsonArray]:
    """A list; a text is none."""
    return isinstance(value, list | tuple)


def is_object(value: Json) -> TypeIs[JsonObject]:
    """An object."""
    return isinstance(value, Mapping)


def as_text(value: Json) -> str:
    """A value that a test in the template has shown to be a text."""
    assert isinstance(value, str)
    return value


def as_integer(value: Json) -> int:
    """A value that a test in the template has shown to be a whole number."""
    assert isinstance(value, int)
    return value


def as_bool(value: Json) -> bool:
    """A value that a test in the template has shown to be true or false."""
    assert isinstance(value, bool)
    return value


def as_list(value: Json) -> JsonArray:
    """A value that a test in the template has shown to be a list."""
    assert is_list(value)
    return value


def as_object(value: Json) -> JsonObject:
    """A value that a test in the template has shown to be an object."""
    assert isinstance(value, Mapping)
    return value


def json_equal(left: Json, right: Json) -> bool:
    """Equality of JSON scalars: 1 and 1.0 are equal, 1 and true are not."""
    return left == right and isinstance(left, bool) is isinstance(right, bool)


def json_within(value: Json, items: JsonArray) -> bool:
    """Whether a list holds a value, by `json_equal`."""
    return any(json_equal(value, item) for item in items)


def without_absent(pairs: Mapping[str, T | None]) -> dict[str, T]:
    """An object without the pairs whose value is absent."""
    return {key: value for key, value in pairs.items() if value is not None}
