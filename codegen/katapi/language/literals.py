"""Quoted texts and block texts: what the characters between the quotes stand for, and the way back."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
_NAMES = {value: key for key, value in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))")
_DOLLAR = re.compile(r"\$?\$\{")
_INSIDE = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{}#]""")


class LiteralError(ValueError):
    """A quoted text that means nothing; `start` and `end` are the place within the token."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message, start, end)
        self.message = message
        self.start = start
        self.end = end


def unquote(token: str) -> str:
    """The text that a quoted token stands for."""

    def value(match: re.Match[str]) -> str:
        start, end = match.start() + 1, match.end() + 1
        if match[1]:
            code = int(match[1], 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise LiteralError(f"U+{code:04X} is no Unicode character", start, end)
            return chr(code)
        if match[2] == "u":
            raise LiteralError(r"an escape by number is written \u{…}, with one to six hexadecimal digits", start, end)
        if match[2] not in _ESCAPES:
            raise LiteralError(f"unknown escape \\{match[2]}", start, end)
        return _ESCAPES[match[2]]

    return _ESCAPE.sub(value, token[1:-1])


def quote(text: str, *, within_block: bool = False) -> str:
    """The canonical quoted form of a text: double quotes unless only single quotes need no escape.

    Within a block text, no three double quotes may follow each other, not even between single ones.
    """
    single = '"' in text and "'" not in text and not (within_block and '"""' in text)
    mark = "'" if single else '"'
    out = []
    for c in text:
        if c in ("\n", "\t", "\r", "\\", mark):
            out.append("\\" + _NAMES[c])
        elif not c.isprintable():
            out.append(f"\\u{{{ord(c):x}}}")
        else:
            out.append(c)
    return mark + "".join(out) + mark


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A stretch of a block text, or what stands in one `${…}`; `offset` is its place in the token."""

    offset: int
    text: str
    interpolated: bool


def split_block(token: str) -> list[BlockPart]:
    """The parts of a block text.

    The text begins on the line after the quotes; the indentation of the closing quotes is taken off every line; the
    line end before the closing quotes does not count. `$${` stands for a plain `${`.
    """
    parts: list[BlockPart] = []
    lines = _dedented(token)
    text, start = "", lines[0][0] if lines else 0
    for number, (offset, line) in enumerate(lines):
        text += "\n" if number else ""
        position = 0
        while match := _DOLLAR.search(line, position):
            text += line[position : match.start()]
            position = match.end()
            if match[0] == "$${":
                text += "${"
                continue
            if text:
                parts.append(BlockPart(start, text, False))
            end = _interpolation_end(line, position, offset)
            parts.append(BlockPart(offset + position, line[position:end], True))
            position = end + 1
            text, start = "", offset + position
        text += line[position:]
    if text:
        parts.append(BlockPart(start, text, False))
    return parts


def _dedented(token: str) -> list[tuple[int, str]]:
    """The lines of a block text without their indentation, each with its offset in the token."""
    body = token[3:-3]
    if not body.startswith("\n"):
        raise LiteralError('a block text begins on the line after its """', 0, 3)
    last_line = body.rfind("\n") + 1
    indent = body[last_line:]
    if indent.strip(" "):
        raise LiteralError('the closing """ stands alone on its line, after spaces only', len(token) - 3, len(token))
    lines, offset = [], 4
    for line in body[1:last_line].split("\n")[:-1]:
        if line.strip(" ") and not line.startswith(indent):
            at = offset + len(line) - len(line.lstrip(" "))
            raise LiteralError('this line is indented less than the closing """', at, at + 1)
        lines.append((offset + min(len(indent), len(line)), line[len(indent) :]))
        offset += len(line) + 1
    return lines


def _interpolation_end(line: str, start: int, offset: int) -> int:
    """Where the `}` stands that closes the `${` before `start`."""
    depth = 0
    for match in _INSIDE.finditer(line, start):
        if match[0] == "#":
            at = offset + match.start()
            raise LiteralError("a comment cannot stand in ${…}", at, at + 1)
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            if depth == 0:
                return match.start()
            depth -= 1
    at = offset + start - 2
    raise LiteralError("this ${ is not closed on its line; the characters themselves are written $${", at, at + 2)
