"""What generated property tests ask of images in requests: each is kept or left out with its message, pixels too."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection
from functools import partial
from io import BytesIO
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from katapi.runtime.errors import RequestError
from katapi.runtime.images.part import Carries, CarriesImage
from katapi.runtime.images.placing import parts_of, with_parts
from katapi.runtime.images.sources import ImageBytes
from katapi.runtime.images.video_part import CarriesVideo
from katapi.runtime.messages import USER
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Path
from katapi.testing import request_bytes

R = TypeVar("R", bound=RequestModel)

_MOST = 4  # images of a request: a conversation is assembled once for each part that a budget may keep


class Plain(NamedTuple):
    """A small image of one colour."""

    width: int
    height: int
    grey: int

    def url(self) -> str:
        """It as a PNG in a `data` URL."""
        import PIL.Image  # Pillow is an extra

        file = BytesIO()
        PIL.Image.new("L", (self.width, self.height), self.grey).save(file, "PNG")
        return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def with_images(requests: SearchStrategy[R], model: Model[R]) -> SearchStrategy[R]:
    """Requests, some of them with images in messages of the user, where the model shows images."""
    if model._shown is None:
        return requests
    sides = st.integers(1, 99)
    places = st.tuples(st.integers(0, 7), st.integers(0, 7))
    shown = st.lists(st.tuples(places, st.builds(Plain, sides, sides, st.integers(0, 255))), min_size=1, max_size=3)
    return st.builds(partial(_showing, model), requests, st.none() | shown)


def _showing(model: Model[R], request: R, images: list[tuple[tuple[int, int], Plain]] | None) -> R:
    """A request with images more in its messages, by the number of a message and of a part, and all with their bytes.

    As it is where the model does not take it so, and where it has videos or would have too many images.
    """
    if images is None:
        return request
    body = json.loads(request_bytes(request))
    asking = [message for message in body["messages"] if message["role"] == USER]
    for (number, place), image in images if asking else ():
        message = asking[number % len(asking)]
        content = message.get("content") or []
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts.insert(place % (len(parts) + 1), {"type": "image", "image_url": image.url()})
        message["content"] = parts
    try:
        shown = model.decode_request(json.dumps(body, ensure_ascii=False).encode())
    except RequestError:
        return request
    url, parts = images[0][1].url(), parts_of(shown)
    if len(parts) > _MOST or not all(isinstance(part, CarriesImage) for _, part in parts):
        return request
    return with_parts(shown, (), partial(_with_bytes, url))


def _with_bytes(url: str, _: Path, part: Carries) -> Carries:
    if part.says_where:
        return part
    shown = {"video": [url, url], "fps": 2} if isinstance(part, CarriesVideo) else {"image_url": url}
    return type(part).model_validate({**part.model_dump(exclude_unset=True), **shown})


def check_images(model: Model[R], request: RequestModel, result: ModelInput, kept: Collection[int]) -> None:
    """Asserts that an input has the images of some messages of a request and no others, with their pixels."""
    expected = [
        (part.comes_from.data, steps)
        for (_, message, *steps), part in parts_of(request)
        if message in kept and isinstance(part, CarriesImage) and isinstance(part.comes_from, ImageBytes)
    ]
    assert [(one.given.data, list(one.path[2:])) for one in result.images] == expected
    check_pixels(model, result)


def check_pixels(model: Model[R], result: ModelInput) -> None:
    """Asserts that the pixels of an input are those of its images, each of which has its tokens."""
    of_videos = {name for one in result.videos for name in one.arrays}
    arrays = {name: array for name, array in result.pixel_inputs().items() if name not in of_videos}
    if not result.images:
        assert not arrays
        return
    assert model._shown is not None
    assert model._shown.pipeline is not None
    processed = model._shown.pipeline().process(*(one.given.data for one in result.images))
    assert [one.tokens for one in result.images] == [one.tokens for one in processed.images]
    assert list(arrays) == list(processed.arrays)
    for name, array in processed.arrays.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()
    first, end = zip(*(one.span for one in result.images), strict=True)
    assert [*first] == sorted({*first})
    assert [*end] == sorted({*end}), "two may share the token of the texts between them"
