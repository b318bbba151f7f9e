"""Where a template begins to print a message."""

from __future__ import annotations

from katapi.runtime.dataclass import dataclass
from katapi.runtime.segments import Site


@dataclass(frozen=True, slots=True)
class Starts:
    """How what a template prints for a message, or for several that one arm takes together, can begin."""

    sites: frozenset[Site] = frozenset()
    """The places of the control tokens and literals that can be the first of it."""
    roles: frozenset[str] = frozenset()
    """The roles of the messages whose content can be the first of it."""
