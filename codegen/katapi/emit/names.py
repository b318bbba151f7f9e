"""Names in generated Python for names in a spec."""

from __future__ import annotations

import builtins
import keyword
import re

from katapi.model.declarations import ControlToken
from katapi.model.program import TokenizerProgram
from katapi.runtime import boundaries, dates, printed, rendering, text, views


def control_member(token: ControlToken) -> str:
    """The member of the `Control` enum: `@im_start` → IM_START, `@/think` → END_THINK."""
    name = token.name.upper()
    return "END_" + name[1:] if name.startswith("/") else name


def lender(program: TokenizerProgram, package: str) -> str:
    """The dotted name of the package that holds the vocabulary and the tokenizer of the generated `package`."""
    return f"{package.rpartition('.')[0]}.{program.tokenizer_package}"


def class_name(name: str) -> str:
    """A record or role as the first part of a class name: `tool_call` → ToolCall."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


_CLASSES = {
    "AliasChoices", "Annotated", "Boundary", "ByRole", "CarriesImage", "Content", "ContentSegment", "Control",
    "ControlSegment", "DateField", "Field", "Fixed", "FromParts", "Items", "Joined", "Json", "JsonObject",
    "JsonObjectField", "JsonText", "JsonValueField", "Literal", "LiteralSegment", "Message", "None", "ObjectFromText",
    "OtherThan", "Path", "Printed", "PrintedText", "PythonNotation", "Request", "RequestError", "RequestModel",
    "Sequence", "Serialization", "Site", "TemplateError", "TypeAlias",
}  # fmt: skip


def record_class(record: str) -> str:
    """The class of a record: `tool_call` → ToolCall; a name that has another use gets `Record` behind it."""
    name = class_name(record)
    return name + "Record" if name in _CLASSES or name.endswith("Message") else name


def message_class(role: str) -> str:
    """The class of a role's messages: `user` → UserMessage."""
    return class_name(role) + "Message"


_OWN = {"at", "first", "i", "messages", "out", "request", "walked"}
_CALLED = {name for module in (rendering, text, dates, printed, views, boundaries) for name in vars(module)}
_ALIKE = {"l", "O", "I"}  # hard to tell from digits
_RESERVED = _ALIKE | frozenset(keyword.kwlist) | frozenset(dir(builtins)) | _CALLED | _OWN
_DERIVED = re.compile(
    r"[A-Z_].*|without_.*|value_\d+|.*_(?:at|path|first|index|last|printed)|(?:.*_(?:before|after)|joined)(?:_\d+)?"
)


def local(name: str) -> str:
    """A local variable's name; one that Python or the generated code may use for something else gets an underscore."""
    return name + "_" if name in _RESERVED or _DERIVED.fullmatch(name) else name


def numbered(name: str, number: int) -> str:
    """A further local variable of one name."""
    return f"{name}{number}" if _DERIVED.fullmatch(f"{name}_{number}") else f"{name}_{number}"


def slug(written: str) -> str:
    """A constant's name for a text: its first words, or what its white space looks like."""
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", written)
    if words:
        return "_".join(w.upper() for w in words[:3])[:32].rstrip("_")
    if written and not written.strip("\n"):
        return "NEWLINE" if len(written) == 1 else "BLANK_LINE"
    if not written:
        return "EMPTY"
    return "TEXT" if written.strip() else "SPACE"
