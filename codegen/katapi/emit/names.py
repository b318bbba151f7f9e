"""Names in generated Python for names in a spec."""

from __future__ import annotations

import builtins
import keyword
import re

from katapi.model.declarations import ControlToken


def control_member(token: ControlToken) -> str:
    """The member of the `Control` enum: `@im_start` → IM_START, `@/think` → END_THINK."""
    name = token.name.upper()
    return "END_" + name[1:] if name.startswith("/") else name


def class_name(name: str) -> str:
    """A record or role as the first part of a class name: `tool_call` → ToolCall."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def message_class(role: str) -> str:
    """The class of a role's messages: `user` → UserMessage."""
    return class_name(role) + "Message"


_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"out", "sampled", "request"}


def local(name: str) -> str:
    """A local variable's name; one that Python or the generated code uses gets an underscore."""
    return name + "_" if name in _RESERVED else name


def slug(text: str) -> str:
    """A constant's name for a text: its first words, or what its white space looks like."""
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", text)
    if words:
        return "_".join(w.upper() for w in words[:3])[:32].rstrip("_")
    if text and not text.strip("\n"):
        return "NEWLINE" if len(text) == 1 else "BLANK_LINE"
    if not text:
        return "EMPTY"
    return "TEXT" if text.strip() else "SPACE"
