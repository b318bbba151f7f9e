"""Characters by their names, and which of them do not show or look like others."""

from __future__ import annotations

import json
import unicodedata
from typing import Final

MOST: Final = 6
"""How many characters are named, and of how many the text is shown, where two texts have nothing in common."""

_COMMANDS: Final = {0x00: "NULL", 0x09: "TAB", 0x0A: "LINE FEED", 0x0B: "LINE TABULATION", 0x0C: "FORM FEED",
                    0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE", 0x85: "NEXT LINE"}  # fmt: skip
"""Characters that Unicode gives no name."""

_SAME_SHAPE: Final = (
    ("a", "аɑα"), ("c", "сϲ"), ("d", "ԁ"), ("e", "е"), ("g", "ɡ"), ("h", "һ"), ("i", "іɩι"), ("j", "ј"), ("k", "κк"),
    ("o", "оοօ"), ("p", "рρ"), ("q", "ԛ"), ("s", "ѕ"), ("u", "υս"), ("v", "νѵ"), ("w", "ԝ"), ("x", "хχ"), ("y", "уү"),
    ("A", "АΑ"), ("B", "ВΒ"), ("C", "СϹ"), ("E", "ЕΕ"), ("F", "Ϝ"), ("G", "Ԍ"), ("H", "НΗ"), ("I", "ІΙӀ"),
    ("J", "ЈͿ"), ("K", "КΚ"), ("M", "МΜ"), ("N", "Ν"), ("O", "ОΟՕ"), ("P", "РΡ"), ("Q", "Ԛ"), ("S", "Ѕ"), ("T", "ТΤ"),
    ("W", "Ԝ"), ("X", "ХΧ"), ("Y", "ΥҮ"), ("Z", "Ζ"),
    ("'", "‘’‛ʼʹ′´`"), ('"', "“”„‟″"), ("-", "‐‑‒–—―−﹣ー一"), ("/", "⁄∕"), (":", "∶ː"), ("!", "ǃ"), ("|", "ǀ│∣"),
    ("*", "∗⁎"), ("~", "∼〜～"), (",", "‚"), (".", "․"), ("·", "•∙⋅・"), ("_", "＿ˍ"), ("<", "‹˂"), (">", "›˃"),
    ("µ", "μ"), ("Ω", "Ω"),
)  # fmt: skip
"""Signs of one shape, each with the others: the letters that Latin, Cyrillic, Greek and Armenian share, and marks."""
_SHAPES: Final = {other: shape for shape, others in _SAME_SHAPE for other in others}


def name(character: str) -> str:
    """`U+00E9 LATIN SMALL LETTER E WITH ACUTE`; a character without a name has its code point alone."""
    code = ord(character)
    known = unicodedata.name(character, "") or _COMMANDS.get(code, "")
    return f"U+{code:04X} {known}".rstrip()


def named(text: str) -> str:
    """A short text in quotes; with a character that does not show as itself, or is not ASCII, also their names."""
    if not text:
        return ""
    shown = text if len(text) <= MOST else text[: MOST - 1] + "…"
    quoted = json.dumps(shown, ensure_ascii=not shown.isprintable())
    if text.isascii() and text.isprintable() and text != " ":
        return quoted
    names = ", ".join(map(name, text[:MOST]))
    return f"{quoted} {names}" + (f", and {len(text) - MOST} more" if len(text) > MOST else "")


def is_invisible(character: str) -> bool:
    """Whether it takes no room: format characters, joiners, variation selectors, and controls but for white space."""
    code = ord(character)
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or character in "\u034f\u115f\u1160\u3164\uffa0\u2800":
        return True
    category = unicodedata.category(character)
    return category == "Cf" or (category == "Cc" and not character.isspace())


def is_space(character: str) -> bool:
    """Whether it is a space of any width, or a tab."""
    return character == "\t" or unicodedata.category(character) == "Zs"


def is_mark(character: str) -> bool:
    """Whether it goes on what stands before it: accents, and vowels and finals of Hangul."""
    return unicodedata.category(character).startswith("M") or "\u1160" <= character <= "\u11ff"


def look_alike(one: str, other: str) -> bool:
    """Whether two different characters have one shape."""
    return one != other and _SHAPES.get(one, one) == _SHAPES.get(other, other)
