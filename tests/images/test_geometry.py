"""Resize, crop, pad and tiles: what they give, what they refuse, and the steps that they leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from katapi import MediaError
from katapi.runtime.images.geometry import Filter, crop, pad, resize, tiles
from katapi.runtime.images.picture import Picture, Size, outline
from tests.images.pictures import noise, picture

sizes = st.builds(Size, st.integers(1, 40), st.integers(1, 40))


@given(source=sizes, target=sizes, filter=st.sampled_from(Filter))
def test_a_resize_is_pillows(source: Size, target: Size, filter: Filter) -> None:
    pixels = noise(*source)
    expected = Image.fromarray(pixels).resize((target.width, target.height), Image.Resampling(filter))
    found = resize(picture(pixels), target, filter)
    assert found.size == target
    assert np.array_equal(found.pixels, np.asarray(expected))


@given(source=sizes, top=st.integers(0, 40), left=st.integers(0, 40), size=sizes)
def test_a_crop_is_a_part_that_ends_where_the_picture_does(source: Size, top: int, left: int, size: Size) -> None:
    pixels = noise(*source)
    expected = pixels[top : top + size.height, left : left + size.width]
    for whole in (picture(pixels), Picture(source, picture(pixels).trace, array=pixels)):
        if top >= source.height or left >= source.width:
            with pytest.raises(MediaError, match="does not lie in an image") as caught:
                crop(whole, top, left, size)
            assert caught.value.code == "M109"
        else:
            assert np.array_equal(crop(whole, top, left, size).pixels, expected)


def test_pillows_own_limit_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    sizes = {each.size for each in _all_operations(picture(noise(15, 25)))}
    assert Size(20, 50) in sizes


def test_a_crop_that_begins_outside() -> None:
    with pytest.raises(MediaError, match="a part of 2 × 2 at row -1, column 0 does not lie in an image of 4 × 4"):
        crop(picture(noise(4, 4)), -1, 0, Size(2, 2))


@given(source=sizes, before=sizes, behind=sizes)
def test_a_padded_picture_holds_the_picture_and_one_colour(source: Size, before: Size, behind: Size) -> None:
    pixels = noise(*source)
    size = Size(*(a + b + c for a, b, c in zip(source, before, behind, strict=True)))
    found = pad(picture(pixels), size, before.height, before.width, (1, 2, 3)).pixels
    expected = np.empty((*size, 3), np.uint8)
    expected[:] = (1, 2, 3)
    expected[before.height : before.height + source.height, before.width : before.width + source.width] = pixels
    assert np.array_equal(found, expected)


def test_a_canvas_that_is_too_small() -> None:
    for size, top in ((Size(3, 9), 0), (Size(9, 9), 6), (Size(9, 9), -1)):
        with pytest.raises(MediaError, match="does not lie on a canvas") as caught:
            pad(picture(noise(4, 4)), size, top, 0)
        assert caught.value.code == "M109"


@given(source=sizes, size=sizes)
def test_tiles_are_all_of_the_picture_row_by_row(source: Size, size: Size) -> None:
    pixels = noise(*source)
    found = tiles(picture(pixels), size)
    across = -(-source.width // size.width)
    rows = [
        np.concatenate([tile.pixels for tile in found[i : i + across]], axis=1) for i in range(0, len(found), across)
    ]
    assert np.array_equal(np.concatenate(rows), pixels)
    assert all(tile.size == tile.pixels.shape[:2] for tile in found)


def _all_operations(source: Picture) -> list[Picture]:
    large = resize(source, Size(30, 50), Filter.LANCZOS)
    padded = pad(large, Size(40, 60), 5, 5, (9, 9, 9))
    part = crop(padded, 0, 10, Size(20, 100))
    cut = tiles(part, Size(20, 20))
    return [
        large,
        resize(large, large.size, Filter.BICUBIC),
        padded,
        part,
        *cut,
        resize(cut[-1], Size(7, 7), Filter.BOX),
    ]


def test_steps_name_each_picture_and_the_one_that_it_was_made_of() -> None:
    source = picture(noise(15, 25))
    made = _all_operations(source)
    steps = source.trace.steps
    assert [step.made for step in steps] == [*range(1, 9)] == sorted(each.number for each in made)
    assert [step.of for step in steps] == [0, 1, 2, 3, 3, 3, 1, 6]
    by_number = {0: source, **{each.number: each for each in made}}
    for step in steps:
        assert (step.before, step.after) == (by_number[step.of].size, by_number[step.made].size)
    assert steps[2].to_json() == {
        "operation": "crop",
        "made": 3,
        "of": 2,
        "before": [40, 60],
        "after": [20, 50],
        "top": 0,
        "left": 10,
    }
    assert steps[0].to_json()["detail"] == "lanczos"
    assert steps[1].to_json()["detail"] == "9,9,9"


def test_an_outline_goes_the_same_way_without_pixels() -> None:
    source, shape = picture(noise(15, 25)), outline(Size(15, 25), 10**6)
    made, seen = _all_operations(source), _all_operations(shape)
    assert [each.size for each in seen] == [each.size for each in made]
    assert shape.trace.steps == source.trace.steps
    assert all(each.is_outline for each in seen)
    with pytest.raises(TypeError, match="no pixels"):
        _ = seen[0].pixels


def test_no_picture_has_more_pixels_than_the_limit() -> None:
    for source in (picture(noise(10, 10), most_pixels=400), outline(Size(10, 10), 400)):
        assert resize(source, Size(20, 20), Filter.BILINEAR).size == (20, 20)
        with pytest.raises(MediaError, match=r"after the step 'resize' .* the limit is 400") as caught:
            resize(source, Size(20, 21), Filter.BILINEAR)
        assert caught.value.code == "M105"
        with pytest.raises(MediaError, match=r"after the step 'pad' .* the limit is 400"):
            pad(source, Size(401, 10), 0, 0)
        with pytest.raises(MediaError, match="has no pixels: it is 0 × 4"):
            resize(source, Size(0, 4), Filter.BILINEAR)


def test_a_picture_of_its_own_size_is_not_copied() -> None:
    source = picture(noise(10, 10))
    assert resize(source, source.size, Filter.BICUBIC).image is source.image
    assert pad(source, source.size, 0, 0).image is source.image
