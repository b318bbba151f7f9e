"""The smallest difference of what came in: a byte, what it means as JSON, and how bytes are read that are not UTF-8."""

from __future__ import annotations

from katapi.divergence.characters import named
from katapi.divergence.difference import Difference, Excerpt, Kind
from katapi.divergence.json_values import json_difference, read_json, spelling_difference, text_at
from katapi.divergence.texts import replaced_to
from katapi.runtime.json_types import Json, JsonObject


def bytes_difference(
    one: JsonObject, other: JsonObject, raw: bytes | None, other_raw: bytes | None
) -> Difference | None:
    """Another byte, with what it means; else how the bytes were read, and what was set beside them."""
    if raw is None or other_raw is None:
        return json_difference(one, other)
    if raw != other_raw:
        return _raw(raw, other_raw)
    return json_difference(one.get("params"), other.get("params"), ("params",)) or json_difference(one, other)


def _raw(raw: bytes, other_raw: bytes) -> Difference:
    """The smallest difference of two requests as bytes."""
    one, other = raw.decode("utf-8", "surrogateescape"), other_raw.decode("utf-8", "surrogateescape")
    values = _parsed(one), _parsed(other)
    if values[0] is not None and values[1] is not None:
        found = json_difference(*values)
        spelled = spelling_difference(one, other)
        assert spelled is not None
        (start, end), (second_start, second_end) = spelled.ranges
        where = _byte(one, other, start, second_start)
        excerpts = Excerpt(one, start, end), Excerpt(other, second_start, second_end)
        if found is None:
            first, second = one[start:end], other[second_start:second_end]
            shown = (first, second) if spelled.kind in (Kind.ESCAPE, Kind.NUMBER) else (named(first), named(second))
            return Difference(spelled.kind, where, *shown, excerpts)
        if found.kind is Kind.MISSING and not _has_key(found.where, one[start:end], other[second_start:second_end]):
            return found
        return Difference(
            found.kind, f"{where}, {found.where}", found.first, found.second, found.excerpts or excerpts
        )  # fmt: skip
    found = text_at(one, other, "")
    assert found is not None
    assert found.excerpts is not None
    start = found.excerpts[0].start
    where = _byte(one, other, start, start)
    behind = [_behind(text, start) for text in (one, other)]
    if behind == [start, start]:
        return Difference(found.kind, where, found.first, found.second, found.excerpts)
    # All that stands for the same bytes: each byte by itself, a U+FFFD for one or more of them, or other characters.
    behind = replaced_to(one, other, start, behind)
    first, second = (
        text[start:end].encode("utf-8", "surrogateescape").hex(" ").upper()
        for text, end in zip((one, other), behind, strict=True)
    )
    excerpts = Excerpt(_readable(one), start, behind[0]), Excerpt(_readable(other), start, behind[1])
    return Difference(Kind.REPLACED, where, first, second, excerpts)


def _has_key(path: str, *stretches: str) -> bool:
    """Whether the first bytes that differ can be those of a key that one of them lacks; an item has no name there.

    They are its name, or what ends the object or goes on with it.
    """
    name = path.rpartition(".")[2]
    return path.endswith("]") or any(name in stretch or stretch in (",", "}") for stretch in stretches)


def _parsed(text: str) -> Json:
    """The JSON value of a text; None where it is no JSON, or none that a request may be."""
    return None if any(map(_escaped, text)) else read_json(text)


def _byte(one: str, other: str, start: int, second_start: int) -> str:
    """The offset of a character in bytes; two where the texts before it are of different lengths."""
    places = [len(text[:at].encode("utf-8", "surrogateescape")) for text, at in ((one, start), (other, second_start))]
    return f"byte {places[0]}" if places[0] == places[1] else f"byte {places[0]} and byte {places[1]}"


def _escaped(character: str) -> bool:
    """Whether it stands for a byte that is not UTF-8."""
    return "\udc80" <= character <= "\udcff"


def _behind(text: str, start: int) -> int:
    """Where the bytes that are not UTF-8, or were replaced, end."""
    while start < len(text) and (text[start] == "\ufffd" or _escaped(text[start])):
        start += 1
    return start


def _readable(text: str) -> str:
    """The text with U+FFFD in the place of bytes that are not UTF-8."""
    return "".join("\ufffd" if _escaped(character) else character for character in text)
