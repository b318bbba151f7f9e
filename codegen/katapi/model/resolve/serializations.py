"""Serialization blocks → model."""

from __future__ import annotations

from enum import Enum

from katapi.language import syntax as s
from katapi.model.declarations import Escape, KeyOrder, Serialization
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import settings_of


class _Floats(Enum):
    PYTHON = "python"


class _Nan(Enum):
    REJECT = "reject"


class _Absent(Enum):
    OMITTED = "omitted"


def resolve_serialization(
    node: s.Serialization, known: dict[str, s.Serialization], findings: Findings
) -> Serialization:
    """The settings of a serialization; `like` takes those of an earlier one first."""
    settings = _inherited(node, known, findings)
    with settings_of(settings, node.header, findings) as read:
        order = read.choice("order", KeyOrder, KeyOrder.AS_RECEIVED)
        item_separator = read.text("item_separator", '", "')
        key_separator = read.text("key_separator", '": "')
        escape = read.choice("escape", Escape, Escape.MINIMAL)
        read.choice("floats", _Floats, _Floats.PYTHON)
        read.choice("nan", _Nan, _Nan.REJECT)
        read.choice("absent", _Absent, _Absent.OMITTED)
        indent = read.number("indent", "4", required=False)
        read.separator("item_separator", item_separator, ",")
        read.separator("key_separator", key_separator, ":")
    return Serialization(
        identity(node.header),
        order,
        item_separator or "",
        key_separator or "",
        escape,
        indent,
        None if node.like is None else node.like.text,
        node.header.name.span,
    )


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
