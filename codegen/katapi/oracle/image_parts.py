"""What a part of a request says of its image or video, checked; of these themselves a template sees nothing.

| code                | fault                                  |
| ------------------- | -------------------------------------- |
| R110 to R114        | a value of another shape               |
| R105                | a rate that is not finite              |
| R116                | a text that says of no image where     |
| R117                | one part says it in two ways           |
| R118                | a part stands where JSON is printed    |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.segments import Path

KEYS = ("image", "image_url", "source", "url", "path", "base64")
"""The keys that may say what an image is."""
VIDEO_KEYS = ("video", "video_url", "url", "path", "base64", "fps")
"""The keys that may say what a video is, and how fast its frames are shown."""
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")
_AROUND = "".join(chr(code) for code in range(33))  # what may stand around a URL and is no part of it
_PERCENT = re.compile("%([0-9A-Fa-f]{2})")
_DATA = re.compile(r"data:[^,]*?(?P<base64>; *base64[\t\n\f\r ]*)?,(?P<body>[^#]*)", re.IGNORECASE)


def check_image(body: JsonObject, path: Path) -> None:
    """Raises `RequestError` where the keys of a part do not say where its image comes from."""
    given = [key for key in KEYS if body.get(key) is not None]
    for key in given:
        _check(key, body[key], (*path, key))
    if len(given) > 1:
        raise _fault("R117", (*path, given[1]))
    if given:
        _check_bytes(given[0], body[given[0]], (*path, given[0]))


def check_no_image(value: Json, path: Path) -> None:
    """Raises `RequestError` where an image is one of the parts of a JSON value, or of its `content`."""
    if isinstance(value, Mapping):
        value, path = value.get("content"), (*path, "content")
    if isinstance(value, str) or not isinstance(value, Sequence):
        return
    for index, part in enumerate(value):
        if isinstance(part, Mapping) and part.get("type") in ("image", "image_url", "input_image"):
            raise _fault("R118", (*path, index))


def check_video(body: JsonObject, path: Path) -> None:
    """Raises `RequestError` where the keys of a part do not say where its video comes from."""
    given = [key for key in VIDEO_KEYS[:-1] if body.get(key) is not None]
    for key in given:
        value = body[key]
        if key == "video" and isinstance(value, Sequence) and not isinstance(value, str):
            for index, frame in enumerate(value):
                if not isinstance(frame, str):
                    raise _fault("R113", (*path, key, index))
        elif key == "video_url" and isinstance(value, Mapping):
            for unknown in value.keys() - {"url"}:
                raise _fault("R111", (*path, key, unknown))
            _text(value, "url", (*path, key))
        elif not isinstance(value, str):
            raise _fault("R113", (*path, key))
    rate = body.get("fps")
    if rate is not None and (not isinstance(rate, int | float) or isinstance(rate, bool)):
        raise _fault("R113", (*path, "fps"))
    if isinstance(rate, float) and not math.isfinite(rate):
        raise _fault("R105", (*path, "fps"))
    if len(given) > 1:
        raise _fault("R117", (*path, given[1]))
    frames = body["video"] if given == ["video"] else None
    listed = isinstance(frames, Sequence) and not isinstance(frames, str)
    if rate is not None and (not listed or rate <= 0):
        raise _fault("R116", (*path, "fps"))
    if isinstance(frames, Sequence) and not isinstance(frames, str):
        if not frames:
            raise _fault("R116", (*path, "video"))
        for index, frame in enumerate(frames):
            _check_bytes("video", frame, (*path, "video", index))
    elif given:
        _check_bytes(given[0], body[given[0]], (*path, given[0]))


def _check(key: str, value: Json, path: Path) -> None:
    """The shape of a value, whatever its texts say."""
    if isinstance(value, str) and key != "source":
        return
    if not isinstance(value, Mapping) or key not in ("image_url", "source"):
        raise _fault("R113", path)
    keys = {"url", "detail"}
    if key == "source":
        kind = _text(value, "type", path)
        if kind not in ("base64", "url"):
            raise _fault("R110", (*path, "type"))
        keys = {"type", "url"} if kind == "url" else {"type", "media_type", "data"}
    for unknown in value.keys() - keys:
        raise _fault("R111", (*path, unknown))
    for name in sorted(keys - {"detail"}):
        _text(value, name, path)
    if value.get("detail") not in (None, "auto", "low", "high", "original"):
        raise _fault("R114", (*path, "detail"))


def _check_bytes(key: str, value: Json, path: Path) -> None:
    """What the one text says that tells where the image comes from."""
    if isinstance(value, Mapping):
        data = value.get("type") == "base64"
        key, value = ("base64", value["data"]) if data else ("url", value["url"])
    assert isinstance(value, str), "the shape was checked before"
    lower = value.lstrip(_AROUND)[:5].lower()
    if key == "base64":
        _check_base64(value, path)
    elif key != "path" and lower == "data:":
        url = _DATA.match(re.sub("[\t\n\r]", "", value.strip(_AROUND)))
        if url is None:
            raise _fault("R116", path)
        body = _PERCENT.sub(lambda found: chr(int(found[1], 16)), url["body"])
        if url["base64"]:
            _check_base64(body, path)
        elif not body:
            raise _fault("R116", path)
    elif key != "path" and lower == "file:":
        try:
            parts = urlsplit(value.strip(_AROUND))
        except ValueError:
            raise _fault("R116", path) from None
        if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or not parts.path:
            raise _fault("R116", path)
    elif not value or "\0" in value:
        raise _fault("R116", path)


def _check_base64(text: str, path: Path) -> None:
    """Some bytes in base64, wherever white space stands in it, with or without its padding."""
    digits = re.sub("[\t\n\f\r ]", "", text)
    if not digits or not _BASE64.fullmatch(digits):
        raise _fault("R116", path)


def _text(value: Mapping[str, Json], key: str, path: Path) -> str:
    if key not in value:
        raise _fault("R112", (*path, key))
    found = value[key]
    if not isinstance(found, str):
        raise _fault("R113", (*path, key))
    return found


def _fault(code: str, path: Path) -> RequestError:
    return RequestError("no image can be read here", code=code, where="/".join(map(str, path)))
