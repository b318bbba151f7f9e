"""Which format the bytes of an image have, told from the bytes themselves, and what each format is called."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Format(NamedTuple):
    """A format that can be decoded."""

    name: str
    """What a declaration calls it: `jpeg`."""
    media_type: str
    """Its media type as IANA has it: `image/jpeg`."""
    plugin: str
    """The module of Pillow that reads it: `JpegImagePlugin`."""
    pillow: str
    """What Pillow calls it: `JPEG`."""
    codec: tuple[str, str]
    """The library that decodes it, as `PIL.features` names it: the kind of feature, and which."""


FORMATS = MappingProxyType(
    {
        format.name: format
        for format in (
            Format("jpeg", "image/jpeg", "JpegImagePlugin", "JPEG", ("feature", "libjpeg_turbo")),
            Format("png", "image/png", "PngImagePlugin", "PNG", ("codec", "zlib")),
            Format("webp", "image/webp", "WebPImagePlugin", "WEBP", ("module", "webp")),
            Format("gif", "image/gif", "GifImagePlugin", "GIF", ("", "")),
            Format("bmp", "image/bmp", "BmpImagePlugin", "BMP", ("", "")),
            Format("tiff", "image/tiff", "TiffImagePlugin", "TIFF", ("codec", "libtiff")),
        )
    }
)
"""The formats that a declaration can accept, by name."""

_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/apng": "image/png",
    "image/x-png": "image/png",
    "image/x-bmp": "image/bmp",
    "image/x-ms-bmp": "image/bmp",
    "image/tif": "image/tiff",
}

_BEGINNINGS = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"BM", "bmp"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "tiff"),
    (b"MM\0+", "tiff"),
)

_OTHERS = (
    (b"%PDF", "a PDF document"),
    (b"<svg", "an SVG drawing"),
    (b"<?xml", "XML, perhaps an SVG drawing"),
    (b"\0\0\1\0", "a Windows icon"),
    (b"8BPS", "a Photoshop document"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL ", "JPEG XL"),
    (b"\0\0\0\x0cjP  ", "JPEG 2000"),
)


def format_of(data: bytes) -> Format | None:
    """The format of an image by how its bytes begin; None where it is none of `FORMATS`."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return FORMATS["webp"]
    return next((FORMATS[name] for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)


def looks_like(data: bytes) -> str:
    """What bytes of none of the formats look like, for a message: `an SVG drawing`."""
    if data[4:8] == b"ftyp":
        brand = data[8:12]
        if brand in (b"avif", b"avis"):
            return "AVIF"
        return "HEIF" if brand in (b"heic", b"heix", b"mif1", b"msf1") else "a video"
    return next((name for beginning, name in _OTHERS if data.lstrip()[: len(beginning)] == beginning), "no image")


def media_type_as_registered(told: str) -> str:
    """A media type without parameters, in lower case, and under the name that IANA has: `Image/JPG` is `image/jpeg`."""
    bare = told.partition(";")[0].strip().lower()
    return _ALIASES.get(bare, bare)


def webp_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a WebP's canvas, which its decoder makes room for before it looks at anything else.

    RFC 9649, sections 2.5 to 2.7: an extended file names the canvas, the two others the size of their only image. None
    where the header is cut off or is none of the three.
    """
    if len(data) < 30:
        return None
    chunk = data[12:16]
    if chunk == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if chunk == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if chunk == b"VP8 ":
        width, height = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
        return width & 0x3FFF, height & 0x3FFF
    return None


def png_chunks(data: bytes, enough: int) -> int:
    """How many chunks a PNG has (ISO/IEC 15948, section 5.3), counted no further than `enough`."""
    chunks, at = 0, 8
    while chunks < enough and at < len(data):
        chunks += 1
        at += 12 + int.from_bytes(data[at : at + 4], "big")
    return chunks


_WITHOUT_LENGTH = frozenset((0x00, 0xC8, *range(0xD0, 0xDA), *range(0xF0, 0xFE)))
"""Markers of a JPEG that are read as two bytes with nothing that belongs to them, and the escape of a 255."""


def jpeg_pieces(data: bytes, enough: int) -> int:
    """How many segments a JPEG has before its first scan (ITU-T T.81, annex B), counted no further than `enough`.

    Bytes that belong to no segment are one each.
    """
    pieces, at = 0, 2
    while pieces < enough and at + 1 < len(data):
        pieces += 1
        marker = data[at + 1]
        if data[at] != 0xFF or marker == 0xFF:
            at += 1
        elif marker == 0xDA:
            break
        else:
            at += 2 if marker in _WITHOUT_LENGTH else 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return pieces


def bmp_runs(data: bytes) -> int:
    """How many runs a BMP can hold at most; 0 where it is not compressed by them (RLE8 and RLE4)."""
    return len(data) // 2 if data[30:34] in (b"\1\0\0\0", b"\2\0\0\0") else 0


def gif_frames(data: bytes, enough: int, most_blocks: int) -> int | None:
    """How many frames a GIF has (GIF89a, sections 18 to 22), counted no further than `enough`.

    None where there are more than `most_blocks` up to there; bytes that belong to no block are one each.
    """
    frames, at, blocks = 0, 13 + _colours(data, 10), 0
    while frames < enough and at < len(data) and data[at] != 0x3B:
        block = data[at]
        if block not in (0x21, 0x2C):
            at, blocks = at + 1, blocks + 1
        else:
            frames += block == 0x2C
            at += 2 if block == 0x21 else 11 + _colours(data, at + 9)
            while at < len(data) and data[at] and blocks <= most_blocks:
                at, blocks = at + 1 + data[at], blocks + 1
            at, blocks = at + 1, blocks + 1
        if blocks > most_blocks:
            return None
    return frames


def gif_delays(data: bytes) -> list[int]:
    """The delay of each frame of a GIF in hundredths of a second: that of the extension before it (GIF89a, section 23).

    A frame without one has none. `gif_frames` has let the file in, so that its blocks are not too many.
    """
    delays: list[int] = []
    delay, at = 0, 13 + _colours(data, 10)
    while at < len(data) and data[at] != 0x3B:
        block = data[at]
        if block not in (0x21, 0x2C):
            at += 1
            continue
        if block == 0x2C:
            delays.append(delay)
            delay = 0
        elif data[at + 1 : at + 3] == b"\xf9\x04":
            delay = int.from_bytes(data[at + 4 : at + 6], "little")
        at += 2 if block == 0x21 else 11 + _colours(data, at + 9)
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return delays


def _colours(data: bytes, flags: int) -> int:
    """The length of the colour table that the flags at a place announce."""
    return 3 * 2 ** ((data[flags] & 7) + 1) if flags < len(data) and data[flags] & 0x80 else 0
