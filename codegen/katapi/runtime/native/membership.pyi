"""Whether all characters of a text are in a set, in C (`membership.c`)."""

def first_outside(text: str, members: bytearray, start: int, /) -> int:
    """The place, from `start` on, of the first character of a text that is not in a set; -1 where all are.

    The set is a bit for each of the 0x110000 code points, the lowest bit of a byte first. Raises TypeError and
    ValueError on anything else.
    """
