"""Budget blocks → model."""

from __future__ import annotations

from enum import Enum

from katapi.language import syntax as s
from katapi.model.declarations import Budget
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import settings_of


class _Overflow(Enum):
    REJECT = "reject"


def resolve_budget(node: s.Budget, findings: Findings) -> Budget:
    """Window and reserve, both in tokens."""
    with settings_of(node.settings, node.header, findings) as read:
        window = read.number("window", "40960") or 0
        reserve = read.number("reserve", "8192") or 0
        read.choice("overflow", _Overflow, _Overflow.REJECT)
    if reserve >= window > 0:
        findings.add("K708", read.place("reserve"), f"a reserve of {reserve} leaves nothing of a window of {window}")
    return Budget(identity(node.header), window, reserve)
