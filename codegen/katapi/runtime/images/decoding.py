"""Reads the file of an image: its header, with all limits, and only then its pixels.

Nothing of Pillow's own state is changed, and the check for decompression bombs that it makes when it opens a file is
passed by: the declared limits hold instead. Its readers of WebP, GIF and TIFF make the check too, so that these are
held to both limits; to that of a warning only where the caller has made warnings errors. A JPEG is never decoded at a
reduced scale, since its pixels would not be those that a resize gives.
"""

from __future__ import annotations

import struct
import zlib
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.media import (
    FORMATS,
    Format,
    bmp_runs,
    format_of,
    gif_frames,
    jpeg_pieces,
    looks_like,
    media_type_as_registered,
    png_chunks,
    webp_size,
)
from katapi.runtime.images.picture import Size, check_pixels

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

    from katapi.runtime.json_types import JsonObject

_BROKEN = (
    AssertionError,
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    Warning,
    ZeroDivisionError,
    struct.error,
    zlib.error,
)
"""What Pillow's readers raise for files that are not as they should be; each reader has its own."""

_RUNS = 1 << 22
"""How many runs of a BMP are read, which Pillow does in Python."""

_PIECES = 1 << 16
"""So many chunks of a PNG, segments of a JPEG and blocks of a GIF are read however short they are. Pillow needs about
as long for an empty one as for many pixels, so that more of them must be about as long as encoders write them."""

_SCANS, _SCANS_OF_MOST_PIXELS = 100, 16
"""How many scans of a JPEG are decoded: of any image, and of one that has as many pixels as may be. Each takes about as
long as all pixels take in one scan, and encoders write a dozen."""

