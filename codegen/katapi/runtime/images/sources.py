"""Where the bytes of an image come from, read off what a part of a request says."""

from __future__ import annotations

import binascii
import re
from dataclasses import field
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

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
_ONE_LINE = "write it in one line, in the alphabet with + and /, and with its padding"


def source_of(text: str, steps: Path) -> ImageSource:
    """What a text refers to: a `data` URL, another URL, or the path of a file. R116 for a URL that says nothing."""
    if text[:5].lower() == "data:":
        return _of_data_url(text, steps)
    if text[:5].lower() == "file:":
        return _of_file_url(text, steps)
    if _SCHEME.match(text):
        return ImageAddress(steps, text)
    return file_of(text, steps)


def file_of(text: str, steps: Path) -> ImageFile:
    """The file of a path. R116 for what is no path."""
    if not text or "\0" in text:
        raise refuse("R116", "this is the path of no file", help="name a file", within=steps)
    return ImageFile(steps, text)


def bytes_of(text: str, media_type: str | None, steps: Path) -> ImageBytes:
    """The bytes that a text in base64 spells (RFC 4648, section 4). R116 for another text, and for none."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise refuse("R116", "the image is not written in base64", help=_ONE_LINE, within=steps) from None
    if not data:
        raise refuse("R116", "the image has no bytes", help="send the whole file", within=steps)
    return ImageBytes(steps, data, media_type)


def _of_data_url(text: str, steps: Path) -> ImageBytes:
    """A `data` URL (RFC 2397) whose data are written in base64."""
    comma = text.find(",")
    media_type, *parameters = (part.strip().lower() for part in text[len("data:") : max(comma, 0)].split(";"))
    if comma < 0 or parameters[-1:] != ["base64"]:
        help = "write data:image/png;base64, and the bytes in base64 behind it"
        raise refuse("R116", "a data URL of an image holds it in base64", help=help, within=steps)
    return bytes_of(text[comma + 1 :], media_type or None, steps)


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
