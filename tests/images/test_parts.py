"""The forms in which an image comes: each says where its bytes are, and the oracle takes and refuses the same."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

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
    ({"image": f" \n{url(A)}\n"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:image/png; charset=x ; base64 ,{B64}"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"da\tta:image/png;base64,{B64}"}, ImageFile(("image",), f"da\tta:image/png;base64,{B64}")),
    ({"image": f"data:image/png;base64,{quote(B64, safe='')}"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:image/png;base64,{B64.rstrip('=')}"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:image/png;base64,{B64[:9]}%0A {B64[9:]}#a"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:image/png,{quote(A, safe='')}"}, ImageBytes(("image",), A, "image/png")),
    ({"image": f"data:image/png,{quote(A, safe='')}\n#a"}, ImageBytes(("image",), A, "image/png")),
    ({"image": "data:,%4G%%41é"}, ImageBytes(("image",), "%4G%Aé".encode(), None)),
    ({"image": "data:base64,AAAA"}, ImageBytes(("image",), b"AAAA", "base64")),
    ({"base64": f"{B64[:8]}\n{B64[8:]}\n"}, ImageBytes(("base64",), A, None)),
    ({"base64": B64.rstrip("=")}, ImageBytes(("base64",), A, None)),
    ({"base64": " AA =\n= "}, ImageBytes(("base64",), b"\0", None)),
    ({"base64": "AB"}, ImageBytes(("base64",), b"\0", None)),
    (
        {"source": {"type": "base64", "media_type": "image/png", "data": B64}},
        ImageBytes(("source", "data"), A, "image/png"),
    ),
    ({"source": {"type": "url", "url": "https://a.b/c"}}, ImageAddress(("source", "url"), "https://a.b/c")),
    ({"base64": B64}, ImageBytes(("base64",), A, None)),
    ({"url": "s3://bucket/a.png"}, ImageAddress(("url",), "s3://bucket/a.png")),
    ({"url": " https://a.b/c\n"}, ImageAddress(("url",), "https://a.b/c")),
    ({"image": "a/b.png"}, ImageFile(("image",), "a/b.png")),
    ({"image": " a/b.png"}, ImageFile(("image",), " a/b.png")),
    ({"path": " data:,a"}, ImageFile(("path",), " data:,a")),
    ({"image": " file:///a/b.png"}, ImageFile(("image",), "/a/b.png")),
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
    ({"base64": " \n"}, "R116", "base64"),
    ({"base64": "A"}, "R116", "base64"),
    ({"base64": "AA="}, "R116", "base64"),
    ({"base64": "AA==AAAA"}, "R116", "base64"),
    ({"base64": "A==="}, "R116", "base64"),
    ({"base64": "====", "url": None}, "R116", "base64"),
    ({"base64": "AA-_"}, "R116", "base64"),
    ({"base64": "AA%2B"}, "R116", "base64"),
    ({"base64": "AA\u2003AA"}, "R116", "base64"),
    ({"base64": "é==="}, "R116", "base64"),
    ({"image": "data:image/png,"}, "R116", "image"),
    ({"image": "data:image/png,#abc"}, "R116", "image"),
    ({"image": "data:image/png;base64"}, "R116", "image"),
    ({"image": "data:image/png;base64,AA%2DA"}, "R116", "image"),
    ({"image": "data:image/png;base64,AA%"}, "R116", "image"),
    ({"image": "file://elsewhere/a.png"}, "R116", "image"),
    ({"image": "file:///a.png?b"}, "R116", "image"),
    ({"image": "file://["}, "R116", "image"),
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


BODIES = st.text(st.sampled_from("AB=-+/%3dD# \t\n\f,;"), max_size=9)
TEXTS = (
    st.sampled_from(["", "a.png", url(A), B64, "https://a.b", "file:///a", "file://b/c", "file://[", "?", "a\0"])
    | BODIES
    | st.builds("{}data:{}{},{}".format, st.sampled_from(["", " ", "\n"]), st.just("a/b"), BODIES, BODIES)
    | st.builds("data:{};{}base64{},{}".format, BODIES, st.sampled_from(["", " "]), st.sampled_from(["", " "]), BODIES)
)
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


# ---- images where a template prints JSON

IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": url(A)}}
JSON_CONTENTS = {
    "gpt-oss": {"role": "tool"},
    "llama3.1": {"role": "tool"},
    "llama4": {"role": "ipython"},
    "mistral-nemo-tekken": {"role": "tool", "tool_call_id": "123456789"},
}
"""For each template that prints the content of a message as JSON such a message."""
PLACES: list[tuple[Json, str]] = [
    ([{"type": "text", "text": "a"}, IMAGE], "content[1]"),
    ([{"type": "image", "data": B64, "mimeType": "image/png"}], "content[0]"),
    ([{"type": "input_image", "image_url": url(A)}], "content[0]"),
    ({"content": [IMAGE], "is_error": False}, "content.content[0]"),
]
DATA: list[Json] = [
    [{"type": "text", "text": "a"}, {"type": ["image"]}, "image", None],
    {"elements": [IMAGE]},
    {"type": "image", "content": "image"},
    "image",
    [],
]


def raw_json(name: str, content: Json) -> bytes:
    params: JsonObject = {"now": "2026-01-01"} if name == "gpt-oss" else {}
    return json.dumps({"messages": [{**JSON_CONTENTS[name], "content": content}], **params}).encode()


@pytest.mark.parametrize("name", JSON_CONTENTS)
@pytest.mark.parametrize(("content", "place"), PLACES)
def test_an_image_is_not_printed_as_json(name: str, content: Json, place: str) -> None:
    with pytest.raises(katapi.RequestError) as caught:
        katapi.load(name).decode_request(
            json.dumps({"messages": [{**JSON_CONTENTS[name], "content": content}]}).encode()
        )
    assert (caught.value.code, caught.value.where) == ("R118", f"messages[0].{place}")


def test_an_image_is_not_printed_in_the_notation_of_gemma() -> None:
    answer: Json = {"role": "assistant", "tool_responses": [{"name": "f", "response": [IMAGE]}]}
    with pytest.raises(katapi.RequestError) as caught:
        katapi.load("gemma4").decode_request(json.dumps({"messages": [answer]}).encode())
    assert (caught.value.code, caught.value.where) == ("R118", "messages[0].tool_responses[0].response[0]")


@pytest.mark.parametrize("name", JSON_CONTENTS)
@pytest.mark.parametrize("content", DATA)
def test_what_is_data_is_printed(name: str, content: Json) -> None:
    katapi.load(name).decode_request(raw_json(name, content))


LLAMA4 = program_of(ROOT / "spec" / "models" / "llama4.kata", "llama4")


@pytest.mark.parametrize("content", [*(content for content, _ in PLACES), *DATA])
def test_the_oracle_refuses_the_same_images_in_json(content: Json) -> None:
    value: Json = {"messages": [{"role": "tool", "content": content}]}
    if content in DATA:
        canonical(LLAMA4, value)
    else:
        with pytest.raises(katapi.RequestError) as caught:
            canonical(LLAMA4, value)
        assert caught.value.code == "R118"
