"""Network bytes to a JSON value (RFC 8259), strictly: what two readers could take in two ways is refused.

`json.loads` accepts duplicate keys, NaN, half surrogate pairs and, up to Python's own limit, any depth. Here each of
these is one `RequestError` that names the place. The text is parsed once, by the C
scanner with hooks; only a text that fails is read a second time, by `json_faults`, to find the place. An array of tools
that was read before is not parsed again.

| code | fault                                       | `where`                              |
| ---- | ------------------------------------------- | ------------------------------------ |
| R100 | there is no text                            | `1:1` (line and column, both from 1) |
| R101 | not UTF-8                                   | `byte 17` (from 0)                   |
| R102 | a byte order mark                           | `byte 0`                             |
| R103 | not JSON                                    | `3:14`                               |
| R104 | one key twice in an object                  | JSON path of the key                 |
| R105 | `NaN`, `Infinity` or `-Infinity`            | JSON path                            |
| R106 | a number beyond the range of a 64-bit float | JSON path                            |
| R107 | an integer of more than 4300 digits         | JSON path                            |
| R108 | half of a surrogate pair                    | JSON path                            |
| R109 | nested too deep                             | `3:14`                               |

A fault of the outermost value has no path, so `where` is line and column. Columns count code points.

Numbers: an integer is a Python `int`, exact up to that limit; a number with a fraction or an exponent is the nearest
64-bit float. `-0` is the integer 0 and `-0.0` the float -0.0. Objects keep the order of their keys.
"""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from json.scanner import make_scanner
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.known_arrays import KNOWN_ARRAYS
from katapi.runtime.object_members import Members, members
from katapi.runtime.places import json_path

if TYPE_CHECKING:
    from katapi.runtime.json_faults import Fault

InvalidUtf8: TypeAlias = Literal["strict", "replace"]
"""What to do with bytes that are not UTF-8: refuse the request, or put U+FFFD in their place and say so."""

MAX_INTEGER_DIGITS: Final = 4300
"""The longest integer that Python converts by default, without its sign."""

MAX_DEPTH: Final = 128
"""How deep a request may nest unless its specification says otherwise. The outermost array or object has depth 1."""

MAX_SUBSTITUTIONS: Final = 1000
"""How many replacements are listed with their places; one more entry counts the rest."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """One place where a stage changed its input instead of refusing it; part of the record."""

    stage: str
    """The stage that did it: `request`."""
    where: str
    """The bytes concerned: `byte 17`, `bytes 17 to 20` with both ends included, or `from byte 17 on`."""
    what: str
    """What was done, in words."""


class DecodedJson(NamedTuple):
    """A JSON `value`, and the `substitutions` that were made to read it (none under the policy `strict`)."""

    value: Json
    substitutions: tuple[Substitution, ...]


def decode_json(raw: bytes, *, invalid_utf8: InvalidUtf8, max_depth: int, listed: str | None = None) -> DecodedJson:
    """The one JSON value that `raw` spells, at most `max_depth` deep. Raises `RequestError` R100 to R109 (table above).

    Objects in the array `listed` of the outermost object keep the text they were read from.
    """
    text, substitutions = decode_text(raw, invalid_utf8)
    return DecodedJson(parse_json(text, max_depth=max_depth, listed=listed), substitutions)


def decode_text(raw: bytes, invalid_utf8: InvalidUtf8) -> tuple[str, tuple[Substitution, ...]]:
    """The text that `raw` spells, and what was replaced in it. Raises `RequestError` R101 and R102 (table above)."""
    if raw.startswith(_UTF8_MARK):
        raise RequestError(
            "the text begins with a byte order mark",
            code="R102",
            where="byte 0",
            help="send UTF-8 without the three bytes EF BB BF",
        )
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        if invalid_utf8 == "strict":
            raise _not_utf8(error) from None
    text = raw.decode("utf-8", "replace")
    return text, _substitutions(raw, text)


def parse_json(text: str, *, max_depth: int, listed: str | None = None) -> Json:
    """The one JSON value that `text` spells, by the same rules. Raises `RequestError` R100 and R103 to R109."""
    read: Members | None = None
    try:
        if listed is not None and listed in text:
            read = _members(text, listed, max_depth)
        value = _value(text) if read is None else _object(read.pairs)
    except (ValueError, RecursionError):
        fault = _first_fault(text, max_depth)
        if fault is None:
            raise RequestError("the text nests deeper than this Python can read", code="R109") from None
        raise _error(fault) from None
    start, end = (0, 0) if read is None else read.array
    new = text[:start] + text[end:] if read is not None and read.known else text
    if _looks_deep(new, max_depth) or _looks_split(new):
        # A look may give a false alarm, so the slow reader decides.
        fault = _first_fault(text, max_depth)
        if fault is not None:
            raise _error(fault)
    if start < end and new is text:
        _remember(text[start:end], value, listed)
    return value


def is_readable_integer(digits: str) -> bool:
    """Whether Python reads this integer: our limit, or a lower one that the process has set."""
    if len(digits.removeprefix("-")) > MAX_INTEGER_DIGITS:
        return False
    try:
        int(digits)
    except ValueError:
        return False
    return True


def _first_fault(text: str, max_depth: int) -> Fault | None:
    from katapi.runtime.json_faults import first_fault  # no text that is in order needs the slow reader

    return first_fault(text, max_depth)


_UTF8_MARK = b"\xef\xbb\xbf"


_SPACE = " \t\n\r"


class _RefusedError(ValueError):
    """A hook refuses a value; where it stands is found afterwards."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError
    return value


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS and not is_readable_integer(digits):
        raise _RefusedError
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _RefusedError
    return value


