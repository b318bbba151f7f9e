"""The part of a message that carries a video: what generated records with the line `video` are built from.

A video is a list of frames, or one file::

    {"type": "video", "video": ["frames/0.png", "data:image/png;base64,…"], "fps": 2.0}
    {"type": "video", "video": "clip.gif"}     also as "url", "path" or "base64"
    {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,…"}}
    {"type": "video"}                          the next one of the films that are attached
"""

from __future__ import annotations

from typing import TypeAlias

from pydantic import PrivateAttr, model_validator

from katapi.runtime.dataclass import dataclass
from katapi.runtime.fields import NumberField, refuse
from katapi.runtime.images.part import Carries
from katapi.runtime.images.sources import ImageSource, bytes_of, file_of, source_of
from katapi.runtime.places import quoted
from katapi.runtime.request_model import Items, RequestModel
from katapi.runtime.segments import Content

_SOURCES = ("video", "video_url", "url", "path", "base64")
WIRE_NAMES = (*_SOURCES, "fps")
"""The keys by which a part may say what its video is, one of them at most, and how fast its frames are shown."""


@dataclass(frozen=True, slots=True)
class FrameSources:
    """Where the frames of a video come from, one after the other."""

    frames: tuple[ImageSource, ...]
    """The place of each."""
    fps: float | None
    """How many of them are shown in a second; None where the part does not say it."""


VideoSource: TypeAlias = ImageSource | FrameSources
"""Where the bytes of a video come from: one file, or one for each frame."""


class VideoUrl(RequestModel):
    """The value of `video_url`: the `url`."""

    url: Content


class CarriesVideo(Carries):
    """A part that carries a video, under one of its keys: `video`, `video_url`, `url`, `path`, `base64`.

    `fps` says how many frames are shown in a second, where `video` is a list of frames. `RequestError` R116 where that
    says of no bytes, and R117 where it comes in two forms.
    """

    video: Content | Items[Content] | None = None
    video_url: Content | VideoUrl | None = None
    url: Content | None = None
    path: Content | None = None
    base64: Content | None = None
    fps: NumberField | None = None
    _comes_from: VideoSource | None = PrivateAttr(default=None)

    @property
    def comes_from(self) -> VideoSource | None:
        """Where the bytes come from; None where the part does not say it."""
        return self._comes_from

    @property
    def says_where(self) -> bool:
        """Whether it says where the bytes come from."""
        return self._comes_from is not None

    @model_validator(mode="after")
    def _read(self) -> CarriesVideo:
        self._comes_from = _source(self)
        return self


def _source(part: CarriesVideo) -> VideoSource | None:
    given = [name for name in _SOURCES if getattr(part, name) is not None]
    if len(given) > 1:
        message = f"a part carries one video, and this one has {quoted(given[0])} and {quoted(given[1])}"
        raise refuse("R117", message, help="send a part for each video", within=(given[1],))
    if part.fps is not None and (not isinstance(part.video, tuple) or part.fps <= 0):
        message = "`fps` says how many frames of a list are shown in a second, more than none"
        help = "leave it out beside a file, which says it by itself: which frames are taken is declared"
        raise refuse("R116", message, help=help, within=("fps",))
    if isinstance(part.video, tuple):
        if not part.video:
            raise refuse("R116", "a video has frames", help="send at least one", within=("video",))
        frames = tuple(source_of(frame, ("video", index)) for index, frame in enumerate(part.video))
        return FrameSources(frames, None if part.fps is None else float(part.fps))
    if part.video is not None:
        return source_of(part.video, ("video",))
    if isinstance(part.video_url, VideoUrl):
        return source_of(part.video_url.url, ("video_url", "url"))
    if part.video_url is not None:
        return source_of(part.video_url, ("video_url",))
    if part.url is not None:
        return source_of(part.url, ("url",))
    if part.path is not None:
        return file_of(part.path, ("path",))
    if part.base64 is not None:
        return bytes_of(part.base64, None, ("base64",))
    return None