_ORIENTATION = 0x0112
"""The tag of Exif for how a camera was held (Exif 3.0, section 4.6.5.1.7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is refused from the header, before pixels are decoded. None is no limit."""

    bytes: int = 64 * 2**20
    """The length of a file."""
    pixels: int = 178_956_970
    """Height times width; every picture of the pipeline is held to it too."""
    frames: int | None = None
    """The frames of an animation, or the pages of a TIFF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which files a pipeline reads."""

    accept: tuple[str, ...] = tuple(FORMATS)
    """The names of formats, by what the file holds."""
    limits: Limits = Limits()
    """What is refused from the header."""
    frames: Literal["first", "reject"] = "first"
    """What is done with an animation, or several pages: the first frame is taken, or the file is refused."""
    media_type: Literal["reject", "ignore"] = "reject"
    """What is done where a caller says a media type and the file has another."""

    def to_json(self) -> JsonObject:
        """What is read and refused, as plain JSON. A file that is damaged is always refused."""
        limits = {"bytes": self.limits.bytes, "pixels": self.limits.pixels, "frames": self.limits.frames}
        return {
            "accept": list(self.accept),
            "limits": {**limits},
            "frames": self.frames,
            "media_type": self.media_type,
            "damaged": "reject",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the header of a file says."""

    format: Format
    """What the bytes are."""
    size: Size
    """In the order of the pixels in the file, before an orientation is applied (in a TIFF: after)."""
    mode: str
    """Pillow's name for how pixels are stored: `RGB`, `P`, `I;16`."""
    animated: bool
    """Whether there is more than one frame or page."""
    orientation: int
    """1 to 8, as Exif has it; 1 where the file does not say or says anything else. 0 where nobody needed to know."""


def read_header(
    data: bytes, reading: Reading, *, media_type: str | None, orientation: bool
) -> tuple[Header, ImageFile]:
    """The header of a file, and the file as Pillow opened it, its pixels not decoded.

    `orientation` says whether that of the header is needed. Raises `MediaError` M100 without Pillow, M101 for no bytes,
    M102 for too many, M103 for a format that is not accepted, M104 for a media type that lies, M105 for no pixels or
    too many, M106 for frames, and M107 for a file that is damaged.
    """
    format = _format(data, reading, media_type)
    if format.name == "webp" and (canvas := webp_size(data)) is not None:
        check_pixels(Size(canvas[1], canvas[0]), reading.limits.pixels, "the image")
    frames = _pieces(data, format, reading)
    image = _opened(data, format)
    size = Size(image.height, image.width)
    check_pixels(size, reading.limits.pixels, "the image")
    if format.name == "jpeg":
        most = min(_SCANS, _SCANS_OF_MOST_PIXELS * reading.limits.pixels // (size.height * size.width))
        if data.count(b"\xff\xda") > most:
            raise _too_fine(f"{most} scans")
    animated = _check_frames(frames or _frames(image, data, _enough(reading)), reading)
    turned = _orientation(image, data) if orientation else 0
    return Header(format=format, size=size, mode=image.mode, animated=animated, orientation=turned), image


def too_long(length: int, most: int, where: str = "") -> MediaError:
    """`MediaError` M102 for a file of more bytes than the limit."""
    message = f"the image has {length} bytes, and the limit is {most}"
    return MediaError(message, code="M102", where=where, help="send a smaller image")


def load(image: ImageFile) -> None:
    """Decodes the pixels.

    Raises `MediaError` M107 where the file is cut off or damaged, and M105 where it has more pixels than Pillow allows.
    """
    from PIL import Image  # Pillow is an extra

    try:
        image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels(error) from None
    except _BROKEN as error:
        raise _damaged("its pixels cannot be decoded", error) from None


def _format(data: bytes, reading: Reading, media_type: str | None) -> Format:
    if not data:
        raise MediaError("the image has no bytes", code="M101", help="send the whole file")
    if len(data) > reading.limits.bytes:
        raise too_long(len(data), reading.limits.bytes)
    accepted = ", ".join(reading.accept)
    found = format_of(data)
    if found is None:
        raise MediaError(
            f"the bytes are {looks_like(data)}, and accepted are: {accepted}", code="M103", help="convert the image"
        )
    if found.name not in reading.accept:
        raise MediaError(f"the image is {found.name}, and accepted are: {accepted}", code="M103", help="convert it")
    if media_type is not None and reading.media_type == "reject":
        told = media_type_as_registered(media_type)
        if told != found.media_type:
            raise MediaError(
                f"the media type is {media_type!r}, and the bytes are {found.media_type}",
                code="M104",
                help="say the media type that the file has, or none",
            )
    return found


def _pieces(data: bytes, format: Format, reading: Reading) -> int | None:
    """Refuses a file that is cut so finely that reading it takes long. Gives the frames of a GIF, None of others."""
    most = max(_PIECES, len(data) // (128 if format.name == "gif" else 4096))
    frames = None
    match format.name:
        case "gif":
            frames = gif_frames(data, _enough(reading), most)
            too_many = frames is None
        case "png":
            too_many = png_chunks(data, most + 1) > most
        case "jpeg":
            too_many = jpeg_pieces(data, most + 1) > most
        case "bmp":
            most = _RUNS
            too_many = bmp_runs(data) > most
        case _:
            too_many = False
    if too_many:
        raise _too_fine(f"{most} pieces")
    return frames


def _opened(data: bytes, format: Format) -> ImageFile:
    """The file as Pillow's reader of this format opens it, which reads the header alone."""
    try:
        from PIL import Image  # Pillow is an extra
    except ImportError:
        raise MediaError(
            "images are decoded by Pillow, which is not installed", code="M100", help='pip install "katapi[images]"'
        ) from None
    import_module(f"PIL.{format.plugin}")
    reader, accepts = Image.OPEN[format.pillow]
    reason = accepts(data[:16]) if accepts else True
    if isinstance(reason, str):  # what a reader says that was built without its library
        raise MediaError(
            f"this Pillow cannot read {format.name} ({reason})", code="M100", help="install a Pillow that can"
        )
    try:
        return reader(BytesIO(data), "")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels(error) from None
    except _BROKEN as error:
        raise _damaged("its header cannot be read", error) from None


def _enough(reading: Reading) -> int:
    """Up to how many frames are counted: more make no difference."""
    return 2 if reading.limits.frames is None else max(reading.limits.frames + 1, 2)


def _check_frames(frames: int, reading: Reading) -> bool:
    most = reading.limits.frames
    if frames > 1 and reading.frames == "reject":
        raise MediaError(
            "the image has more than one frame or page", code="M106", help="send the frame that is meant, alone"
        )
    if most is not None and frames > most:
        raise MediaError(f"the image has more than {most} frames", code="M106", help="send fewer frames")
    return frames > 1


def _frames(image: ImageFile, data: bytes, enough: int) -> int:
    """How many frames there are of what is no GIF, counted no further than `enough`.

    Where counting fails, those before are all.
    """
    if image.format != "TIFF":
        return int(getattr(image, "n_frames", 1))
    frames = 1
    pages = type(image)(BytesIO(data))  # another reading, so that the first page stays as it is
    try:
        while frames < enough:
            pages.seek(frames)
            frames += 1
    except _BROKEN:
        pass
    return frames


def _orientation(image: ImageFile, data: bytes) -> int:
    if image.format == "PNG" and "exif" not in image.info and not any(mark in data for mark in _EXIF_IN_PNG):
        return 1  # Pillow would decode the pixels to look behind them
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except _BROKEN as error:
        raise _damaged("its Exif data cannot be read", error) from None
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


_EXIF_IN_PNG = (b"eXIf", b"XML:com.adobe.xmp", b"Raw profile type")
"""The chunks and keywords under which a PNG can say an orientation, before its pixels or behind them."""


def _too_many_pixels(error: Exception) -> MediaError:
    return MediaError(f"Pillow refuses the image: {error}", code="M105", help="send a smaller image")


def _too_fine(most: str) -> MediaError:
    return MediaError(f"the image is damaged: it is cut into more than {most}", code="M107", help="encode it anew")


def _damaged(what: str, error: BaseException) -> MediaError:
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return MediaError(
        f"the image is damaged: {what} ({reason})", code="M107", help="send the whole file, as it was made"
    )
