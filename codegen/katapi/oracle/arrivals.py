"""How a file becomes 8-bit RGB, worked out pixel by pixel from what Pillow decodes."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from katapi.model.images import Image
from katapi.oracle.rasters import Pixels
from katapi.runtime.errors import MediaError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image as PictureOfPillow

_WHOLE = 255


def arrived(image: Image, way: str, data: bytes) -> Pixels:
    """The pixels of a sound file of one frame, uint8 [height, width, 3], as they arrive in a way of the declaration.

    It knows nothing of a way that refuses, and of deep grey with transparency. Raises `MediaError` M107 for a colour
    profile that does not fit, and M108 for grey that cannot be scaled.
    """
    import PIL.Image  # Pillow is an extra

    arrival = image.ways[way]
    with PIL.Image.open(BytesIO(data)) as file:
        file.load()
        turn = file.getexif().get(0x0112, 1) if arrival.orientation == "apply" else 1
        transparency = file.info.get("transparency")
        mode, bands = file.mode, file.getbands()
        profile = file.info.get("icc_profile") if arrival.icc == "convert" else None
        palette = np.array(file.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
        values = np.array(file)
        rgb = np.array(file.convert("RGB")) if mode in ("CMYK", "YCbCr") else None
        inks = file.copy() if mode == "CMYK" else None
    if mode in ("1", "L", "LA"):
        grey = values.astype(np.uint8) * (_WHOLE if mode == "1" else 1)
        rgb = np.stack([grey[..., 0] if mode == "LA" else grey] * 3, axis=-1)
    elif mode == "P":
        rgb = palette[values]
    elif mode in ("F", "I", "I;16"):
        rgb = np.stack([_of_8_bits(values, mode, arrival.depth)] * 3, axis=-1)
    elif mode in ("RGB", "RGBA"):
        rgb = values[..., :3]
    assert rgb is not None, f"pixels of the mode {mode}"
    if profile:
        channels = np.ascontiguousarray(rgb[..., 0] if mode[0] in "1LIF" else rgb)
        rgb = _in_srgb(inks or PIL.Image.fromarray(channels), profile)
    alpha, outcome = None, arrival.alpha
    if bands[-1] == "A":
        alpha = values[..., -1]
    elif isinstance(transparency, bytes):
        of_index = np.full(256, _WHOLE, np.uint8)
        of_index[: len(transparency)] = list(transparency)
        alpha = of_index[values]
    elif transparency is not None:
        alpha = np.where((np.atleast_3d(values) == transparency).all(axis=-1), 0, _WHOLE).astype(np.uint8)
        outcomes = (arrival.rgb_key if mode == "RGB" else None, arrival.key, arrival.alpha)
        outcome = next(one for one in outcomes if one is not None)
    if alpha is not None and not isinstance(outcome, str):
        share = alpha[..., None] / _WHOLE
        rgb = np.floor(rgb * share + np.array(outcome) * (1 - share) + 0.5).astype(np.uint8)
    return np.ascontiguousarray(_turned(rgb, turn))


def _of_8_bits(values: NDArray[np.generic], mode: str, depth: str) -> Pixels:
    """Deep grey as 8 bits: clipped, what is no number being 0, or scaled to the nearest."""
    if depth == "clip":
        positive = np.where(np.greater(values, 0), values, 0).astype(np.float64)
        return np.minimum(np.floor(positive), _WHOLE).astype(np.uint8)
    if mode != "I;16":
        raise MediaError("only 16 bits are scaled", code="M108")
    return np.floor(values.astype(np.float64) / 257 + 0.5).astype(np.uint8)


def _in_srgb(picture: PictureOfPillow, profile: bytes) -> Pixels:
    """Colours in sRGB, as LittleCMS converts them with perceptual intent."""
    from PIL import ImageCms  # Pillow is an extra

    try:
        source, goal = ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB")
        transform = ImageCms.buildTransform(source, goal, picture.mode, "RGB", ImageCms.Intent.PERCEPTUAL)
    except ImageCms.PyCMSError:
        raise MediaError("the colour profile is not one of these pixels", code="M107") from None
    converted = ImageCms.applyTransform(picture, transform)
    assert converted is not None, "it is not converted in place"
    return np.array(converted)


def _turned(pixels: Pixels, orientation: int) -> Pixels:
    """The pixels as they are to be seen, by the orientation of Exif."""
    match orientation:
        case 2:
            return pixels[:, ::-1]
        case 3:
            return pixels[::-1, ::-1]
        case 4:
            return pixels[::-1]
        case 5:
            return pixels.swapaxes(0, 1)
        case 6:
            return pixels[::-1].swapaxes(0, 1)
        case 7:
            return pixels[::-1, ::-1].swapaxes(0, 1)
        case 8:
            return pixels.swapaxes(0, 1)[::-1]
        case _:
            return pixels
