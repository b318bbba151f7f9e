"""What every declaration begins with → model."""

from __future__ import annotations

from katapi.language import syntax as s
from katapi.model.declarations import Identity


def identity(header: s.Header) -> Identity:
    """The name and version of a declaration."""
    return Identity(header.name.text, header.version)
