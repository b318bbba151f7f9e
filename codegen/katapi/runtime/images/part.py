"""The part of a message that carries an image: what generated records with the line `image` are built from.

Each client has its own form for it, and each of these is one of the fields below::

    {"type": "image_url", "image_url": {"url": "data:image/png;base64,…", "detail": "high"}}
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "…"}}
    {"type": "image", "url": "…"}     also as "image", "path" or "base64"
    {"type": "image"}                 the next one of those that are attached
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from katapi.runtime.fields import refuse
from katapi.runtime.images.placeholder import Placeholder
from katapi.runtime.images.sources import ImageSource, bytes_of, file_of, source_of
from katapi.runtime.places import quoted
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Content

WIRE_NAMES = ("image", "image_url", "source", "url", "path", "base64")
"""The keys by which a part may say what its image is; it has one of them at most."""


class ImageUrl(RequestModel):
    """The value of `image_url` as OpenAI's clients send it: the `url`, and how much of the image is wanted, `detail`.

    The latter changes nothing, since the pipeline is declared.
    """

    url: Content
    detail: Literal["auto", "low", "high", "original"] | None = None


class Base64Source(RequestModel):
    """The value of `source` as Anthropic's clients send it, by `type`, with the bytes: `data`, of a `media_type`."""

    type: Literal["base64"]
    media_type: Content
    data: Content


class UrlSource(RequestModel):
    """The value of `source` as Anthropic's clients send it, by `type`, with an address: `url`."""

    type: Literal["url"]
    url: Content


class Carries(RequestModel):
    """A part that carries an image or a video; its placeholder is what stands for it in the ids."""

    _placeholder: Placeholder | None = PrivateAttr(default=None)

    @property
    def says_where(self) -> bool:
        """Whether it says where the bytes come from; otherwise they are the next that are attached."""
        raise NotImplementedError

    @property
    def placeholder(self) -> Placeholder | None:
        """What stands for it in the ids; None where its bytes are not at hand."""
        return self._placeholder

    def with_placeholder(self, placeholder: Placeholder) -> Self:
        """The same part, its bytes having been processed."""
        copy = self.model_copy()
        copy._placeholder = placeholder
        return copy


class CarriesImage(Carries):
    """A part that carries an image, under one of its keys: `image`, `image_url`, `source`, `url`, `path`, `base64`.

    `RequestError` R116 where that says of no bytes, and R117 where it comes in two forms.
    """

    image: Content | None = None
    image_url: Content | ImageUrl | None = None
    source: Annotated[Base64Source | UrlSource, Field(discriminator="type")] | None = None
    url: Content | None = None
    path: Content | None = None
    base64: Content | None = None
    _comes_from: ImageSource | None = PrivateAttr(default=None)

    @property
    def comes_from(self) -> ImageSource | None:
        """Where the bytes come from; None where the part does not say it."""
        return self._comes_from

    @property
    def says_where(self) -> bool:
        """Whether it says where the bytes come from."""
        return self._comes_from is not None

    @model_validator(mode="after")
    def _read(self) -> Self:
        self._comes_from = _source(self)
        return self


def _source(part: CarriesImage) -> ImageSource | None:
    given = [name for name in WIRE_NAMES if getattr(part, name) is not None]
    if len(given) > 1:
        message = f"a part carries one image, and this one has {quoted(given[0])} and {quoted(given[1])}"
        raise refuse("R117", message, help="send a part for each image", within=(given[1],))
    if part.image_url is not None:
        if isinstance(part.image_url, ImageUrl):
            return source_of(part.image_url.url, ("image_url", "url"))
        return source_of(part.image_url, ("image_url",))
    match part.source:
        case Base64Source(media_type=media_type, data=data):
            return bytes_of(data, media_type.strip().lower(), ("source", "data"))
        case UrlSource(url=url):
            return source_of(url, ("source", "url"))
        case None:
            pass
    if part.image is not None:
        return source_of(part.image, ("image",))
    if part.url is not None:
        return source_of(part.url, ("url",))
    if part.path is not None:
        return file_of(part.path, ("path",))
    if part.base64 is not None:
        return bytes_of(part.base64, None, ("base64",))
    return None
