"""The first fault of a text that is not the JSON we accept: what is wrong, where it stands, and what would help.

This is the slow reader behind `strict_json`: it runs on a text that the fast reader refused. It keeps its own stack, so
no nesting exhausts Python's, and it stops at the first fault, so its time is linear in the text before that.
"""

from __future__ import annotations

import json
import math
import re

from katapi.runtime.dataclass import dataclass
from katapi.runtime.places import bare, quoted
from katapi.runtime.strict_json import is_readable_integer


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, in the words of a `RequestError`: its `code`, R100 or R103 to R109, its `message` and its `help`.

    `path` leads to the value or key concerned; None when only `line` and `column` can say where it is. Both are counted
    from 1, columns in code points.
    """

    code: str
    message: str
    help: str
    path: tuple[str | int, ...] | None
    line: int
    column: int


def first_fault(text: str, max_depth: int) -> Fault | None:
    """The first fault of `text` in reading order; None when it is a JSON text that nests at most `max_depth` deep."""
    try:
        _Reader(text, max_depth).read()
    except _FaultFoundError as found:
        return found.fault
    return None


class _FaultFoundError(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class _Array:
    """An open array; `step` is the index of the element being read."""

    __slots__ = ("step",)

    def __init__(self) -> None:
        self.step = -1


class _Object:
    """An open object; `step` is the key of the member being read, `keys` are those read so far."""

    __slots__ = ("keys", "step")

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.step = ""


_SPACE = r"[ \t\n\r]*+"
_STRING_START = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'

_UP_TO_ELEMENT = re.compile(rf"{_SPACE}(?:(\])|(,){_SPACE}(?!\]))?")
_UP_TO_MEMBER = re.compile(rf'{_SPACE}(?:(\}})|(,)?{_SPACE}({_STRING_START}"){_SPACE}:{_SPACE})')
_SCALAR = re.compile(
    rf'({_STRING_START}")|(-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?)|(true|false|null)|(NaN|-?Infinity)'
)
_SPACES = re.compile(_SPACE)
_UNCLOSED_STRING = re.compile(_STRING_START)
_WORD = re.compile(r"[+-]?\w++|.", re.DOTALL)
_HALF_PAIR = re.compile("[\ud800-\udfff]")

_WORD_HELP = {
    "True": "JSON spells it true",
    "False": "JSON spells it false",
    "None": "JSON spells it null",
    "'": "a JSON string stands in double quotes",
    "/": "JSON has no comments",
    "#": "JSON has no comments",
    ".": "a JSON number begins with a digit",
}


class _Reader:
    """Reads one text from `at` onward; `stack` holds the containers that are open, outermost first."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.at = 0
        self.stack: list[_Array | _Object] = []

    def read(self) -> None:
        self.skip_space()
        if self.at == len(self.text):
            raise self.fault("R100", "the text is empty", "send one JSON value")
        self.value()
        while self.stack:
            container = self.stack[-1]
            if isinstance(container, _Array):
                self.element(container)
            else:
                self.member(container)
        self.skip_space()
        if self.at < len(self.text):
            raise self.fault(
                "R103", f"the JSON value has ended, but {self.found()} follows", "send one JSON value only"
            )

    def element(self, array: _Array) -> None:
        """Reads up to and into the next element, or the end of the array."""
        match = _UP_TO_ELEMENT.match(self.text, self.at)
        assert match is not None, "the pattern matches the empty string"
        bracket, comma = match.groups()
        if bracket:
            self.stack.pop()
            self.at = match.end()
            return
        if (comma is None) != (array.step == -1):
            raise self.separator_fault("]", is_first=array.step == -1)
        self.at = match.end()
        array.step += 1
        self.value()

    def member(self, container: _Object) -> None:
        """Reads up to and into the value of the next member, or the end of the object."""
        match = _UP_TO_MEMBER.match(self.text, self.at)
        if match is None:
            raise self.separator_fault("}", is_first=not container.keys)
        brace, comma, spelled = match.groups()
        if brace:
            self.stack.pop()
            self.at = match.end()
            return
        if (comma is None) != (not container.keys):
            raise self.separator_fault("}", is_first=not container.keys)
        self.at = match.start(3)
        key = container.step = self.unescaped(spelled, "the key", container)
        if key in container.keys:
            raise self.fault(
                "R104",
                f"the key {quoted(key)} stands twice in one object",
                "send each key once; readers differ in which of the two they take",
                placed=True,
            )
        container.keys.add(key)
        self.at = match.end()
        self.value()

    def value(self) -> None:
        """Reads a value that is no container, or the opening bracket of one."""
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            self.open()
            return
        string, number, fraction, exponent, _, no_number = match.groups()
        if string:
            self.unescaped(string, "the text")
        elif fraction or exponent:
            if math.isinf(float(number)):
                raise self.fault("R106", f"{bare(number)} is beyond the range of a 64-bit float", placed=True)
        elif number and not is_readable_integer(number):
            digits = len(number.removeprefix("-"))
            raise self.fault("R107", f"an integer of {digits} digits is too long", "send it as a string", placed=True)
        elif no_number:
            raise self.fault("R105", f"{no_number} is no JSON number", "send a finite number, or null", placed=True)
        self.at = match.end()

    def open(self) -> None:
        """Reads the opening bracket of a container."""
        if not self.text.startswith(("[", "{"), self.at):
            raise self.value_fault()
        if len(self.stack) == self.max_depth:
            raise self.fault("R109", f"lists and objects nest more than {self.max_depth} deep", "send a flatter value")
        self.stack.append(_Array() if self.text[self.at] == "[" else _Object())
        self.at += 1

    def unescaped(self, string: str, what: str, container: _Object | None = None) -> str:
        """What the string literal spells."""
        if "\\" not in string:
            return string[1:-1]
        spelled: str = json.loads(string)
        if _HALF_PAIR.search(spelled):
            if container is not None:
                container.step = spelled
            raise self.fault(
                "R108",
                f"{what} holds an escape for half of a surrogate pair, which is no character",
                "send the character itself, or both halves",
                placed=True,
            )
        return spelled

    # What follows runs once, to say what is wrong with the syntax.

    def separator_fault(self, closer: str, *, is_first: bool) -> _FaultFoundError:
        """Why neither a member nor the end of a container follows."""
        self.skip_space()
        comma = self.at
        if not is_first:
            if not self.take(","):
                return self.fault("R103", f"expected , or {closer}, found {self.found()}")
            self.skip_space()
            if self.text.startswith(closer, self.at):
                self.at = comma
                return self.fault("R103", f"a comma stands before {closer}", "remove it")
        if closer == "]":
            return self.value_fault()
        if not self.text.startswith('"', self.at):
            return self.fault("R103", f"expected a key in double quotes, found {self.found()}")
        if fault := self.string_fault():
            return fault
        self.skip_space()
        return self.fault("R103", f"expected : after a key, found {self.found()}")

    def value_fault(self) -> _FaultFoundError:
        """Why no value follows."""
        if self.text.startswith('"', self.at) and (fault := self.string_fault()):
            return fault
        return self.fault("R103", f"expected a value, found {self.found()}", _WORD_HELP.get(self.word(), ""))

    def string_fault(self) -> _FaultFoundError | None:
        """Why the quote here begins no string; when it does begin one, reads that and returns None."""
        match = _UNCLOSED_STRING.match(self.text, self.at)
        assert match is not None, "the caller saw the opening quote"
        start, self.at = self.at, match.end()
        if self.take('"'):
            return None
        if self.at == len(self.text):
            self.at = start
            return self.fault("R103", "the string that begins here has no closing quote")
        if self.text[self.at] == "\\":
            return self.fault(
                "R103",
                "a backslash stands before something that it cannot escape",
                r"the escapes are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits",
            )
        return self.fault(
            "R103",
            f"the control character U+{ord(self.text[self.at]):04X} stands in a string",
            r"escape it: a line break is \n, any other \u and four hexadecimal digits",
        )

    def skip_space(self) -> None:
        match = _SPACES.match(self.text, self.at)
        assert match is not None, "the pattern matches the empty string"
        self.at = match.end()

    def take(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def word(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match.group() if match else ""

    def found(self) -> str:
        """What stands here, in words."""
        return bare(self.word()) or "the end of the text"

    def fault(self, code: str, message: str, help: str = "", *, placed: bool = False) -> _FaultFoundError:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        path = tuple(container.step for container in self.stack) if placed else None
        return _FaultFoundError(Fault(code=code, message=message, help=help, path=path, line=line, column=column))
