"""Models whose templates show images, and small images for them."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module

from PIL import Image

import katapi
from katapi.runtime.images.picture import Picture
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.pipeline import ImagePipeline
from katapi.runtime.images.placing import Shown
from katapi.runtime.images.plan import Plan
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tests.images.pictures import altered

PAD = 151655
"""The id of `<|image_pad|>`, which stands for 28 x 28 pixels of an image."""


@cache
def png(width: int, height: int, colour: tuple[int, int, int] = (10, 20, 30)) -> bytes:
    """An image of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


A, B, C = png(56, 56), png(84, 56, (200, 0, 0)), png(56, 112, (0, 200, 0))
"""Images of 4, 6 and 8 tokens."""


def model(placeholder: Callable[[Plan, Picture], Iterable[Piece]] | None = None) -> Model[RequestModel]:
    """Qwen3-VL with the images of Qwen2-VL, of which small ones have few tokens, or other placeholders for them."""
    pipeline = altered(katapi.image_pipeline("qwen2_vl"), placeholder=placeholder)
    return showing("qwen3-vl", lambda: pipeline)


def showing(name: str, pipeline: Callable[[], ImagePipeline]) -> Model[RequestModel]:
    """A model whose template shows images by a pipeline."""
    plain = katapi.load(name)
    return replace(plain, _shown=Shown(import_module(plain._render.__module__).Control, pipeline))


def url(data: bytes) -> str:
    """A data URL."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def image(data: bytes | None = None) -> Json:
    """A part that shows an image: its bytes, or the next one that is attached."""
    return {"type": "image"} if data is None else {"type": "image_url", "image_url": {"url": url(data)}}


def text(words: str) -> Json:
    """A part that is a text."""
    return {"type": "text", "text": words}


def user(*parts: Json) -> Json:
    """A message of the user."""
    return {"role": "user", "content": [*parts]}


def said(words: str) -> Json:
    """A message of the assistant."""
    return {"role": "assistant", "content": words}


def request(*messages: Json) -> bytes:
    """A request of these messages."""
    return json.dumps({"messages": [*messages]}).encode()
