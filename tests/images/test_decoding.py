"""Files that are refused, each before its pixels are decoded where that can be known, and Pillow's state left alone."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from katapi import MediaError
from katapi.runtime.images.decoding import Limits, Reading
from katapi.runtime.images.media import FORMATS, gif_frames, webp_size
from tests.images.pictures import file_of, noise, pipeline, png, smooth

RGB = Image.fromarray(smooth(12, 20))
FILES = {
    "jpeg": file_of(RGB, "JPEG"),
    "png": file_of(RGB, "PNG"),
    "webp": file_of(RGB, "WEBP", lossless=True),
    "gif": file_of(RGB, "GIF"),
    "bmp": file_of(RGB, "BMP"),
    "tiff": file_of(RGB, "TIFF"),
}
FRAMES = [Image.fromarray(pixels) for pixels in (noise(12, 20), smooth(12, 20), 255 - smooth(12, 20))]
ANIMATIONS = {
    "gif": file_of(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:], disposal=2),
    "webp": file_of(FRAMES[0], "WEBP", save_all=True, append_images=FRAMES[1:], lossless=True),
    "png": file_of(FRAMES[0], "PNG", save_all=True, append_images=FRAMES[1:], default_image=False),
    "tiff": file_of(FRAMES[0], "TIFF", save_all=True, append_images=FRAMES[1:]),
}


def code(data: bytes, reading: Reading | None = None, media_type: str | None = None) -> str:
    """The code with which a file is refused, the same from its header alone; `ok` where it is not."""
    halving = pipeline(reading=reading)
    found = []
    for call in (halving.process_one, halving.measure):
        try:
            call(data, media_type=media_type)
            found.append("ok")
        except MediaError as error:
            found.append(error.code)
    assert found[0] == found[1] or found == ["M107", "ok"]
    return found[0]


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_told_by_the_bytes(name: str) -> None:
    header, _ = pipeline().source(FILES[name], media_type=None, orientation=False)
    assert (header.format.name, header.size, header.animated) == (name, (12, 20), False)
    assert code(FILES[name], media_type=FORMATS[name].media_type) == "ok"
    assert code(FILES[name], Reading(accept=(name,))) == "ok"
    assert code(FILES[name], Reading(accept=tuple(FORMATS.keys() - {name}))) == "M103"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"hello", "no image"),
        (b"\0\0\0\x20ftypavif....", "AVIF"),
        (b"\0\0\0\x20ftypheic....", "HEIF"),
        (b"\0\0\0\x20ftypisom....", "a video"),
        (b"%PDF-1.7", "a PDF"),
        (b' <svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG"),
        (b"RIFF\0\0\0\0WAVE", "no image"),
    ],
)
def test_what_is_no_image_that_can_be_decoded_is_called_by_what_it_looks_like(data: bytes, says: str) -> None:
    with pytest.raises(MediaError, match=says) as caught:
        pipeline().process(data)
    assert caught.value.code == "M103"


def test_no_bytes_and_too_many_bytes() -> None:
    assert code(b"") == "M101"
    length = len(FILES["png"])
    assert code(FILES["png"], Reading(limits=Limits(bytes=length))) == "ok"
    assert code(FILES["png"], Reading(limits=Limits(bytes=length - 1))) == "M102"


def test_bytes_come_as_bytes() -> None:
    for same in (bytearray(FILES["png"]), memoryview(FILES["png"])):
        assert pipeline().process_one(bytes(same)).tokens == 60
    with pytest.raises(TypeError, match="not by a str"):
        pipeline().process("photo.png")  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("told", "name", "expected"),
    [
        ("image/png", "jpeg", "M104"),
        ("text/plain", "png", "M104"),
        ("image/jpg", "jpeg", "ok"),
        ("IMAGE/JPEG; charset=binary", "jpeg", "ok"),
        ("image/apng", "png", "ok"),
        ("image/x-ms-bmp", "bmp", "ok"),
    ],
)
def test_a_media_type_that_lies(told: str, name: str, expected: str) -> None:
    assert code(FILES[name], media_type=told) == expected
    assert code(FILES[name], Reading(media_type="ignore"), media_type=told) == "ok"


@pytest.mark.parametrize("name", FORMATS)
def test_pixels_are_counted_before_they_are_decoded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code(FILES[name], Reading(limits=Limits(pixels=240))) == "ok"
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda image: pytest.fail("decoded"))
    assert code(FILES[name], Reading(limits=Limits(pixels=239))) == "M105"


def _png_of_size(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def test_a_decompression_bomb_is_refused_by_the_declared_limit_and_not_by_pillows() -> None:
    bomb = _png_of_size(100_000, 100_000)
    assert code(bomb, Reading()) == "M105"
    with pytest.raises(Image.DecompressionBombError):
        Image.open(BytesIO(bomb))
    assert code(bomb, Reading(limits=Limits(pixels=10**11))) == "M107"  # it goes on to the pixels, which are not there


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (0, 0)])
def test_an_image_without_pixels(size: tuple[int, int]) -> None:
    assert code(_png_of_size(*size)) in ("M105", "M107")
    gif = bytearray(FILES["gif"])
    gif[6:10] = struct.pack("<HH", *size)
    assert code(bytes(gif)) in ("M105", "ok")  # the first frame of a GIF can make its screen larger


def test_a_picture_that_becomes_too_narrow_or_too_large_on_its_way() -> None:
    assert code(png(smooth(1, 500))) == "M105"  # half of one row is none
    with pytest.raises(MediaError, match="after the step 'resize' the image has no pixels: it is 0 × 250") as caught:
        pipeline().process(png(smooth(2, 2)), png(smooth(1, 500)))
    assert caught.value.where == "images[1]"


def test_the_canvas_of_a_webp_is_read_from_its_header() -> None:
    for options in ({"lossless": True}, {"quality": 80}, {"exif": b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"}):
        assert webp_size(file_of(Image.fromarray(smooth(33, 457)), "WEBP", **options)) == (457, 33)
    extended = bytearray(file_of(RGB, "WEBP", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"))
    assert extended[12:16] == b"VP8X"
    extended[24:30] = b"\xff\xff\xff\xff\xff\xff"  # 16 million pixels square
    assert code(bytes(extended), Reading()) == "M105"
    assert webp_size(FILES["webp"][:29]) is None


@pytest.mark.parametrize("name", ANIMATIONS)
def test_animations_and_pages(name: str) -> None:
    data = ANIMATIONS[name]
    assert code(data, Reading(frames="reject")) == "M106"
    assert code(FILES[name], Reading(frames="reject")) == "ok"
    assert code(data, Reading(limits=Limits(frames=2))) == "M106"
    assert code(data, Reading(limits=Limits(frames=3))) == "ok"
    header, first = pipeline().source(data, media_type=None, orientation=False)
    assert header.animated
    expected = FRAMES[0] if name != "gif" else Image.open(BytesIO(file_of(FRAMES[0], "GIF"))).convert("RGB")
    assert np.array_equal(first.pixels, np.asarray(expected))


@given(frames=st.integers(1, 5), enough=st.integers(1, 7), colours=st.sampled_from([2, 5, 256]))
def test_frames_of_a_gif_are_counted_as_pillow_counts_them(frames: int, enough: int, colours: int) -> None:
    images = [Image.fromarray(noise(3 + i, 300)).quantize(colours) for i in range(frames)]
    data = file_of(images[0], "GIF", save_all=True, append_images=images[1:], disposal=2)
    with Image.open(BytesIO(data)) as opened:
        assert isinstance(opened, ImageFile.ImageFile)
        assert gif_frames(data, enough, 10**4) == min(enough, getattr(opened, "n_frames", 1))


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@pytest.mark.parametrize(
    ("name", "before", "piece"),
    [
        ("png", b"IDAT", chunk(b"abCd")),
        ("png", b"IEND", chunk(b"abCd")),
        ("png", b"IDAT", chunk(b"IDAT")),
        ("jpeg", b"\xff\xdb", b"\xff"),
        ("jpeg", b"\xff\xdb", b"\0"),
        ("jpeg", b"\xff\xdb", b"\xff\xfe\0\2"),
        ("jpeg", b"\xff\xdb", b"\xff\xd0"),
        ("gif", b"!", b"\1"),
        ("gif", b"!", b"!\xfe\1a\0"),
        ("gif", b"", b"\1a"),
    ],
)
def test_a_file_that_is_cut_into_very_many_pieces_is_refused_before_they_are_read(
    name: str, before: bytes, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FILES[name] if name != "gif" else file_of(FRAMES[0], "GIF", comment=b"x")
    at = file.index(before) - 4 * (name == "png") if before else file.rindex(b"\0;")
    with_pieces = [file[:at] + piece * count + file[at:] for count in (1, 30_000, 70_000)]
    assert [code(data) for data in with_pieces[:2]] == ["ok", "ok"]
    monkeypatch.setattr(Image, "OPEN", {})  # nothing is opened
    assert code(with_pieces[2]) == "M107"


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_cut_off_is_refused_or_gives_all_of_its_pixels(name: str) -> None:
    data = file_of(Image.fromarray(noise(40, 40)), FORMATS[name].pillow)
    whole = pipeline().process(data).arrays["pixel_values"]
    ends = range(0, len(data), max(len(data) // 40, 1))
    refused = [end for end in ends if code(data[:end]) in ("M101", "M103", "M107")]
    assert len(refused) > 30
    for end in set(ends) - set(refused):
        assert np.array_equal(pipeline().process(data[:end]).arrays["pixel_values"], whole)


@pytest.mark.filterwarnings("default")  # Pillow warns of some files that it can read nevertheless
@given(st.data())
def test_a_file_with_other_bytes_gives_an_image_or_a_typed_error(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FORMATS.keys() - {"tiff"})))  # libtiff writes to the terminal
    changed = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    assert code(bytes(changed)) in {"ok", "M103", "M105", "M107"}


def test_nothing_of_pillow_is_changed_and_its_own_limits_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    assert code(FILES["jpeg"]) == "ok"
    assert code(FILES["jpeg"][:-10]) == "M107"
    assert (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES) == (10, False)


def test_a_bmp_of_very_many_runs_is_refused_before_they_are_read() -> None:
    file = bytearray(file_of(RGB.quantize(16), "BMP"))
    file[30:34] = struct.pack("<I", 1)
    start, ends = struct.unpack_from("<I", file, 10)[0], b"\0\0" * 3
    runs = (bytes((20, 3)) + b"\0\0") * 12
    assert code(bytes(file[:start]) + ends + runs) == "ok"
    assert code(bytes(file[:start]) + b"\0\0" * (1 << 22) + runs) == "M107"


def test_a_jpeg_of_very_many_scans_is_refused_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of(RGB, "JPEG", progressive=True)
    last = file[file.rindex(b"\xff\xda") : -2]
    scans = file.count(b"\xff\xda")
    with_scans = [file[:-2] + last * (count - scans) + file[-2:] for count in (32, 33, 100, 101)]
    assert [code(data) for data in with_scans] == ["ok", "ok", "ok", "M107"]
    few = Reading(limits=Limits(pixels=480))  # twice the pixels of the file, so twice as many scans as of the largest
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: pytest.fail("it was decoded"))
    assert code(with_scans[1], few) == "M107"


@pytest.mark.parametrize("most", [10, 200])
def test_readers_that_look_for_bombs_themselves_refuse_them_as_too_large(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code(FILES["tiff"]) == "ok"
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)  # an error above twice as many, and else a warning
    with pytest.raises(MediaError) as caught:
        pipeline().process(FILES["tiff"])
    assert (caught.value.code, caught.value.help) == ("M105", "send a smaller image")


@pytest.mark.parametrize("name", ["pixels", "geometry", "pipeline", "decoding", "arrival", "record"])
def test_pillow_is_imported_when_an_image_is_decoded(name: str) -> None:
    program = f"import sys, katapi.runtime.images.{name}; sys.exit('PIL' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_pillow_an_image_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MediaError, match=r"pip install \"katapi\[images\]\"") as caught:
        pipeline().process(FILES["png"])
    assert caught.value.code == "M100"


def test_a_pillow_that_was_built_without_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert code(FILES["webp"]) == "ok"
    reader, _ = Image.OPEN["WEBP"]
    monkeypatch.setitem(Image.OPEN, "WEBP", (reader, lambda prefix: "WEBP support not installed"))
    assert code(FILES["webp"]) == "M100"


def test_several_pictures_in_one_jpeg_are_frames() -> None:
    data = file_of(FRAMES[1], "MPO", save_all=True, append_images=FRAMES[2:])
    header, first = pipeline().source(data, media_type="image/jpeg", orientation=False)
    assert (header.format.name, header.animated) == ("jpeg", True)
    assert np.abs(first.pixels.astype(int) - np.asarray(FRAMES[1])).max() < 20
    assert code(data, Reading(frames="reject")) == "M106"
    assert code(data, Reading(limits=Limits(frames=2))) == "ok"


def test_several_readings_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    files = [png(noise(50 + i % 7, 60)) for i in range(40)]
    halving = pipeline()
    expected = [halving.process(file).arrays["pixel_values"] for file in files]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(halving.process, files), expected, strict=True):
            assert np.array_equal(found.arrays["pixel_values"], wanted)
