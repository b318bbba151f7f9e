"""How long each frame of an animation is shown, read from its file without decoding a pixel."""

from __future__ import annotations

from fractions import Fraction

from katapi.runtime.images.media import gif_delays

_RIFF = 12


def delays_of(data: bytes, format: str) -> list[Fraction]:
    """The seconds for which each frame of a GIF, a WebP or a PNG is shown; those of another file are none.

    A file that is cut off has the frames that it has.
    """
    match format:
        case "gif":
            return [Fraction(delay, 100) for delay in gif_delays(data)]
        case "webp":
            return _of_webp(data)
        case "png":
            return _of_png(data)
        case _:
            return []


def first_is_shown(data: bytes) -> bool:
    """Whether the image of an animated PNG is the first frame of its animation: a frame is announced before it."""
    announced, image = data.find(b"fcTL"), data.find(b"IDAT")
    return 0 <= announced < image


def _of_webp(data: bytes) -> list[Fraction]:
    """RFC 9649, section 2.7.1.1: the duration of an ANMF chunk in milliseconds, its bytes 12 to 14."""
    found: list[Fraction] = []
    at = _RIFF
    while at + 8 <= len(data):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"ANMF":
            found.append(Fraction(int.from_bytes(data[at + 20 : at + 23], "little"), 1000))
        at += 8 + length + length % 2
    return found


def _of_png(data: bytes) -> list[Fraction]:
    """Portable Network Graphics, third edition, section 11.3.6.2: a delay is a fraction, and a hundredth by default."""
    found: list[Fraction] = []
    at = 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"fcTL" and length == 26:
            above, below = (int.from_bytes(data[at + place : at + place + 2], "big") for place in (28, 30))
            found.append(Fraction(above, below or 100))
        at += 12 + length
    return found
