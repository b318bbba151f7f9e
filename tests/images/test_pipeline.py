"""A pipeline as a whole: arrays, tokens, placeholder and record of one image and of several."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import katapi
from katapi import ArtifactError, MediaError
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Limits, Reading
from katapi.runtime.images.geometry import Filter, resize
from katapi.runtime.images.picture import Picture, Size
from katapi.runtime.images.pieces import Piece, spelled
from katapi.runtime.images.pixels import Normalization, planes
from katapi.runtime.images.plan import Outputs, Plan
from katapi.runtime.images.record import digest_of_array
from tests.images.pictures import Halved, arrived, file_of, noise, oriented, pipeline, png, smooth


def test_one_image() -> None:
    pixels = noise(9, 13)
    found = pipeline().process_one(png(pixels))
    small = np.asarray(Image.fromarray(pixels).resize((6, 4), Image.Resampling.BICUBIC))
    assert np.array_equal(found.arrays["pixel_values"], small.transpose(2, 0, 1)[None].astype(np.float32))
    assert found.arrays["sizes"].tolist() == [[4, 6]]
    assert (found.size, found.tokens) == (Size(9, 13), 24)
    assert found.placeholder == (
        Piece("<pixel>", True, 6, (("row", 0),)),
        Piece("\n", False),
        Piece("<pixel>", True, 6, (("row", 1),)),
        Piece("\n", False),
        Piece("<pixel>", True, 6, (("row", 2),)),
        Piece("\n", False),
        Piece("<pixel>", True, 6, (("row", 3),)),
    )
    assert spelled(found.placeholder) == "\n".join(["<pixel>" * 6] * 4)


def test_several_images_are_those_of_each_joined_as_declared() -> None:
    files = [png(noise(8, 8)), png(noise(8, 12)), png(noise(4, 8))]
    halving = replace(pipeline(), joins={"pixel_values": Join(0, fill=0)})
    alone = [halving.process(file) for file in files]
    found = halving.process(*files)
    assert found.arrays["pixel_values"].shape == (3, 3, 4, 6)
    assert found.arrays["sizes"].tolist() == [[4, 4], [4, 6], [2, 4]]
    assert found.tokens == sum(each.tokens for each in alone) == 16 + 24 + 8
    for index, each in enumerate(alone):
        one = each.arrays["pixel_values"]
        assert np.array_equal(found.arrays["pixel_values"][index : index + 1, :, : one.shape[2], : one.shape[3]], one)
        assert found.images[index].placeholder == each.images[0].placeholder


def test_an_error_says_which_image_is_at_fault() -> None:
    with pytest.raises(MediaError) as caught:
        pipeline().process(png(noise(8, 8)), b"")
    assert (caught.value.stage, caught.value.code, caught.value.where) == ("image", "M101", "images[1]")
    with pytest.raises(MediaError) as caught:
        pipeline().process(b"")
    assert caught.value.where == ""
    for call in (pipeline().process_one, pipeline().measure):
        with pytest.raises(MediaError, match="image error M101 at messages"):
            call(b"", where="messages[0].content[1]")


def _refuses(source: Picture) -> Plan:
    raise MediaError("too dull", code="M109")


def test_a_rule_of_the_pipeline_itself_refuses_from_the_header() -> None:
    dull = replace(pipeline(), plan=_refuses)
    for call in (dull.process_one, dull.measure):
        with pytest.raises(MediaError, match="image error M109 at here: too dull"):
            call(png(noise(8, 8)), where="here")


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_what_is_measured_is_what_is_processed(format: str) -> None:
    for orientation in (1, 6):
        image = Image.fromarray(smooth(30, 44))
        data = file_of(image, format) if format in ("GIF", "BMP") else oriented(image, orientation, format)
        for way in ("open", "turned"):
            halving = pipeline().loading(way)
            seen, found = halving.measure(data), halving.process_one(data)
            assert (seen.size, seen.tokens, seen.placeholder) == (found.size, found.tokens, found.placeholder)
            assert seen.shapes == {name: array.shape for name, array in found.arrays.items()}


def test_ways_by_name() -> None:
    halving = pipeline()
    assert halving.way == "open"
    assert halving.loading(None) is halving
    turned = halving.loading("turned")
    assert (turned.way, turned.arrival.orientation) == ("turned", "apply")
    assert turned.loading(None).way == "open"
    with pytest.raises(ArtifactError, match="ways: open, turned") as caught:
        halving.loading("opened")
    assert caught.value.code == "A145"


def test_the_record_has_all_that_decides_the_result() -> None:
    data = oriented(Image.fromarray(smooth(10, 20)), 6, "JPEG")
    reading = Reading(accept=("jpeg", "png"), limits=Limits(bytes=10**6, pixels=10**5, frames=3))
    found = pipeline(reading=reading).loading("turned").process_one(data, media_type="image/jpg")
    pixels = arrived(data, found.pipeline.arrival)
    record = found.record.as_json()
    libraries = record.pop("libraries")  # type: ignore[attr-defined]  # the type says that nobody changes it
    assert json.loads(json.dumps(record)) == {
        "pipeline": {"id": "halved@1", "digest": "sha256:" + "0" * 64},
        "file": {
            "length": len(data),
            "sha256": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "media_type_told": "image/jpg",
            "media_type": "image/jpeg",
            "size": [10, 20],
            "mode": "RGB",
            "orientation": 6,
            "animated": False,
        },
        "arrival": {
            "way": "turned",
            "orientation": "apply",
            "alpha": "drop",
            "key": "drop",
            "rgb_key": "drop",
            "icc": "ignore",
            "depth": "clip",
        },
        "reading": {
            "accept": ["jpeg", "png"],
            "limits": {"bytes": 10**6, "pixels": 10**5, "frames": 3},
            "frames": "first",
            "media_type": "reject",
            "damaged": "reject",
        },
        "source": {
            "size": [20, 10],
            "pixels": f"sha256:{hashlib.sha256(pixels.tobytes()).hexdigest()}",
        },
        "steps": [
            {"operation": "resize", "made": 1, "of": 0, "before": [20, 10], "after": [10, 5], "detail": "bicubic"}
        ],
        "numbers": {"rescale": 1.0, "mean": None, "std": None},
        "tokens": 50,
        "arrays": {name: digest_of_array(array) for name, array in found.arrays.items()},
    }
    assert sorted(libraries) == ["libjpeg_turbo", "numpy", "pillow"]
    assert libraries["numpy"] == np.__version__
    assert found.record is found.record


def test_the_digest_of_an_array_is_that_of_its_type_its_shape_and_its_little_endian_bytes() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    digest = hashlib.sha256(b"float32[2,3]" + array.astype("<f4").tobytes()).hexdigest()
    assert digest_of_array(array) == f"sha256:{digest}"
    assert digest_of_array(np.asfortranarray(array)) == f"sha256:{digest}"
    assert digest_of_array(array[::-1][::-1]) == f"sha256:{digest}"
    assert digest_of_array(array.T) != digest_of_array(array)
    assert digest_of_array(np.array([[1, 2]], np.int64)) != digest_of_array(np.array([[1, 2]], np.int32))
    if sys.byteorder == "little":
        assert digest_of_array(array.astype(">f4")) == f"sha256:{digest}"


def test_images_of_which_only_the_record_tells_the_difference() -> None:
    """The same pixels in another file: the arrays are equal, and so are their digests; the files are not."""
    one, two = (
        pipeline().process_one(data).record
        for data in (png(smooth(8, 8)), file_of(Image.fromarray(smooth(8, 8)), "BMP"))
    )
    assert (one.pixels, one.arrays) == (two.pixels, two.arrays)
    assert one.sha256 != two.sha256


def test_what_is_given_is_not_changed() -> None:
    class Painted(Halved):
        def __init__(self, source: Picture) -> None:
            super().__init__(source)
            self.source = source

        def arrays(self, numbers: Normalization) -> Outputs:
            first = planes([self.source], numbers)
            resize(self.source, Size(3, 3), Filter.BICUBIC)
            return {"first": first, "again": planes([self.source], numbers)}

    data = bytearray(png(noise(6, 6)))
    found = replace(pipeline(), plan=Painted).process(bytes(data))
    assert np.array_equal(found.arrays["first"], found.arrays["again"])
    assert found.arrays["first"].flags.writeable


def test_an_arrival_is_named_in_the_record_with_its_background() -> None:
    way = Arrival(orientation="reject", alpha=(1, 2, 3), key="drop", icc="convert", depth="scale")
    assert way.to_json() == {
        "orientation": "reject",
        "alpha": {"over": [1, 2, 3]},
        "key": "drop",
        "rgb_key": "drop",
        "icc": "convert",
        "depth": "scale",
    }


def test_what_a_pipeline_rejects_is_told_with_a_remedy() -> None:
    for call in (katapi.image_pipeline("qwen3_vl").process_one, katapi.image_pipeline("qwen3_vl").measure):
        with pytest.raises(MediaError) as caught:
            call(png(noise(1, 201)))
        assert (caught.value.code, caught.value.help) == ("M109", "send an image of another size")
