"""A JSON file from elsewhere, read strictly: every value knows its path, and a value of the wrong kind is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError
from katapi.runtime.json_types import Json
from katapi.runtime.places import json_path, kind, quoted
from katapi.runtime.tokenization.scores import read_score


@dataclass(frozen=True, slots=True)
class Node:
    """A `value` and where it stands: the name of the `file` and the `path` in it. A missing member is the value null.

    A value that is not of the kind that a method asks for is an `ArtifactError` A132 that names its place.
    """

    value: Json
    file: str
    path: tuple[str | int, ...] = ()

    def __getitem__(self, key: str) -> Node:
        """The member of an object."""
        return Node(self.members().get(key), self.file, (*self.path, key))

    def __iter__(self) -> Iterator[Node]:
        """The items of a list."""
        for index, item in enumerate(self.items()):
            yield Node(item, self.file, (*self.path, index))

    def item(self, index: int) -> Node:
        """One item of a list."""
        items = self.items()
        if index >= len(items):
            raise self.fault(f"expected at least {index + 1} items, found {len(items)}")
        return Node(items[index], self.file, (*self.path, index))

    @property
    def is_null(self) -> bool:
        """Whether the value is null or missing."""
        return self.value is None

    def members(self) -> Mapping[str, Json]:
        """The value, an object."""
        if not isinstance(self.value, Mapping):
            raise self._expected("an object")
        return self.value

    def items(self) -> Sequence[Json]:
        """The value, a list."""
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return self.value

    def text(self, default: str | None = None) -> str:
        """The value, a text of whole characters; `default` stands for null."""
        value = default if self.value is None else self.value
        if not isinstance(value, str):
            raise self._expected("text")
        if not is_text(value):
            raise self.fault(f"half of a surrogate pair in {quoted(value)}")
        return value

    def flag(self, default: bool | None = None) -> bool:
        """The value, true or false; `default` stands for null."""
        value = default if self.value is None else self.value
        if not isinstance(value, bool):
            raise self._expected("true or false")
        return value

    def integer(self, maximum: int, default: int | None = None) -> int:
        """The value, an integer from 0 to `maximum`; `default` stands for null."""
        value = default if self.value is None else self.value
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._expected("an integer")
        if not 0 <= value <= maximum:
            raise self.fault(f"expected an integer from 0 to {maximum}, found {value if abs(value) < 1 << 64 else '…'}")
        return value

    def fault(self, message: str, help: str = "") -> ArtifactError:
        """An error that names this place."""
        where = f"{self.file}: {json_path(self.path)}" if self.path else self.file
        return ArtifactError(message, code="A132", where=where, help=help)

    def _expected(self, what: str) -> ArtifactError:
        return self.fault(f"expected {what}, found {kind(self.value)}")


def is_text(value: str) -> bool:
    """Whether a string holds whole characters only, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_json(data: bytes, *, where: str) -> Node:
    """The value that `data` spells.

    Raises `ArtifactError` A133 where it is not JSON in UTF-8 (RFC 8259), or an object has a key twice.
    """
    try:
        value: Json = _DECODER.decode(data.decode())
    except _RefusedError as refused:
        raise ArtifactError(f"{refused}", code="A133", where=where) from None
    except UnicodeDecodeError as error:
        raise ArtifactError("the file is not UTF-8", code="A133", where=f"{where}: byte {error.start}") from None
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise ArtifactError(f"the file is not JSON: {error.msg}", code="A133", where=place) from None
    except (ValueError, RecursionError):
        raise ArtifactError("the file nests too deep or holds a number too long", code="A133", where=where) from None
    return Node(value, where)


class _RefusedError(ValueError):
    """A hook refuses a value."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RefusedError(f"the key {quoted(key)} comes twice in one object")
            seen.add(key)
    return value


def _constant(name: str) -> Json:
    raise _RefusedError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=read_score, parse_constant=_constant)
