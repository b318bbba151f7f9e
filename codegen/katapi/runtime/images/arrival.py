"""The ways in which an image can come in: what becomes of its orientation, its transparency, its depth and its colours.

All of them end in 8-bit RGB. A processor that is handed an open image, and one that loads a file by itself, differ in
exactly this, so that a declaration names each way.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.decoding import Header
from katapi.runtime.images.picture import Colour, Size

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from katapi.runtime.json_types import Json, JsonObject

Alpha: TypeAlias = Literal["drop", "reject"] | Colour
"""What becomes of transparency: its pixels show the colours that they hide (`drop`), the image is refused, or it is put
on a background of one colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One way in which an image comes in."""

    orientation: Literal["ignore", "apply", "reject"]
    """What becomes of an orientation other than 1: nothing, the image is turned by it, or refused. In a TIFF it is part
    of how pixels are stored, and the decoder turns the image in any case."""
    alpha: Alpha
    """What becomes of transparency."""
    key: Alpha | None = None
    """What becomes of one transparent colour (`tRNS` of a PNG, an index of a GIF) where it is not the same.
    With `alpha="drop"` it is the colour of every pixel that has it in RGB: `load_image` of transformers drops an alpha
    channel, but Pillow remembers a colour, and the processor then puts it on white."""
    rgb_key: Alpha | None = None
    """What becomes of one transparent colour of a PNG that is RGB as it is stored, where it is not the same: a
    processor that only converts what is no RGB yet passes it by."""
    icc: Literal["ignore", "convert"] = "ignore"
    """What becomes of an embedded colour profile: nothing, or colours are converted to sRGB (perceptual intent)."""
    depth: Literal["clip", "scale", "reject"] = "clip"
    """What becomes of grey of more than 8 bits: values above 255 become 255 and fractions are cut off, as Pillow has
    it; 16 bits are scaled to 8, to the nearest; or the image is refused. Of colours of 16 bits the decoder takes the
    upper 8 in any case."""

    def to_json(self) -> JsonObject:
        """The way as plain JSON."""
        key = self.alpha if self.key is None else self.key
        return {
            "orientation": self.orientation,
            "alpha": _alpha_as_json(self.alpha),
            "key": _alpha_as_json(key),
            "rgb_key": _alpha_as_json(key if self.rgb_key is None else self.rgb_key),
            "icc": self.icc,
            "depth": self.depth,
        }


def _alpha_as_json(alpha: Alpha) -> Json:
    return alpha if isinstance(alpha, str) else {"over": list(alpha)}


def size_on_arrival(image: Image, header: Header, way: Arrival) -> Size:
    """The size that the image will have, from its header alone: it need not be decoded.

    Raises `MediaError` M108 for an orientation, a transparency or a depth that this way refuses.
    """
    if way.orientation == "reject" and header.orientation > 1:
        raise MediaError(
            f"the image has the orientation {header.orientation}", code="M108", help="turn it, and leave out the tag"
        )
    if _is_deep(image):
        _check_depth(image, way)
    if not _is_opaque(image) and _alpha(image, way) == "reject":
        raise MediaError("the image has transparency", code="M108", help="put it on a background first")
    if way.orientation == "apply" and header.format.name != "tiff" and header.orientation >= 5:
        return Size(header.size.width, header.size.height)
    return header.size


def arrive(image: Image, header: Header, way: Arrival) -> Image:
    """The decoded image in 8-bit RGB; `size_on_arrival` has let it in.

    Raises `MediaError` M108 for pixels that cannot be converted, M107 for a colour profile that is damaged, and M100
    where Pillow was built without colour profiles.
    """
    if way.orientation == "apply" and header.format.name != "tiff" and header.orientation > 1:
        image = _turned(image, header.orientation)
    try:
        if _is_deep(image) and _is_opaque(image):
            image = _shallow(image, way)
        return _in_srgb(image, way) if _is_opaque(image) else _without_alpha(image, way)
    except (ValueError, OSError) as error:
        raise MediaError(
            f"pixels of the mode {image.mode} cannot be converted to RGB ({error})", code="M108", help=_CONVERT
        ) from None


_GREY = ("1", "L", "LA")
"""Modes without colours: a profile of these is one of grey."""
_CONVERT = "convert the image to 8-bit RGB"


def _turned(image: Image, orientation: int) -> Image:
    from PIL.Image import Transpose  # Pillow is an extra

    methods = (
        Transpose.FLIP_LEFT_RIGHT,
        Transpose.ROTATE_180,
        Transpose.FLIP_TOP_BOTTOM,
        Transpose.TRANSPOSE,
        Transpose.ROTATE_270,
        Transpose.TRANSVERSE,
        Transpose.ROTATE_90,
    )
    return image.transpose(methods[orientation - 2])


def _is_opaque(image: Image) -> bool:
    has_alpha = "A" in image.getbands() and image.mode != "LAB"
    return not has_alpha and image.info.get("transparency") is None


def _is_deep(image: Image) -> bool:
    """Whether it is grey of more than 8 bits: whole numbers of 16 or 32 bits, or floats."""
    return image.mode == "F" or image.mode.startswith("I")


def _check_depth(image: Image, way: Arrival) -> None:
    if way.depth == "reject":
        raise MediaError(f"the image has more than 8 bits (mode {image.mode})", code="M108", help=_CONVERT)
    if way.depth == "scale" and not _is_opaque(image):
        raise MediaError("one of the values of 16 bits is transparent", code="M108", help=_CONVERT)
    if way.depth == "scale" and not image.mode.startswith("I;16"):
        raise MediaError(
            f"only 16 bits are scaled to 8, and the image has the mode {image.mode}", code="M108", help=_CONVERT
        )


def _alpha(image: Image, way: Arrival) -> Alpha:
    """What becomes of the transparency that an image has."""
    if isinstance(image.info.get("transparency", b""), bytes):
        return way.alpha
    if image.mode == "RGB" and way.rgb_key is not None:
        return way.rgb_key
    return way.alpha if way.key is None else way.key


def _without_alpha(image: Image, way: Arrival) -> Image:
    outcome = _alpha(image, way)
    if isinstance(outcome, str):
        image.info.pop("transparency", None)  # Pillow would work out which colour that is in RGB
        return _in_srgb(image, way)
    import PIL.Image  # Pillow is an extra

    colours = "L" if image.mode in _GREY else "RGB"
    if way.alpha == "drop":
        image = image.convert("RGB")
    image = image.convert("RGBA")
    if way.icc == "convert":
        alpha = image.getchannel("A")
        image = _in_srgb(image.convert(colours), way)
        image.putalpha(alpha)
    background = PIL.Image.new("RGBA", image.size, (*outcome, 255))
    return PIL.Image.alpha_composite(background, image).convert("RGB")


def _in_srgb(image: Image, way: Arrival) -> Image:
    """An opaque image in RGB, its colours converted where the way says so and the image has a profile."""
    profile = image.info.get("icc_profile") if way.icc == "convert" else None
    if not profile:
        return image if image.mode == "RGB" else image.convert("RGB")
    try:
        from PIL import ImageCms  # built with LittleCMS or not
    except ImportError:
        raise MediaError("this Pillow cannot convert colour profiles", code="M100", help=_CONVERT) from None
    if image.mode not in ("L", "RGB", "CMYK"):
        image = image.convert("L" if image.mode in _GREY else "RGB")
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        turned = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError) as error:
        raise MediaError(
            f"the colour profile of the image cannot be used ({error})", code="M107", help="convert it to sRGB first"
        ) from None
    return image if turned is None else turned


def _shallow(image: Image, way: Arrival) -> Image:
    """Grey of more than 8 bits in 8 bits. Where one of its values is transparent, it is left to Pillow, which clips."""
    import PIL.Image  # Pillow is an extra

    pixels = np.asarray(image)
    shallow = PIL.Image.fromarray(_clipped(pixels) if way.depth == "clip" else _scaled(pixels))
    shallow.info = dict(image.info)
    return shallow


def _clipped(pixels: NDArray[np.generic]) -> NDArray[np.uint8]:
    with np.errstate(invalid="ignore"):  # what is no number is 0, as everything that is not above 0
        whole = np.nan_to_num(pixels.astype(np.float64), nan=0.0) if pixels.dtype.kind == "f" else pixels
        return whole.clip(0, 255).astype(np.uint8)


def _scaled(pixels: NDArray[np.generic]) -> NDArray[np.uint8]:
    """From 0 to 65535 to 0 to 255, to the nearest."""
    return ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
