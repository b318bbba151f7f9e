"""Where the bytes of an image come from, read off what a part of a request says."""

from __future__ import annotations

import binascii
import re
from dataclasses import field
from typing import TypeAlias
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from katapi.runtime.dataclass import dataclass
from katapi.runtime.fields import refuse
from katapi.runtime.segments import Path


@dataclass(frozen=True, slots=True)
class ImageBytes:
    """The bytes stand in the request."""

    steps: Path
    """The way from the part to the text that held them."""
    data: bytes = field(repr=False)
    """The bytes of the file."""
    media_type: str | None
    """What the request says that they are; None where it does not say it."""


@dataclass(frozen=True, slots=True)
class ImageAddress:
    """The request tells where the bytes can be had."""

    steps: Path
    """The way from the part to the address."""
    address: str
    """A URL, but of the schemes `data` and `file`."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """The bytes are those of a file of the machine that assembles the request."""

    steps: Path
    """The way from the part to the path."""
    path: str
    """The path as it came, or that of a URL of the scheme `file`."""


ImageSource: TypeAlias = ImageBytes | ImageAddress | ImageFile
"""Where the bytes of an image come from; a part that says nothing of it shows the next one that is attached."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_AROUND_A_URL = "".join(map(chr, range(0x21)))
_NOT_IN_A_URL = {ord(character): None for character in "\t\n\r"}
_WHITE_SPACE = b"\t\n\f\r "
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*")
_IS_BASE64 = re.compile(r"(.*); *base64", re.DOTALL | re.IGNORECASE | re.ASCII)


def source_of(text: str, steps: Path) -> ImageSource:
    """What a text refers to: a `data` URL, another URL, or the path of a file. R116 for a URL that says nothing.

    White space and control characters around a URL are no part of it; a path is taken as it stands.
    """
    url = text.strip(_AROUND_A_URL)
    if url[:5].lower() == "data:":
        return _of_data_url(url, steps)
    if url[:5].lower() == "file:":
        return _of_file_url(url, steps)
    if _SCHEME.match(url):
        return ImageAddress(steps, url)
    return file_of(text, steps)


def file_of(text: str, steps: Path) -> ImageFile:
    """The file of a path. R116 for what is no path."""
    if not text or "\0" in text:
        raise refuse("R116", "this is the path of no file", help="name a file", within=steps)
    return ImageFile(steps, text)


def bytes_of(text: str, media_type: str | None, steps: Path) -> ImageBytes:
    """The bytes that a text in base64 spells: R116 for another text, and for none.

    White space in it is passed over and the padding may be missing, as in "forgiving-base64 decode" of the Infra
    standard; the alphabet is that with + and / (RFC 4648, section 4).
    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        data = _forgiving(text.encode(), steps)
    return _some(data, media_type, steps)


def _of_data_url(url: str, steps: Path) -> ImageBytes:
    """The bytes of a `data` URL (RFC 2397), read as browsers do ("data: URL processor" of the Fetch standard)."""
    header, comma, body = url[len("data:") :].partition(",")
    if not comma:
        help = "write data:image/png;base64, and the bytes in base64 behind it"
        raise refuse("R116", "a data URL has a comma before its data", help=help, within=steps)
    header = header.translate(_NOT_IN_A_URL).strip(" \f")
    base64 = _IS_BASE64.fullmatch(header)
    media_type = (base64[1] if base64 else header).partition(";")[0].strip(" \f").lower() or None
    if base64 and "%" not in body and "#" not in body:
        return bytes_of(body, media_type, steps)
    data = unquote_to_bytes(body.partition("#")[0].translate(_NOT_IN_A_URL))
    return _some(_forgiving(data, steps) if base64 else data, media_type, steps)


def _forgiving(text: bytes, steps: Path) -> bytes:
    """The bytes that base64 spells, white space and the padding aside."""
    digits = text.translate(None, _WHITE_SPACE)
    if len(digits) % 4 == 0:
        digits = digits.removesuffix(b"=").removesuffix(b"=")
    if len(digits) % 4 == 1 or not _BASE64.fullmatch(digits):
        help = "write it in the alphabet with + and /, and whole"
        raise refuse("R116", "the image is not written in base64", help=help, within=steps)
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


def _some(data: bytes, media_type: str | None, steps: Path) -> ImageBytes:
    if not data:
        raise refuse("R116", "the image has no bytes", help="send the whole file", within=steps)
    return ImageBytes(steps, data, media_type)


def _of_file_url(text: str, steps: Path) -> ImageFile:
    """A `file` URL (RFC 8089) of this machine."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise refuse("R116", "this is no URL", help="write file:///path/to/it", within=steps) from None
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        help = "write file:///path/to/it"
        raise refuse("R116", "a URL of a file names one of this machine, and nothing else", help=help, within=steps)
    return file_of(unquote(parts.path), steps)
