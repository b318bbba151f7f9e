"""Numbers that a program passes: how many tokens, rows or columns."""

from __future__ import annotations

from operator import index

_LARGEST = 2**63 - 1  # what int64 holds


def count_of(value: object, name: str, least: int = 0) -> int:
    """A whole number of at least `least`, be it of Python or of numpy, as int; `name` is what a message calls it.

    Raises TypeError for what is no whole number, and ValueError for one that is too small or too large for int64.
    """
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]  # what has none is refused
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} is a whole number, not a {type(value).__name__}")
    if not least <= number <= _LARGEST:
        raise ValueError(f"{name} is {least} or more, not {number}" if number < least else f"{name} is beyond int64")
    return number
