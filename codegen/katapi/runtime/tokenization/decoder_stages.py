"""The decoders of tokenizer.json that work on the texts of tokens, as they are declared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from katapi.runtime.tokenization.decoder_streams import (
    Each,
    FallbackRuns,
    Held,
    Joined,
    LastDiffers,
    ReplacedInParts,
    Stream,
    StrippedInParts,
)
from katapi.runtime.tokenization.matching import Matcher
from katapi.runtime.tokenization.normalizers import Replace
from katapi.runtime.tokenization.options import PrependScheme

Passes = Callable[[int], bool]
"""Whether a run of bytes that begins with this byte passes as it is."""
OfText = Callable[[str], str]
"""What a text becomes."""
_BYTE_TOKEN = re.compile("<0x([0-9A-Fa-f]{2})>")


class DecoderStage(Protocol):
    """A decoder that turns a list of tokens into another."""

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream; `fused` says that there is one token only, `passes` is that of the streams behind this one."""
        ...

    def alone(self) -> tuple[OfText, OfText] | None:
        """What the first token becomes, and what each other does; None where that depends on those beside it."""
        ...

    def fused(self) -> OfText | None:
        """What the only token becomes; None where it may become bytes that are no text."""
        ...


class TokenDecoder:
    """Turns each token into one: the first token by `first`, all others by `later`."""

    def __init__(self, first: OfText, later: OfText) -> None:
        self._first = first
        self._later = later

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        return Held(self._first) if fused else Each(self._first, self._later)

    def alone(self) -> tuple[OfText, OfText]:
        """What the first token becomes, and what each other does."""
        return self._first, self._later

    def fused(self) -> OfText:
        """What the only token becomes."""
        return self._first


def spaced() -> TokenDecoder:
    """Puts a space between tokens: what tokenizer.json means by no decoder."""
    return TokenDecoder(lambda token: token, lambda token: " " + token)


def metaspace_decoder(replacement: str, scheme: PrependScheme) -> TokenDecoder:
    """Turns `replacement` into a space, in the first token into nothing unless none is ever put there ("Metaspace")."""
    in_first = " " if scheme is PrependScheme.NEVER else ""
    return TokenDecoder(
        lambda token: token.replace(replacement, in_first), lambda token: token.replace(replacement, " ")
    )


def word_piece_decoder(prefix: str, *, cleanup: bool) -> TokenDecoder:
    """Puts a space before each token but the first and those that begin with `prefix`, which goes ("WordPiece").

    `cleanup` takes the space before some punctuation and English endings away, in each token by itself.
    """
    cleaned = _cleaned_up if cleanup else str

    def later(token: str) -> str:
        return cleaned(token.removeprefix(prefix) if token.startswith(prefix) else " " + token)

    return TokenDecoder(cleaned, later)


def replace_decoder(matcher: Matcher, content: str) -> TokenDecoder:
    """Puts `content` in the place of every match ("Replace" with a regular expression)."""
    replaced = Replace(matcher, content).normalize
    return TokenDecoder(replaced, replaced)


class ReplaceTextDecoder:
    """Puts `content` in the place of every occurrence of `old`, which is not empty ("Replace" with a string)."""

    def __init__(self, old: str, content: str) -> None:
        self._old = old
        self._content = content

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        return ReplacedInParts(self._old, self._content) if fused else Each(self._replaced, self._replaced)

    def alone(self) -> tuple[OfText, OfText]:
        """What any token becomes, be it the first or not."""
        return self._replaced, self._replaced

    def fused(self) -> OfText:
        """What the only token becomes."""
        return self._replaced

    def _replaced(self, token: str) -> str:
        return token.replace(self._old, self._content)


class StripDecoder:
    """Takes up to `start` times the character `content` off the beginning of a token, `stop` times off its end."""

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content = content
        self._start = start
        self._stop = stop

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        return self._in_parts() if fused else Each(self._stripped, self._stripped)

    def alone(self) -> tuple[OfText, OfText]:
        """What any token becomes, be it the first or not."""
        return self._stripped, self._stripped

    def fused(self) -> OfText:
        """What the only token becomes."""
        return self._stripped

    def _in_parts(self) -> StrippedInParts:
        return StrippedInParts(self._content, self._start, self._stop)

    def _stripped(self, token: str) -> str:
        return "".join(self._in_parts().push(token))


class SuffixDecoder:
    """Turns `suffix`, which ends a word, into a space, and in the last token into nothing ("BPEDecoder")."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        if fused:
            return ReplacedInParts(self._suffix, "") if self._suffix else Joined()
        return LastDiffers(lambda token: token.replace(self._suffix, " "), self._without)

    def alone(self) -> None:
        """The last token becomes something else."""

    def fused(self) -> OfText:
        """What the only token becomes."""
        return self._without

    def _without(self, token: str) -> str:
        return token.replace(self._suffix, "")


class ByteFallbackDecoder:
    """Turns runs of the tokens `<0x00>` to `<0xFF>` into the text that their bytes are in UTF-8 ("ByteFallback").

    Where they are none, each byte becomes a token of its own.
    """

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        return Held(_fallen_back) if fused else FallbackRuns(byte_of, passes)

    def alone(self) -> None:
        """What a byte becomes depends on those beside it."""

    def fused(self) -> None:
        """A byte by itself may be no text."""


class FuseDecoder:
    """Joins all tokens to one ("Fuse")."""

    def stream(self, *, fused: bool, passes: Passes) -> Stream:
        """A new stream."""
        return Joined()

    def alone(self) -> None:
        """A token is only a part of what they become."""

    def fused(self) -> OfText:
        """It stays as it is."""
        return str


def byte_of(token: str) -> int | None:
    """The byte that the token `<0x00>` to `<0xFF>` stands for; None for another token."""
    found = _BYTE_TOKEN.fullmatch(token) if token.startswith("<0x") else None
    return int(found[1], 16) if found else None


def _fallen_back(token: str) -> str:
    """What the only token becomes."""
    runs = FallbackRuns(byte_of, lambda byte: False)
    return "".join((*runs.push(token), *runs.finish()))


_CLEANED_UP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def _cleaned_up(token: str) -> str:
    for old, new in _CLEANED_UP:
        token = token.replace(old, new)
    return token
