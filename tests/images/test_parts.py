"""The forms in which an image comes: each says where its bytes are, and the oracle takes and refuses the same."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.oracle.request import canonical
from katapi.runtime.images.part import CarriesImage
from katapi.runtime.images.placing import parts_of
from katapi.runtime.images.sources import ImageAddress, ImageBytes, ImageFile, ImageSource
from katapi.runtime.json_types import Json, JsonObject
from tests.images.shown import A, url
from tests.specs import ROOT, program_of

MODEL = katapi.load("qwen3-vl")
PROGRAM = program_of(ROOT / "spec" / "models" / "qwen3-vl.kata", "qwen3-vl")
B64 = base64.b64encode(A).decode()


def raw(part: JsonObject) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": [{"type": "image", **part}]}]}).encode()


def part_of(part: JsonObject) -> CarriesImage:
    [(path, found)] = parts_of(MODEL.decode_request(raw(part)))
    assert path == ("messages", 0, "content", 0)
    assert isinstance(found, CarriesImage)
    return found


FORMS: list[tuple[JsonObject, ImageSource | None]] = [
    ({}, None),
    ({"image": None, "url": None}, None),
    ({"type": "image_url"}, None),
    ({"type": "image_url", "image_url": {"url": url(A)}}, ImageBytes(("image_url", "url"), A, "image/png")),
    ({"image_url": {"url": url(A), "detail": "low"}}, ImageBytes(("image_url", "url"), A, "image/png")),
    ({"image_url": url(A)}, ImageBytes(("image_url",), A, "image/png")),
    ({"image": f"DATA:Image/PNG;Base64,{B64}"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:;base64,{B64}"}, ImageBytes(("image",), A, None)),
    (
        {"source": {"type": "base64", "media_type": "image/png", "data": B64}},
        ImageBytes(("source", "data"), A, "image/png"),
    ),
    ({"source": {"type": "url", "url": "https://a.b/c"}}, ImageAddress(("source", "url"), "https://a.b/c")),
    ({"base64": B64}, ImageBytes(("base64",), A, None)),
    ({"url": "s3://bucket/a.png"}, ImageAddress(("url",), "s3://bucket/a.png")),
    ({"image": "a/b.png"}, ImageFile(("image",), "a/b.png")),
    ({"image": "file:///a/b%20c.png"}, ImageFile(("image",), "/a/b c.png")),
    ({"path": "https://a.b/c"}, ImageFile(("path",), "https://a.b/c")),
]


@pytest.mark.parametrize(("part", "source"), FORMS)
def test_each_form_says_where_the_bytes_are(part: JsonObject, source: ImageSource | None) -> None:
    found = part_of(part)
    assert found.comes_from == source
    given = {"type": "image", **part}
    assert json.loads(json.dumps(found.model_dump(mode="json", exclude_unset=True))) == given


REFUSED: list[tuple[JsonObject, str, str]] = [
    ({"image": ""}, "R116", "image"),
    ({"path": ""}, "R116", "path"),
    ({"path": "a\0b"}, "R116", "path"),
    ({"base64": ""}, "R116", "base64"),
    ({"base64": B64[:-1]}, "R116", "base64"),
    ({"base64": f"{B64[:8]}\n{B64[8:]}"}, "R116", "base64"),
    ({"base64": "é==="}, "R116", "base64"),
    ({"image": "data:image/png,abc"}, "R116", "image"),
    ({"image": "data:image/png;base64"}, "R116", "image"),
    ({"image": "data:base64,AAAA"}, "R116", "image"),
    ({"image": "file://elsewhere/a.png"}, "R116", "image"),
    ({"image": "file:///a.png?b"}, "R116", "image"),
    ({"image": "a.png", "url": "b.png"}, "R117", "url"),
    ({"image": 3}, "R113", "image"),
    ({"image": {"url": "a"}}, "R113", "image"),
    ({"image_url": {"detail": "low"}}, "R112", "image_url.url"),
    ({"image_url": {"url": "a", "detail": "huge"}}, "R114", "image_url.detail"),
    ({"image_url": {"url": "a", "size": 3}}, "R111", "image_url.size"),
    ({"image_url": 3}, "R113", "image_url"),
    ({"source": {"type": "base64", "data": B64}}, "R112", "source.media_type"),
    ({"source": {"type": "file", "file_id": "f"}}, "R110", "source.type"),
    ({"source": "a.png"}, "R113", "source"),
    ({"src": "a.png"}, "R111", "src"),
]


@pytest.mark.parametrize(("part", "code", "place"), REFUSED)
def test_what_is_no_form_is_refused_at_its_place(part: JsonObject, code: str, place: str) -> None:
    with pytest.raises(katapi.RequestError) as caught:
        MODEL.decode_request(raw(part))
    assert (caught.value.code, caught.value.where) == (code, f"messages[0].content[0].{place}")


TEXTS = st.sampled_from(["", "a.png", url(A), B64, "https://a.b", "file:///a", "data:,a", "file://b/c", "?", "a\0"])
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "url": TEXTS,
        "type": st.sampled_from(["url", "base64", "file"]),
        "data": TEXTS,
        "media_type": st.sampled_from(["image/png", "text/plain"]),
        "detail": st.sampled_from(["auto", "none", None]),
    },
)
VALUES: st.SearchStrategy[Json] = TEXTS | OBJECTS | st.none() | st.integers()
KEYS = ("image", "image_url", "source", "url", "path", "base64", "title")


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=2))
def test_the_oracle_takes_what_the_generated_types_take(part: dict[str, Json]) -> None:
    value: Json = {"messages": [{"role": "user", "content": [{"type": "image", **part}]}]}
    try:
        canonical(PROGRAM, value)
        expected = True
    except katapi.RequestError:
        expected = False
    try:
        MODEL.decode_request(json.dumps(value).encode())
        found = True
    except katapi.RequestError:
        found = False
    assert found is expected
