"""A Python expression under construction: its text, and how tightly it binds."""

from __future__ import annotations

from typing import NamedTuple

# Precedence of Python's operators, loosest first.
TERNARY, OR, AND, NOT, COMPARE, SUM, PRODUCT, FACTOR, ATOM = range(9)


class Code(NamedTuple):
    """A Python expression and how tightly it binds."""

    text: str
    binds: int = ATOM

    def within(self, level: int) -> str:
        """The text, in parentheses where it binds more loosely than its surroundings need."""
        return self.text if self.binds >= level else f"({self.text})"


def ternary(test: Code, then: Code, otherwise: Code) -> Code:
    """`then if test else otherwise`, or `test or otherwise` where a value is tested and chosen; no choice of one."""
    if then == otherwise:
        return then
    if test.text == then.text:
        return Code(f"{then.within(OR)} or {otherwise.within(OR)}", OR)
    return Code(f"{then.within(OR)} if {test.within(OR)} else {otherwise.within(TERNARY)}", TERNARY)
