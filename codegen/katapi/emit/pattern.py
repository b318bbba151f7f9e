"""Writes a declared pre-tokenizer pattern into generated code, as it was declared: a raw string for each alternative.

Generated code compiles the pattern when it first needs it (`katapi.runtime.patterns.matcher`), in about ten
milliseconds. So what stands there is what the specification says, and there is no second form of it to be read, loaded
or trusted.
"""

from __future__ import annotations

from katapi.runtime.patterns.properties import PROPERTIES, is_readable
from katapi.runtime.patterns.syntax import parse


def pattern_lines(pattern: str) -> list[str]:
    """String literals that follow one another and are `pattern` together. Raises `PatternError`."""
    lines: list[str] = []
    for choice in parse(pattern, PROPERTIES).choices:
        text = pattern[choice.start : choice.end]
        lines.append(_literal(f"|{text}" if lines else text))
    return lines


def _literal(text: str) -> str:
    """A raw string literal where one can be read. No alternative ends with a backslash that escapes nothing."""
    if all(map(is_readable, text)):
        if '"' not in text:
            return f'r"{text}"'
        if "'" not in text:
            return f"r'{text}'"
        if not text.endswith('"') and '"""' not in text:
            return f'r"""{text}"""'
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character != '"' and is_readable(character):
        return character
    code_point = ord(character)
    if code_point < 0x100:
        return f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
