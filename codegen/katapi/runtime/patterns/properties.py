"""The Unicode properties that a pattern can name, by the names of the field (general categories)."""

from __future__ import annotations

PROPERTIES = frozenset("L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp".split())
