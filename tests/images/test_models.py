"""Each model that sees images: what its template prints for one is what its official processor makes of it."""

from __future__ import annotations

import pytest

import katapi
from katapi.runtime.segments import ControlSegment
from tests.images.shown import image, png, request, text, user

#: For each model its pipeline, the image token, and what the processor replaces in the text that a template gives.
MODELS = {
    "qwen2.5-vl": ("qwen2_vl", "<|image_pad|>", "<|image_pad|>"),
    "qwen3-vl": ("qwen3_vl", "<|image_pad|>", "<|image_pad|>"),
    "qwen3.5": ("qwen3_vl", "<|image_pad|>", "<|image_pad|>"),
    "glm-4.5v": ("glm4v", "<|image|>", "<|image|>"),
    "gemma3": ("gemma3", "<image_soft_token>", "<start_of_image>"),
    "gemma4": ("gemma4", "<|image|>", "<|image|>"),
    "llama4": ("llama4", "<|patch|>", "<|image|>"),
}
PHOTO = png(300, 200)
TWO = png(640, 480, (0, 0, 90))


@pytest.mark.parametrize("name", MODELS)
def test_a_placeholder_takes_the_place_of_what_the_processor_replaces(name: str) -> None:
    pipeline, token, replaced = MODELS[name]
    model = katapi.load(name)
    x = model.assemble(request(user(text("See "), image(PHOTO), text(" and "), image(TWO), text(" here."))))
    plain = model.render(request(user(text("See "), image(), text(" and "), image(), text(" here.")))).text
    own = katapi.image_pipeline(pipeline)
    expected = plain
    for data in (TWO, PHOTO):
        spelled = "".join(piece.spelling * piece.count for piece in own.measure(data).placeholder)
        before, _, behind = expected.rpartition(replaced) if data is TWO else expected.partition(replaced)
        expected = before + spelled + behind
    assert x.text == expected
    assert [one.pipeline for one in x.images] == [pipeline, pipeline]
    assert [one.tokens for one in x.images] == [own.measure(PHOTO).tokens, own.measure(TWO).tokens]
    [id] = {one.token.id for one in x.rendered.payload if isinstance(one, ControlSegment) and one.text == token}
    for one in x.images:
        first, end = one.span
        assert (x.input_ids[first:end] == id).sum() == one.tokens
        assert all(origin.image is not None and origin.image.index == one.index for origin in x.origins[first:end])
    arrays = own.process(PHOTO, TWO).arrays
    found = x.pixel_inputs()
    assert list(found) == list(arrays)
    for key in arrays:
        assert (found[key] == arrays[key]).all()


@pytest.mark.parametrize("name", MODELS)
def test_without_bytes_nothing_changes(name: str) -> None:
    model = katapi.load(name)
    raw = request(user(image(), text("?")))
    assert model.assemble(raw).text == model.render(raw).text
    assert MODELS[name][2] in model.assemble(raw).text
