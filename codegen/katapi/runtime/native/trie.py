"""The trie of a vocabulary as a double array (Aoe 1989): a walk reads one number for each byte. For mypyc.

The number at a node has the node that it is a child of in its lowest 21 bits, above them where its own children begin,
21 bits, and above these the token that ends there and 1, or 0. The child for a byte stands at the node's beginning and
the byte; whether it is there, its lowest bits tell.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i32, i64

NOBODY: Final = 0x1FFFFF  # what no node is a child of
MOST_NODES: Final = 0x1FFF00
WIDTH: Final = 4  # numbers of a node, side by side, so that a step reads one line of the cache
CHILD: Final = 0  # the child that came last
SIBLING: Final = 1  # the one that came before
PARENT: Final = 2
LABEL: Final = 3  # the byte by which it is reached; above it the token that ends there and 1, or 0
_DENSE: Final = 4096  # so far behind the first free place the search for several begins anew


class Trie:
    """Takes tokens, then gives the double array and, for each token, the longest other that it begins with."""

    def __init__(self, bytes_at_most: i64) -> None:
        """`bytes_at_most` is the length of all tokens together."""
        self._links = vec[i32]([-1] * (WIDTH * (int(bytes_at_most) + 1)))
        self._nodes: i64 = 1
        self._children_of_root = vec[i64]([-1] * 256)

    def add(self, joined: bytes, start: i64, end: i64, token: i64) -> i64:
        """Takes the token `joined[start:end]`, and gives its node."""
        links = self._links
        node: i64 = 0
        while start < end:
            c: i64 = joined[start]
            child: i64 = self._children_of_root[c] if node == 0 else i64(links[node * WIDTH + CHILD])
            while child >= 0 and i64(links[child * WIDTH + LABEL]) & 0xFF != c:
                child = i64(links[child * WIDTH + SIBLING])
            if child < 0:
                child = self._nodes
                self._nodes += 1
                if node == 0:
                    self._children_of_root[c] = child
                links[child * WIDTH + SIBLING] = links[node * WIDTH + CHILD]
                links[child * WIDTH + PARENT] = i32(node)
                links[child * WIDTH + LABEL] = i32(c)
                links[node * WIDTH + CHILD] = i32(child)
            node = child
            start += 1
        links[node * WIDTH + LABEL] = i32(i64(links[node * WIDTH + LABEL]) & 0xFF | token + 1 << 8)
        return node

    def prefix(self, node: i64) -> i64:
        """The longest token that the one at `node` begins with, but for itself; -1 where there is none."""
        links = self._links
        node = i64(links[node * WIDTH + PARENT])
        while node > 0:
            token: i64 = i64(links[node * WIDTH + LABEL]) >> 8
            if token > 0:
                return token - 1
            node = i64(links[node * WIDTH + PARENT])
        return -1

    def double_array(self) -> bytes:
        """The numbers. Raises OverflowError where there are too many nodes."""
        nodes: i64 = self._nodes
        size: i64 = 2 * nodes + 4096
        if nodes > MOST_NODES // 2:
            raise OverflowError("too many nodes")
        links = self._links
        owner = vec[i64]([NOBODY] * int(size))
        begins = vec[i64]([0] * int(size))
        place = vec[i64]([0] * int(nodes))
        token = vec[i64]([0] * int(size))
        queue = vec[i64]([0] * int(nodes))
        taken: i64 = 1
        done: i64 = 0
        owner[0] = 0
        free: i64 = 256  # all places before it are taken, or given up; children begin above 0
        used: i64 = 1
        while done < taken:
            node: i64 = queue[done]
            done += 1
            child: i64 = i64(links[node * WIDTH + CHILD])
            if child < 0:
                continue
            while owner[free] != NOBODY:
                free += 1
            at: i64 = free
            tries: i64 = 0
            begin: i64 = 0
            while True:
                if owner[at] == NOBODY:
                    begin = at - (i64(links[child * WIDTH + LABEL]) & 0xFF)
                    other: i64 = i64(links[child * WIDTH + SIBLING])
                    while other >= 0 and owner[begin + (i64(links[other * WIDTH + LABEL]) & 0xFF)] == NOBODY:
                        other = i64(links[other * WIDTH + SIBLING])
                    if other < 0:
                        break
                    tries += 1
                at += 1
            if tries > 0 and at - free > _DENSE:
                free += 64
            begins[place[node]] = begin
            while child >= 0:
                label: i64 = i64(links[child * WIDTH + LABEL])
                spot: i64 = begin + (label & 0xFF)
                owner[spot] = place[node]
                place[child] = spot
                token[spot] = label >> 8
                if spot >= used:
                    used = spot + 1
                queue[taken] = child
                taken += 1
                child = i64(links[child * WIDTH + SIBLING])
        used += 256
        if used > MOST_NODES:
            raise OverflowError("too many nodes")
        i: i64 = 0
        while i < used:
            owner[i] = owner[i] | begins[i] << 21 | token[i] << 42
            i += 1
        return memoryview(owner)[: int(used)].tobytes()
