"""Serialization blocks → model."""

from __future__ import annotations

from dataclasses import replace

from katapi.language import syntax as s
from katapi.model.declarations import (
    AbsentPairs,
    Escape,
    Floats,
    Identity,
    Indent,
    Integers,
    KeyOrder,
    LineEnd,
    Nan,
    Serialization,
)
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import Misread, Part, Settings, settings_of
from katapi.runtime.unicode import known_versions

_LINE_ENDS = {str(end.value): end for end in LineEnd}
_ESCAPES = {str(escape.value): escape for escape in Escape}
_MOST_SPACES = 64


def resolve_serialization(
    node: s.Serialization, known: dict[str, s.Serialization], findings: Findings
) -> Serialization:
    """The settings of a serialization; `like` takes those of an earlier one first."""
    settings = _inherited(node, known, findings)
    if any(setting.key.text == "notation" and _is_python(setting) for setting in settings):
        return _python(node, settings, findings)
    with settings_of(settings, node.header, findings) as read:
        _notation(read)
        order = read.choice("order", KeyOrder, KeyOrder.AS_RECEIVED)
        item_separator = read.text("item_separator", '", "')
        key_separator = read.text("key_separator", '": "')
        indent = _indent(read)
        escape = _escape(read)
        floats = read.choice("floats", Floats, Floats.PYTHON)
        integers = read.choice("integers", Integers, Integers.EXACT)
        nan = read.choice("nan", Nan, Nan.REJECT)
        absent = read.choice("absent", AbsentPairs, AbsentPairs.OMITTED)
        read.separator("item_separator", item_separator, ",")
        read.separator("key_separator", key_separator, ":")
    return Serialization(
        identity(node.header),
        order,
        item_separator or "",
        key_separator or "",
        indent,
        escape,
        floats,
        integers,
        nan,
        absent,
        None if node.like is None else node.like.text,
        node.header.name.span,
    )


def _is_python(setting: s.Setting) -> bool:
    match setting.parts:
        case [s.Part(atoms=(s.Name(text="python"), *_))]:
            return True
        case _:
            return False


def _notation(read: Settings) -> str | None:
    """The version of Unicode behind `python`; None for JSON, which need not be said."""
    remedy = 'json | python "15.0", with the version of Unicode'
    parts = read.parts("notation", remedy, required=False)
    if not parts:
        return None
    try:
        if len(parts) > 1:
            raise Misread
        part = Part(parts[0])
        if part.flag("json"):
            part.done()
            return None
        if not part.flag("python"):
            raise Misread
        version = part.text()
        part.done()
    except Misread:
        read.misread("notation", remedy)
        return None
    if version not in known_versions("categories"):
        known = ", ".join(known_versions("categories"))
        read.report(parts[0].span, f"there is no data of Unicode {version} here", f"known: {known}")
        return None
    return version


def _python(node: s.Serialization, settings: tuple[s.Setting, ...], findings: Findings) -> Serialization:
    """A serialization in the notation of Python; of one that it is like it has the settings that mean something."""
    own = {setting.key.text for setting in node.settings}
    settings = tuple(t for t in settings if t.key.text in own | {"notation", "order", "absent"})
    with settings_of(settings, node.header, findings) as read:
        python = _notation(read)
        order = read.choice("order", KeyOrder, KeyOrder.AS_RECEIVED)
        absent = read.choice("absent", AbsentPairs, AbsentPairs.OMITTED)
    like = None if node.like is None else node.like.text
    whole = replace(unknown_serialization(node.header.name), identity=identity(node.header), like=like, python=python)
    return replace(whole, order=order, absent=absent)


def unknown_serialization(name: s.Name) -> Serialization:
    """What stands in for a serialization that there is not, after that is reported."""
    return Serialization(
        Identity(name.text, ""),
        KeyOrder.AS_RECEIVED,
        ", ",
        ": ",
        None,
        (),
        Floats.PYTHON,
        Integers.EXACT,
        Nan.REJECT,
        AbsentPairs.OMITTED,
        None,
        name.span,
    )


def _indent(read: Settings) -> Indent | None:
    remedy = "none | 2 lf | 2 crlf"
    parts = read.parts("indent", remedy)
    if not parts:
        return None
    try:
        if len(parts) > 1:
            raise Misread
        part = Part(parts[0])
        if part.flag("none"):
            part.done()
            return None
        indent = Indent(part.number(), part.one_of(_LINE_ENDS))
        part.done()
        if indent.spaces > _MOST_SPACES:
            raise Misread
        return indent
    except Misread:
        read.misread("indent", remedy)
        return None


def _escape(read: Settings) -> tuple[Escape, ...]:
    """`minimal`, or what is escaped beyond it; the order in which that is said means nothing."""
    remedy = f"minimal | {', '.join(_ESCAPES)}"
    parts = [Part(part) for part in read.parts("escape", remedy)]
    try:
        if len(parts) == 1 and parts[0].flag("minimal"):
            parts[0].done()
            return ()
        said = set()
        for part in parts:
            said.add(part.one_of(_ESCAPES))
            part.done()
        if len(said) < len(parts):
            raise Misread
        return tuple(escape for escape in Escape if escape in said)
    except Misread:
        read.misread("escape", remedy)
        return ()


def _inherited(node: s.Serialization, known: dict[str, s.Serialization], findings: Findings) -> tuple[s.Setting, ...]:
    if node.like is None:
        return node.settings
    base = known.get(node.like.text)
    if base is None:
        findings.add(
            "K105",
            node.like.span,
            f"no serialization `{node.like.text}` stands before this one",
            help=nearest(node.like.text, known),
        )
        return node.settings
    own = {setting.key.text for setting in node.settings}
    return tuple(t for t in _inherited(base, known, findings) if t.key.text not in own) + node.settings
