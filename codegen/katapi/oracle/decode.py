"""Every decoder of a configuration: a list of tokens becomes another, and the last list is joined.

A byte of a broken run travels as a lone surrogate, U+DC00 and the byte, until the end: `decoded` gives it back as a
byte, `shown` as U+FFFD.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from katapi.oracle.normalizers import occurrences
from katapi.oracle.pretokenize import byte_letter
from katapi.runtime.tokenization import configuration as c


def decoded(tokens: list[bytes], stages: tuple[c.Decoder, ...], unicode: c.UnicodeVersions) -> bytes:
    """What tokens stand for, as bytes."""
    if c.DecodeBytes() in stages:
        return b"".join(tokens)
    return b"".join(_STRAY[ch] if ch in _STRAY else ch.encode() for ch in _text(tokens, stages, unicode))


def shown(tokens: list[bytes], stages: tuple[c.Decoder, ...], unicode: c.UnicodeVersions) -> str:
    """What tokens stand for, as text."""
    if c.DecodeBytes() in stages:
        return b"".join(tokens).decode(errors="replace")
    return "".join("\ufffd" if ch in _STRAY else ch for ch in _text(tokens, stages, unicode))


def spelled(text: str, stages: tuple[c.Decoder, ...]) -> bytes:
    """The bytes of a token: where they are decoded as bytes, letters of GPT-2's alphabet stand for those."""
    if c.DecodeBytes() in stages and all(ch in _LETTERS for ch in text):
        return bytes(_LETTERS[ch] for ch in text)
    return text.encode()


_STRAY = {chr(0xDC00 + byte): bytes([byte]) for byte in range(256)}
_LETTERS = {byte_letter(byte): byte for byte in range(256)}


def _text(tokens: list[bytes], stages: tuple[c.Decoder, ...], unicode: c.UnicodeVersions) -> str:
    texts = [token.decode(errors="replace") for token in tokens]
    for stage in stages:
        texts = _applied(texts, stage, unicode)
    return "".join(texts)


def _applied(tokens: list[str], stage: c.Decoder, unicode: c.UnicodeVersions) -> list[str]:
    match stage:
        case c.DecodeBytes():
            raise AssertionError("bytes are decoded by themselves")
        case c.DecodeByteFallback():
            return _fallen_back(tokens)
        case c.DecodeMetaspace():
            in_first = " " if stage.scheme is c.PrependScheme.NEVER else ""
            return _each(tokens, lambda token, at: token.replace(stage.replacement, " " if at else in_first))
        case c.DecodeWordPiece():
            return _each(tokens, lambda token, at: _word_piece(token, stage, begins=at == 0))
        case c.DecodeSuffix():
            end = len(tokens) - 1
            return _each(tokens, lambda token, at: token.replace(stage.suffix, "" if at == end else " "))
        case c.DecodeReplace():
            return _each(tokens, lambda token, _: _replaced(token, stage, unicode))
        case c.DecodeStrip():
            return _each(tokens, lambda token, _: _stripped(token, stage))
        case c.Fuse():
            return ["".join(tokens)]
        case c.Spaced():
            return _each(tokens, lambda token, at: " " + token if at else token)
        case _:
            assert_never(stage)


def _each(tokens: list[str], function: Callable[[str, int], str]) -> list[str]:
    return [function(token, at) for at, token in enumerate(tokens)]


def _fallen_back(tokens: list[str]) -> list[str]:
    """Runs of byte tokens become the text that they spell; where they spell none, each becomes a token."""
    out: list[str] = []
    run: list[int] = []
    for token in [*tokens, None]:
        byte = None if token is None else _BYTES.get(token[:3] + token[3:].upper())
        if byte is not None:
            run.append(byte)
            continue
        text = bytes(run).decode(errors="ignore")
        if text.encode() == bytes(run):
            out += [text] if run else []
        else:
            out += [chr(0xDC00 + byte) for byte in run]
        run = []
        out += [] if token is None else [token]
    return out


_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}


def _word_piece(token: str, stage: c.DecodeWordPiece, *, begins: bool) -> str:
    if not begins:
        token = token[len(stage.prefix) :] if token.startswith(stage.prefix) else " " + token
    if stage.cleanup:
        for old, new in _CLEANED:
            token = token.replace(old, new)
    return token


_CLEANED = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def _replaced(token: str, stage: c.DecodeReplace, unicode: c.UnicodeVersions) -> str:
    out, position = "", 0
    for start, end in occurrences(token, stage.pattern, unicode):
        out += token[position:start] + stage.content
        position = end
    return out + token[position:]


def _stripped(token: str, stage: c.DecodeStrip) -> str:
    for _ in range(stage.start):
        token = token.removeprefix(stage.content)
    for _ in range(stage.stop):
        token = token.removesuffix(stage.content)
    return token
