"""Which samples share a row: two ways to put lengths into rows of one capacity."""

from __future__ import annotations

from collections.abc import Sequence


def in_order(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """The places of the lengths, cut into rows where the next one does not fit."""
    rows: list[list[int]] = []
    room = 0
    for index, length in enumerate(lengths):
        if not rows or length > room:
            rows.append([])
            room = capacity
        rows[-1].append(index)
        room -= length
    return rows


def first_fit_decreasing(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """The places of the lengths: the longest first, each into the first row that has room for it.

    Places in a row, and rows by their first places, stand in order. Takes O(n log n) steps for n lengths.
    """
    rows: list[list[int]] = []
    room = _Room(len(lengths), capacity)
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        row = room.take(lengths[index])
        if row == len(rows):
            rows.append([])
        rows[row].append(index)
    return sorted(sorted(row) for row in rows)


class _Room:
    """How much room each row has, as a tree whose nodes hold the most room below them."""

    def __init__(self, rows: int, capacity: int) -> None:
        self._leaves = 1 << (rows - 1).bit_length()
        self._most = [capacity] * (2 * self._leaves)  # node k stands above 2k and 2k + 1; the rows are the last half

    def take(self, length: int) -> int:
        """Takes room for a length from the first row that has it, and gives that row."""
        most = self._most
        node = 1
        while node < self._leaves:
            node *= 2
            if most[node] < length:
                node += 1
        row = node - self._leaves
        most[node] -= length
        while node > 1:
            node //= 2
            most[node] = max(most[2 * node], most[2 * node + 1])
        return row