def _constant(name: str) -> Json:
    raise _RefusedError


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant, strict=True
)


_scan = make_scanner(_DECODER)  # type: ignore[arg-type]  # typeshed names a scanner; it takes a decoder


def _value(text: str) -> Json:
    """The value that `text` spells; `JSONDecoder.decode` does the same with more steps."""
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        value: Json
        value, end = _scan(text, start)
    except StopIteration:  # no value where one must stand
        raise _RefusedError from None
    if text[end:].strip(_SPACE):
        raise _RefusedError
    return value


def _members(text: str, listed: str, max_depth: int) -> Members | None:
    """The members of the object that `text` spells, those in the array `listed` with their texts, if it is one."""
    try:
        return members(text, listed, _scan, max_depth)
    except StopIteration:  # no value where one must stand
        return None


def _remember(source: str, value: Json, listed: str | None) -> None:
    """Remembers the array `listed` of a value that is in order."""
    if isinstance(value, dict) and listed is not None:
        elements = value[listed]
        assert isinstance(elements, list)
        KNOWN_ARRAYS.add(source, _depth(source), elements)


def _error(fault: Fault) -> RequestError:
    where = json_path(fault.path) if fault.path else f"{fault.line}:{fault.column}"
    return RequestError(fault.message, code=fault.code, where=where, help=fault.help)


# The two looks below run at C speed. Neither misses a fault of a JSON text; a false alarm costs only time.

_STEP = [0] * 128
for _bracket, _step in (("[", 1), ("{", 1), ("]", -1), ("}", -1)):
    _STEP[ord(_bracket)] = _step
_OTHERS = bytes(code for code in range(256) if code >= len(_STEP) or (not _STEP[code] and chr(code) != '"'))


def _looks_deep(text: str, max_depth: int) -> bool:
    """Whether the brackets that stand outside strings open to a depth above `max_depth`."""
    return text.count("[") + text.count("{") > max_depth and _depth(text) > max_depth


def _depth(text: str) -> int:
    """How deep the brackets that stand outside strings open."""
    bare = text.encode("ascii", "replace")
    if b"\\" in bare:
        bare = bare.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Of each string its two quotes are left, and the brackets in it; without those, two quotes side by side.
    quotes_and_brackets = bare.translate(None, _OTHERS).replace(b'""', b"")
    outside = b"".join(quotes_and_brackets.split(b'"')[::2])  # strings are every second piece
    return max(accumulate(map(_STEP.__getitem__, outside)), default=0)


_PAIR = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _looks_split(text: str) -> bool:
    """Whether an escape for half of a surrogate pair stands without its other half."""
    if "\\u" not in text or ("\\ud" not in text and "\\uD" not in text):
        return False
    return _HALF.search(text) is not None and _HALF.search(_PAIR.sub("", text)) is not None


def _not_utf8(error: UnicodeDecodeError) -> RequestError:
    found = error.object[error.start : error.end].hex(" ").upper()
    return RequestError(
        f"the bytes {found} are not UTF-8" if error.end - error.start > 1 else f"the byte {found} is not UTF-8",
        code="R101",
        where=f"byte {error.start}",
        help="send UTF-8, or use a specification whose request rules say to replace such bytes",
    )


def _substitutions(raw: bytes, text: str) -> tuple[Substitution, ...]:
    """Where the decoder's `replace` put U+FFFD, found by walking `raw` beside its decoding `text`."""
    stretches: list[tuple[int, int, int]] = []  # first byte, byte after the last, how many U+FFFD
    at = 0
    read = 0
    replaced = 0
    for match in _REPLACEMENT.finditer(text):
        at += len(text[read : match.start()].encode("utf-8"))
        read = match.end()
        if raw.startswith(_REPLACEMENT_UTF8, at):
            at += len(_REPLACEMENT_UTF8)
            continue
        if replaced == MAX_SUBSTITUTIONS:
            rest = text.count("\ufffd", match.start()) - raw.count(_REPLACEMENT_UTF8, at)
            return (*map(_substitution, stretches), Substitution("request", f"from byte {at} on", _replaced(rest)))
        replaced += 1
        end = at + _invalid_length(raw, at)
        if stretches and stretches[-1][1] == at:
            start, _, count = stretches.pop()
            stretches.append((start, end, count + 1))
        else:
            stretches.append((at, end, 1))
        at = end
    return tuple(map(_substitution, stretches))


_REPLACEMENT = re.compile("\ufffd")
_REPLACEMENT_UTF8 = "\ufffd".encode()


def _invalid_length(raw: bytes, at: int) -> int:
    """How many bytes the decoder takes for the U+FFFD that it puts at byte `at`."""
    try:
        raw[at : at + 4].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end
    raise AssertionError("the decoder replaced what it can decode")


def _substitution(stretch: tuple[int, int, int]) -> Substitution:
    start, end, count = stretch
    where = f"byte {start}" if end - start == 1 else f"bytes {start} to {end - 1}"
    return Substitution("request", where, _replaced(count))


def _replaced(count: int) -> str:
    return f"invalid UTF-8 replaced by {count} × U+FFFD"
