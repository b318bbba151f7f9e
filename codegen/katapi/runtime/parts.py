"""The language's `text from parts`: a content that comes as a text, or as a list of text parts that is read as one.

The text of a merged content knows its parts, so that each stretch of it, cut or whole, has the place of the part that
it came from: `("messages", 0, "content", 2, "text")` and the offset there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, SupportsIndex

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from katapi.runtime.fields import checked_text, refuse
from katapi.runtime.places import kind, quoted
from katapi.runtime.segments import Path


class Piece(NamedTuple):
    """A stretch of a merged text: what `steps` lead to from the content, and the offset there.

    A separator has no steps and no offset: it came from the content as a whole.
    """

    text: str
    """The stretch."""
    steps: Path
    """The way from the content to the text that it stands in."""
    start: int | None
    """Its first code point in that text, counted from 0."""


class MergedText(str):
    """The text of several parts; a slice of it knows its pieces as well. Any other text made of it is a plain `str`."""

    __slots__ = ("parts", "pieces")
    pieces: tuple[Piece, ...]
    """What it is put together from; none is empty."""
    parts: tuple[str, ...]
    """The texts as they came, of a whole content."""

    def __new__(cls, pieces: Iterable[Piece], parts: tuple[str, ...] = ()) -> MergedText:
        """The texts of the pieces one after the other; empty pieces are left out."""
        kept = tuple(piece for piece in pieces if piece.text)
        merged = super().__new__(cls, "".join([piece.text for piece in kept]))
        merged.pieces = kept
        merged.parts = parts
        return merged

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if not isinstance(key, slice):
            return super().__getitem__(key)
        first, end, step = key.indices(len(self))
        if step != 1:
            return super().__getitem__(key)
        cut: list[Piece] = []
        at = 0
        for text, steps, start in self.pieces:
            left, right = max(first - at, 0), min(end - at, len(text))
            if left < right:
                cut.append(Piece(text[left:right], steps, None if start is None else start + left))
            at += len(text)
        return MergedText(cut)

    def __getnewargs__(self) -> tuple[tuple[Piece, ...], tuple[str, ...]]:  # type: ignore[override]  # to make it anew
        return self.pieces, self.parts


class FromParts:
    """Annotation of a text that may come as a list of `{"type": "text", "text": …}`; `separator` goes between two.

    R110 for a part of another type, R111 to R113 for one that is not well formed.
    """

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.merged, serialization=core_schema.plain_serializer_function_ser_schema(as_received)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        part = {
            "type": "object",
            "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
            "required": ["type", "text"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": part}]}

    def merged(self, value: object) -> str:
        """The one text of a content."""
        if isinstance(value, str):
            return value if isinstance(value, MergedText) else checked_text(value)
        if not isinstance(value, Sequence) or isinstance(value, (bytes, bytearray, memoryview)):
            raise refuse("R113", f"expected text or a list of text parts, got {kind(value)}")
        texts = tuple(_text_of(part, index) for index, part in enumerate(value))
        pieces: list[Piece] = []
        for index, text in enumerate(texts):
            if index:
                pieces.append(Piece(self.separator, (), None))
            pieces.append(Piece(text, (index, "text"), 0))
        return MergedText(pieces, texts)


def as_received(value: str) -> str | list[dict[str, str]]:
    """A content as it came: a text, or its parts."""
    if not isinstance(value, MergedText):
        return value
    return [{"type": "text", "text": text} for text in value.parts]


def _text_of(part: object, index: int) -> str:
    """The text of a part."""
    if not isinstance(part, Mapping):
        raise refuse("R113", f"expected a text part, got {kind(part)}", within=(index,))
    if "type" not in part:
        raise refuse("R112", 'field "type" is missing', within=(index, "type"))
    if not isinstance(part["type"], str):
        raise refuse("R113", f"expected text, got {kind(part['type'])}", within=(index, "type"))
    if part["type"] != "text":
        message = f"the model takes no part of type {quoted(part['type'])} here"
        raise refuse("R110", message, help="send text parts only", within=(index, "type"))
    for key in part:
        if key not in ("type", "text"):
            message = f"unknown field {quoted(str(key))}"
            raise refuse("R111", message, help="accepted here: type, text", within=(index, str(key)))
    if "text" not in part:
        raise refuse("R112", 'field "text" is missing', within=(index, "text"))
    if not isinstance(part["text"], str):
        raise refuse("R113", f"expected text, got {kind(part['text'])}", within=(index, "text"))
    return checked_text(part["text"], (index, "text"))
