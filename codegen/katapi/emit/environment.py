"""The one Jinja environment of the emitters: strict, and given nothing but a context dataclass."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("katapi.emit", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, context: DataclassInstance) -> str:
    """A template filled with the fields of a context."""
    values = {f.name: getattr(context, f.name) for f in fields(context)}
    return _environment().get_template(template).render(values)
