"""Decoders at work on the texts of tokens, one token at a time.

A stage turns a list of tokens into another list, and the texts of the last list are joined. Behind `Fuse` there is one
token only, whose text arrives in parts; a stage there waits for all of it unless it can tell before.

Bytes of fallback tokens that are not known to be valid UTF-8 travel as the characters U+DC00 to U+DCFF, one a byte. No
text holds these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

_RAW = 0xDC00
_RAW_BYTE = re.compile("[\udc00-\udcff]")


class Stream(Protocol):
    """One stage at work on one list of tokens."""

    def push(self, token: str) -> list[str]:
        """The tokens that are certain once `token` has come; behind `Fuse`, parts of the only token."""
        ...

    def finish(self) -> list[str]:
        """The rest."""
        ...

    def passes(self, byte: int) -> bool:
        """Whether a run of bytes that begins with `byte` passes as it is, be it valid UTF-8 or not."""
        ...


class Each:
    """Turns each token into one: the first token by `first`, all others by `later`."""

    def __init__(self, first: Callable[[str], str], later: Callable[[str], str]) -> None:
        self._now = first
        self._later = later

    def push(self, token: str) -> list[str]:
        """The token that this one becomes."""
        now, self._now = self._now, self._later
        return [now(token)]

    def finish(self) -> list[str]:
        """Nothing."""
        return []

    def passes(self, byte: int) -> bool:
        """Never: what a token becomes may depend on all of it."""
        return False


class Held:
    """Waits for the end of the only token."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function
        self._parts: list[str] = []

    def push(self, token: str) -> list[str]:
        """Nothing."""
        self._parts.append(token)
        return []

    def finish(self) -> list[str]:
        """What the token becomes."""
        return [self._function("".join(self._parts))]

    def passes(self, byte: int) -> bool:
        """Never."""
        return False


class Joined:
    """Takes all tokens as parts of one."""

    def push(self, token: str) -> list[str]:
        """The part."""
        return [token]

    def finish(self) -> list[str]:
        """Nothing."""
        return []

    def passes(self, byte: int) -> bool:
        """Always."""
        return True


class LastDiffers:
    """Turns each token into one: the last by `last`, all others by `other`."""

    def __init__(self, other: Callable[[str], str], last: Callable[[str], str]) -> None:
        self._other = other
        self._last = last
        self._waiting: str | None = None

    def push(self, token: str) -> list[str]:
        """What the token before this one becomes."""
        before, self._waiting = self._waiting, token
        return [] if before is None else [self._other(before)]

    def finish(self) -> list[str]:
        """What the last token becomes."""
        return [] if self._waiting is None else [self._last(self._waiting)]

    def passes(self, byte: int) -> bool:
        """Never."""
        return False


class ReplacedInParts:
    """Puts `content` in the place of every occurrence of `old` in the only token."""

    def __init__(self, old: str, content: str) -> None:
        self._old = old
        self._content = content
        self._rest = ""  # an end of what has come, shorter than `old`, that may be the beginning of an occurrence

    def push(self, token: str) -> list[str]:
        """All but what may be the beginning of an occurrence."""
        *done, rest = (self._rest + token).split(self._old)
        kept = next(size for size in range(min(len(rest), len(self._old) - 1), -1, -1) if self._begins(rest, size))
        self._rest = rest[len(rest) - kept :]
        return [self._content.join([*done, rest[: len(rest) - kept]])]

    def finish(self) -> list[str]:
        """The rest."""
        return [self._rest]

    def passes(self, byte: int) -> bool:
        """Never."""
        return False

    def _begins(self, text: str, size: int) -> bool:
        return size == 0 or text.endswith(self._old[:size])


class StrippedInParts:
    """Takes up to `start` times the character `content` off the beginning of the only token, `stop` times off its end.

    What goes at the beginning does not count at the end.
    """

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content = content
        self._start = start
        self._stop = stop
        self._held = 0  # how often the character has come at the end, at most `stop`

    def push(self, token: str) -> list[str]:
        """All but what may have to go."""
        if self._start and token:
            rest = token.lstrip(self._content)
            taken = min(len(token) - len(rest), self._start)
            token = token[taken:]
            self._start = 0 if token else self._start - taken
        if not self._stop or not token:
            return [token]
        body = token.rstrip(self._content)
        ending = len(token) - len(body) + (0 if body else self._held)
        before = self._content * self._held + body if body else ""
        self._held = min(ending, self._stop)
        return [before + self._content * (ending - self._held)]

    def finish(self) -> list[str]:
        """Nothing: what was held goes."""
        return []

    def passes(self, byte: int) -> bool:
        """Where nothing has to go any more, or none of these bytes is the character."""
        return not self._stop and (not self._start or byte != self._content.encode()[0])


class FallbackRuns:
    """Turns runs of byte tokens into the text that their bytes are in UTF-8.

    Where they are none, each byte becomes a token of its own. `byte_of` tells which byte a token stands for. `passes`
    tells whether a run that begins with a byte passes what follows as it is; then its bytes need not wait for its end.
    """

    def __init__(self, byte_of: Callable[[str], int | None], passes: Callable[[int], bool]) -> None:
        self._byte_of = byte_of
        self._passes = passes
        self._run = bytearray()

    def push(self, token: str) -> list[str]:
        """The token behind the run before it; nothing where it goes on with a run."""
        byte = self._byte_of(token)
        if byte is None:
            return [*self.finish(), token]
        if not self._run and self._passes(byte):
            return [chr(_RAW + byte)]
        self._run.append(byte)
        return []

    def finish(self) -> list[str]:
        """The run that was not at its end."""
        run = bytes(self._run)
        self._run.clear()
        try:
            return [run.decode()] if run else []
        except UnicodeDecodeError:
            return [chr(_RAW + byte) for byte in run]

    def passes(self, byte: int) -> bool:
        """Never."""
        return False


def bytes_of(text: str) -> bytes:
    """The bytes of a result."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return b"".join(bytes([ord(c) - _RAW]) if _RAW_BYTE.match(c) else c.encode() for c in text)


def shown(text: str) -> str:
    """A result as text: a byte of a broken run becomes U+FFFD."""
    return _RAW_BYTE.sub("\ufffd", text)
