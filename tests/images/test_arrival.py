"""What becomes of orientation, transparency, depth and colours, in each way in which an image can come in."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps
from PIL.PngImagePlugin import PngInfo

from katapi import MediaError
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.picture import WHITE, Size
from tests.images.pictures import ORIENTATION, Bytes, arrived, file_of, noise, oriented, pipeline, smooth

OPEN = Arrival(orientation="ignore", alpha=WHITE)
TURNED = Arrival(orientation="apply", alpha="drop")
STRICT = Arrival(orientation="reject", alpha="reject", depth="reject")
SOURCE = Image.fromarray(smooth(24, 40))


def code(data: bytes, way: Arrival) -> str:
    """The code with which a file is refused, the same from its header alone."""
    found = []
    for call in (pipeline(arrival=way).process_one, pipeline(arrival=way).measure):
        with pytest.raises(MediaError) as caught:
            call(data)
        found.append(caught.value.code)
    assert found[0] == found[1]
    return found[0]


def turned(pixels: Bytes, orientation: int) -> Bytes:
    """Pixels, turned as the table of Exif 3.0 has it: what is row 0 in the file, and what is its column 0."""
    row, column = {
        1: ("top", "left"),
        2: ("top", "right"),
        3: ("bottom", "right"),
        4: ("bottom", "left"),
        5: ("left", "top"),
        6: ("right", "top"),
        7: ("right", "bottom"),
        8: ("left", "bottom"),
    }[orientation]
    if row in ("left", "right"):
        pixels = pixels.transpose(1, 0, 2)
        row, column = column, row
    if row == "bottom":
        pixels = pixels[::-1]
    return pixels[:, ::-1] if column == "right" else pixels


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["PNG", "WEBP", "JPEG"])
def test_orientations(orientation: int, format: str) -> None:
    data = oriented(SOURCE, orientation, format)
    stored = arrived(data, OPEN)
    assert stored.shape == (24, 40, 3)
    assert np.array_equal(arrived(data, TURNED), turned(stored, orientation))
    assert pipeline(arrival=TURNED).measure(data).size == arrived(data, TURNED).shape[:2]
    if orientation == 1:
        assert np.array_equal(arrived(data, STRICT), stored)
    else:
        assert code(data, STRICT) == "M108"
    header, _ = pipeline(arrival=TURNED).source(data, media_type=None, orientation=False)
    assert (header.orientation, header.size) == (orientation, Size(24, 40))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_of_a_tiff_is_part_of_how_its_pixels_are_stored(orientation: int) -> None:
    data = file_of(SOURCE, "TIFF", tiffinfo={ORIENTATION: orientation})
    expected = turned(np.asarray(SOURCE), orientation)
    for way in (OPEN, TURNED):
        assert np.array_equal(arrived(data, way), expected)
        assert pipeline(arrival=way).measure(data).size == expected.shape[:2]
    if orientation > 1:
        assert code(data, STRICT) == "M108"


def test_an_orientation_that_is_none_is_not_applied() -> None:
    for value in (0, 9, 200):
        assert np.array_equal(arrived(oriented(SOURCE, value, "PNG"), TURNED), np.asarray(SOURCE))
        assert arrived(oriented(SOURCE, value, "PNG"), STRICT).shape == (24, 40, 3)


def test_the_orientation_of_a_png_can_stand_behind_its_pixels() -> None:
    data = oriented(SOURCE, 6, "PNG")
    start = data.index(b"eXIf") - 4
    length = 12 + int.from_bytes(data[start : start + 4], "big")
    chunk, rest = data[start : start + length], data[:start] + data[start + length :]
    end = rest.index(b"IEND") - 4
    moved = rest[:end] + chunk + rest[end:]
    assert np.array_equal(arrived(moved, TURNED), turned(np.asarray(SOURCE), 6))
    assert pipeline(arrival=TURNED).measure(moved).size == (40, 24)
    assert np.array_equal(arrived(rest, TURNED), np.asarray(SOURCE))


def test_the_orientation_can_stand_in_xmp() -> None:
    said = PngInfo()
    said.add_itxt("XML:com.adobe.xmp", '<x:xmpmeta><rdf:Description tiff:Orientation="3"/></x:xmpmeta>')
    data = file_of(SOURCE, "PNG", pnginfo=said)
    assert np.array_equal(arrived(data, TURNED), turned(np.asarray(SOURCE), 3))


def test_damaged_exif_data_count_only_where_an_orientation_is_asked_for() -> None:
    data = file_of(SOURCE, "PNG", exif=b"Exif\0\0XX*\0\x08\0\0\0")
    assert arrived(data, OPEN).shape == (24, 40, 3)
    assert code(data, TURNED) == "M107"


def composited(colours: Bytes, alpha: Bytes, background: tuple[int, int, int]) -> Bytes:
    """Colours over a background: uint8 [height, width, 3], to the nearest."""
    share = alpha[..., None].astype(np.float64) / 255
    return np.floor(colours * share + np.array(background) * (1 - share) + 0.5).astype(np.uint8)


@pytest.mark.parametrize("background", [WHITE, (0, 0, 0), (10, 130, 250)])
def test_alpha_over_a_background_is_the_sum_by_shares(background: tuple[int, int, int]) -> None:
    pixels = noise(30, 50, 4)
    way = Arrival(orientation="ignore", alpha=background)
    expected = composited(pixels[..., :3], pixels[..., 3], background)
    assert np.abs(arrived(file_of(Image.fromarray(pixels)), way).astype(int) - expected.astype(int)).max() <= 1
    grey = noise(30, 50, 2)
    found = arrived(file_of(Image.fromarray(grey, "LA")), way)
    expected = composited(grey[..., :1].repeat(3, axis=2), grey[..., 1], background)
    assert np.abs(found.astype(int) - expected.astype(int)).max() <= 1


def test_alpha_that_is_dropped_shows_the_colours_that_it_hides() -> None:
    pixels = noise(30, 50, 4)
    pixels[:, :25, 3] = 0
    for file in (file_of(Image.fromarray(pixels)), file_of(Image.fromarray(pixels), "WEBP", lossless=True, exact=True)):
        assert np.array_equal(arrived(file, TURNED), pixels[..., :3])
        assert code(file, STRICT) == "M108"


def test_a_palette_with_shares_is_transparency_as_any_other() -> None:
    image = SOURCE.quantize(16)
    data = file_of(image, "PNG", transparency=bytes(range(0, 256, 16)))
    colours = np.asarray(image.convert("RGB"))
    shares = (np.asarray(image) * 16).astype(np.uint8)
    assert np.abs(arrived(data, OPEN).astype(int) - composited(colours, shares, WHITE).astype(int)).max() <= 1
    for key in (None, WHITE, "reject"):
        way = Arrival(orientation="apply", alpha="drop", key=key)
        assert np.array_equal(arrived(data, way), colours)
    assert code(data, STRICT) == "M108"


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "GIF"])
def test_one_transparent_colour(mode: str) -> None:
    pixels = smooth(24, 40) // 64 * 64
    image = Image.fromarray(pixels).convert("L" if mode == "L" else "RGB")
    format = "GIF" if mode == "GIF" else "PNG"
    if mode in ("P", "GIF"):
        image = image.quantize(16)
    key = image.getpixel((0, 0))
    data = file_of(image, format, transparency=key)
    colours = np.asarray(image.convert("RGB"))
    is_key = (colours == colours[0, 0]).all(axis=2)
    assert is_key.any()
    assert not is_key.all()
    white = np.where(is_key[..., None], 255, colours).astype(np.uint8)
    assert np.array_equal(arrived(data, OPEN), white)
    assert np.array_equal(arrived(data, TURNED), colours)
    both = Arrival(orientation="apply", alpha="drop", key=WHITE)
    assert np.array_equal(arrived(data, both), white)
    assert code(data, Arrival(orientation="apply", alpha="drop", key="reject")) == "M108"
    assert code(data, STRICT) == "M108"


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_a_transparent_colour_of_what_is_rgb_already_can_be_passed_by(mode: str) -> None:
    image = Image.fromarray(smooth(24, 40) // 64 * 64).convert(mode)
    data = file_of(image, "PNG", transparency=image.getpixel((0, 0)))
    passed_by = Arrival(orientation="ignore", alpha=WHITE, rgb_key="drop")
    expected = arrived(data, Arrival(orientation="ignore", alpha="drop" if mode == "RGB" else WHITE))
    assert np.array_equal(arrived(data, passed_by), expected)
    assert not np.array_equal(arrived(data, Arrival(orientation="ignore", alpha=(1, 2, 3))), expected)
    refusing = Arrival(orientation="ignore", alpha=WHITE, rgb_key="reject")
    if mode == "RGB":
        assert code(data, refusing) == "M108"
    else:
        assert np.array_equal(arrived(data, refusing), expected)


def test_a_transparent_colour_is_one_of_rgb_where_alpha_is_dropped_and_an_index_where_it_is_not() -> None:
    image = Image.new("P", (4, 1))
    image.putpalette([9, 9, 9, 9, 9, 9, 50, 60, 70])  # two indices of one colour
    image.putdata([0, 1, 2, 2])
    data = file_of(image, "PNG", transparency=0)
    assert arrived(data, OPEN)[0, :, 0].tolist() == [255, 9, 50, 50]
    assert arrived(data, Arrival(orientation="ignore", alpha="drop", key=WHITE))[0, :, 0].tolist() == [255, 255, 50, 50]


def test_modes_without_transparency() -> None:
    grey = noise(10, 10, 1)[..., 0]
    assert np.array_equal(arrived(file_of(Image.fromarray(grey)), STRICT), grey[..., None].repeat(3, axis=2))
    bits = Image.fromarray(grey > 100)
    assert np.array_equal(arrived(file_of(bits), STRICT)[..., 1], (grey > 100) * 255)
    inks = Image.fromarray(noise(10, 10, 4), "CMYK")
    light = 1 - np.asarray(inks) / 255
    assert np.abs(arrived(file_of(inks, "TIFF"), STRICT) - 255 * light[..., :3] * light[..., 3:]).max() <= 1


def test_a_mode_that_pillow_does_not_convert(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(image: Image.Image, mode: str) -> Image.Image:
        raise ValueError(f"no conversion to {mode}")

    data = file_of(Image.new("LAB", (8, 8)), "TIFF")
    monkeypatch.setattr(Image.Image, "convert", refuse)
    with pytest.raises(MediaError, match=r"mode LAB cannot be converted to RGB \(no conversion to RGB\)") as caught:
        arrived(data, OPEN)
    assert caught.value.code == "M108"


DEEP = np.array([[0, 1, 128, 254, 255, 256, 300, 32767, 32768, 65535]], np.uint16).repeat(2, axis=0)


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_grey_of_16_bits(format: str) -> None:
    data = file_of(Image.fromarray(DEEP), format)
    assert np.array_equal(arrived(data, OPEN)[..., 0], np.minimum(DEEP, 255))
    scaled = arrived(data, Arrival(orientation="ignore", alpha=WHITE, depth="scale"))[..., 2]
    assert np.array_equal(scaled, np.round(DEEP / 257))
    assert code(data, STRICT) == "M108"


def test_grey_of_32_bits_and_floats() -> None:
    floats = np.array([[-1.0, 0.0, 0.5, 0.999, 1.0, 100.7, 254.999, 255.0, 1e30, np.nan, np.inf, -np.inf]], np.float32)
    data = file_of(Image.fromarray(floats.repeat(2, axis=0)), "TIFF")
    assert arrived(data, OPEN)[0, :, 0].tolist() == [0, 0, 0, 0, 1, 100, 254, 255, 255, 0, 255, 0]
    whole = np.array([[-5, 0, 7, 255, 256, 70_000]], np.int32)
    assert arrived(file_of(Image.fromarray(whole), "TIFF"), OPEN)[0, :, 1].tolist() == [0, 0, 7, 255, 255, 255]
    for image in (floats, whole):
        way = Arrival(orientation="ignore", alpha=WHITE, depth="scale")
        assert code(file_of(Image.fromarray(image.repeat(2, axis=0)), "TIFF"), way) == "M108"


def test_a_transparent_value_of_16_bits() -> None:
    data = file_of(Image.fromarray(DEEP), "PNG", transparency=128)
    assert arrived(data, OPEN)[0, :, 0].tolist() == [0, 1, 255, 254, 255, 255, 255, 255, 255, 255]
    black = arrived(data, Arrival(orientation="ignore", alpha=(0, 0, 0)))
    assert black[0, :, 0].tolist() == [0, 1, 0, 254, 255, 255, 255, 255, 255, 255]
    assert code(data, Arrival(orientation="ignore", alpha="drop", depth="scale")) == "M108"


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
LAB = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
CONVERT = Arrival(orientation="ignore", alpha=WHITE, icc="convert")


def test_a_profile_is_converted_where_it_is_declared() -> None:
    plain = np.asarray(SOURCE)
    same = file_of(SOURCE, "PNG", icc_profile=SRGB)
    assert np.array_equal(arrived(same, OPEN), plain)
    assert np.abs(arrived(same, CONVERT).astype(int) - plain).max() <= 2
    assert np.array_equal(arrived(file_of(SOURCE, "PNG"), CONVERT), plain)
    inks = file_of(Image.fromarray(noise(10, 10, 4), "CMYK"), "JPEG", icc_profile=SRGB)  # a profile of other colours
    assert arrived(inks, OPEN).shape == (10, 10, 3)
    with pytest.raises(MediaError, match="colour profile") as caught:
        arrived(inks, CONVERT)
    assert caught.value.code == "M107"
    for broken in (b"", b"none", LAB):
        if broken:
            with pytest.raises(MediaError, match="colour profile"):
                arrived(file_of(SOURCE, "PNG", icc_profile=broken), CONVERT)


def test_a_profile_counts_for_colours_and_not_for_alpha() -> None:
    swapped = _profile_with_swapped_primaries()
    pixels = noise(20, 20, 4)
    pixels[..., 3] = 255
    plain = arrived(file_of(Image.fromarray(pixels[..., :3]), icc_profile=swapped), CONVERT)
    assert not np.array_equal(plain, pixels[..., :3])
    assert np.array_equal(arrived(file_of(Image.fromarray(pixels), icc_profile=swapped), CONVERT), plain)
    pixels[..., 3] = 0
    assert (arrived(file_of(Image.fromarray(pixels), icc_profile=swapped), CONVERT) == 255).all()
    dropped = Arrival(orientation="ignore", alpha="drop", icc="convert")
    assert np.array_equal(arrived(file_of(Image.fromarray(pixels), icc_profile=swapped), dropped), plain)


def _profile_with_swapped_primaries() -> bytes:
    """sRGB with the tags of its red and its blue primary exchanged."""
    profile = SRGB.replace(b"rXYZ", b"xxxx").replace(b"bXYZ", b"rXYZ").replace(b"xxxx", b"bXYZ")
    assert profile != SRGB
    return profile


def test_a_way_is_as_transformers_has_it() -> None:
    """Its `load_image`, and what its processors then do, which the vectors show for one image of each mode."""
    for mode in ("RGB", "RGBA", "L", "LA", "P", "1", "CMYK"):
        image = SOURCE.convert(mode)
        data = oriented(image, 5, "TIFF" if mode == "CMYK" else "PNG")
        with Image.open(BytesIO(data)) as opened:
            expected = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
        assert np.array_equal(arrived(data, Arrival(orientation="apply", alpha="drop", key=WHITE)), expected)
