"""The images and videos of a request: which bytes each part means, as far as the caller allows it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Literal, NamedTuple

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import make_read_only
from katapi.runtime.images.decoding import too_long
from katapi.runtime.images.frames import Decode, Frames
from katapi.runtime.images.sources import ImageAddress, ImageBytes, ImageFile, ImageSource
from katapi.runtime.images.video_part import FrameSources, VideoSource
from katapi.runtime.places import bare

if TYPE_CHECKING:
    from katapi.runtime.images.pieces import Pieces
    from katapi.runtime.images.pipeline import ImagePipeline, ProcessedImage
    from katapi.runtime.images.videos import ProcessedVideo, VideoPipeline
    from katapi.runtime.json_types import JsonObject

Kind = Literal["request", "attached", "file", "address"]
"""Where bytes were: in the request, beside it, in a file, or at an address."""


class NotKept(bytes):
    """Stands for the bytes of an image of which a pack has no more than the digest."""


class Medium(NamedTuple):
    """The bytes of an image that came beside the request: attached, from a file or from an address."""

    kind: str
    """`attached`, `file` or `address`."""
    name: str
    """The number of the attached image, the path or the address."""
    data: bytes
    """The bytes."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What files and addresses gave when a request was recorded; when it is done again, nothing else is asked."""

    by_name: Mapping[tuple[str, str], bytes]
    """By kind and name."""
    by_place: Mapping[str, bytes]
    """By the place of the part, where a name has given other bytes from turn to turn."""
    fault: MediaError | None
    """What was said of a part whose bytes could not be had; None where all could."""

    def of(self, kind: str, name: str, where: str) -> bytes:
        """The bytes of a part. Raises `MediaError` as it was then, or M124 where they were not kept."""
        found = self.by_place.get(where, self.by_name.get((kind, name)))
        if found is None:
            raise self.fault or not_kept(where)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """What a caller gives and allows for the images and videos of a request."""

    attached: Sequence[bytes] = ()
    """The bytes of images, for the parts that say of no source, in the order of the request."""
    films: Sequence[bytes | Frames] = ()
    """The same for videos: animated files, other files that `decode` takes apart, or frames."""
    decode: Decode | None = None
    """Takes the file of a film apart, from its bytes; None where films are frames and animated files."""
    folder: FilePath | str | None = None
    """The folder whose files a request may name; None where it may name none."""
    fetch: Callable[[str], bytes] | None = None
    """Gets the bytes from an address; None where a request may name none, since tomorrow other bytes may be there."""
    load: str | None = None
    """The way in which images come in, where it is not the first that the pipeline declares."""
    kept: Kept | None = None
    """What files and addresses gave when the request was recorded; they are not asked then."""
    found: dict[tuple[str, str], bytes] | None = None
    """Where it is put down what files and addresses give, by kind and name, so that each is asked once."""

    def __post_init__(self) -> None:
        if isinstance(self.attached, str | bytes | bytearray | memoryview) or not isinstance(self.attached, Sequence):
            raise TypeError(f"attached is a list of the bytes of images, not a {type(self.attached).__name__}")
        for one in self.attached:
            if not isinstance(one, bytes | bytearray | memoryview):
                raise TypeError(f"an image is given by the bytes of its file, not by a {type(one).__name__}")
        if self.folder == "":
            raise ValueError("folder names a folder, or is None; an empty text would be the one the process runs in")


NO_IMAGES = Images()
"""What a caller gives who gives nothing: most requests of a model that shows images have none."""


@dataclass(frozen=True, eq=False)
class GivenImage:
    """An image of a request whose bytes are at hand."""

    data: bytes
    """The bytes of the file."""
    media_type: str | None
    """What the request says that they are; None where it does not say it."""
    kind: Kind
    """Where they were."""
    name: str
    """The path or the address as the request spells it, or the number of the attached image; else empty."""
    pipeline: ImagePipeline
    """What processes it."""
    where: str
    """The place of the part in the request, as errors name it."""

    @cached_property
    def processed(self) -> ProcessedImage:
        """The image, processed once; its arrays are read-only. Raises `MediaError` M100 to M109."""
        done = self.pipeline.process_one(self.data, media_type=self.media_type, where=self.where)
        make_read_only(done.arrays)
        return done

    @property
    def measured(self) -> Pieces:
        """What stands for it, from the header of its file. Raises `MediaError` M100 to M109."""
        return self.pipeline.measure(self.data, media_type=self.media_type, where=self.where).placeholder

    @property
    def media(self) -> tuple[Medium, ...]:
        """Its bytes, where they came beside the request."""
        return () if self.kind == "request" else (Medium(self.kind, self.name, self.data),)

    def to_json(self, number: int) -> JsonObject:
        """Where the bytes come from, and which they are, as plain JSON; `number` is that of an attached image.

        Raises `MediaError` M100 to M109.
        """
        digest = self.processed.record.sha256.removeprefix("sha256:")
        name = str(number) if self.kind == "attached" else self.name
        return {"from": self.kind, "name": name, "sha256": digest, "size": len(self.data)}


@dataclass(frozen=True, eq=False)
class GivenVideo:
    """A video of a request whose frames are at hand."""

    film: bytes | Frames
    """The bytes of its file, or its frames."""
    media_type: str | None
    """What the request says that the bytes are; None where it does not say it."""
    kind: Kind
    """Where it was."""
    name: str
    """The path or the address as the request spells it, or the number of the attached film; else empty."""
    beside: tuple[Medium, ...]
    """The files of its frames that came beside the request, where it was given as such."""
    decode: Decode | None
    """What takes the file apart."""
    pipeline: VideoPipeline
    """What processes it."""
    where: str
    """The place of the part in the request, as errors name it."""

    @cached_property
    def processed(self) -> ProcessedVideo:
        """The video, processed once; its arrays are read-only. Raises `MediaError` M100 to M109 and M114 to M116."""
        done = self.pipeline.process_one(self.film, media_type=self.media_type, decode=self.decode, where=self.where)
        make_read_only(done.arrays)
        return done

    @property
    def measured(self) -> Pieces:
        """What stands for it, from its times and the header of its first frame. Raises as `processed` does."""
        seen = self.pipeline.measure(self.film, media_type=self.media_type, decode=self.decode, where=self.where)
        return seen.placeholder

    @cached_property
    def data(self) -> bytes:
        """What of the film was used, as a file: an animation as it came, otherwise the frames that were taken."""
        return self.processed.footage.kept(self.processed.sampled)

    @property
    def media(self) -> tuple[Medium, ...]:
        """What came beside the request."""
        if self.kind == "request":
            return self.beside
        name = f"video {self.name}" if self.kind == "attached" else self.name
        return (Medium(self.kind, name, self.data),)

    def to_json(self, number: int) -> JsonObject:
        """Where the frames come from, and which they are, as plain JSON; `number` is that of an attached film."""
        digest = hashlib.sha256(self.data).hexdigest()
        name = f"video {number}" if self.kind == "attached" else self.name
        return {"from": self.kind, "name": name, "sha256": digest, "size": len(self.data)}


class Bytes:
    """Gets the bytes of parts, one after the other, in the order of the request; no more are asked for than given."""

    def __init__(self, images: Images, most: int) -> None:
        self._images = images
        self._most = most  # the length of a file that is read
        self._attached = enumerate(images.attached)
        self._films = enumerate(images.films)
        self._found: dict[tuple[str, str], bytes] = {} if images.found is None else images.found

    def of(self, source: ImageSource | None, where: str) -> tuple[bytes, str | None, Kind, str]:
        """The bytes that a part means, what they are said to be, and where they were.

        Raises `MediaError` M102 for a file that is too long, M122 for an address that may not be fetched, M123 for a
        file that may not be read, and M124 where the address gives no bytes.
        """
        match source:
            case ImageBytes(data=data, media_type=media_type):
                return data, media_type, "request", ""
            case ImageAddress(address=address):
                return self._once("address", address, where, self._at), None, "address", address
            case ImageFile(path=path):
                return self._once("file", path, where, self._in_folder), None, "file", path
            case None:
                number, data = next(self._attached)
                return _had(data, where), None, "attached", str(number)

    def _once(self, kind: str, name: str, where: str, get: Callable[[str, str], bytes]) -> bytes:
        """The bytes of a file or an address, which is asked once for all parts that name it."""
        if self._images.kept is not None:
            return _had(self._images.kept.of(kind, name, where), where)
        if (kind, name) not in self._found:
            self._found[kind, name] = get(name, where)
        return self._found[kind, name]

    def film_of(self, source: VideoSource | None, pipeline: VideoPipeline, where: str) -> GivenVideo:
        """The film that a part means. Raises `MediaError` M102 and M122 to M124 as `of` does, for each frame too."""
        media_type: str | None = None
        kind: Kind = "request"
        name = ""
        beside: list[Medium] = []
        film: bytes | Frames
        match source:
            case None:
                number, film = next(self._films)
                film = _had(film, where) if isinstance(film, bytes) else film
                kind, name = "attached", str(number)
            case FrameSources(frames=frames, fps=fps):
                files: list[bytes] = []
                for index, frame in enumerate(frames):
                    data, _, of, called = self.of(frame, f"{where}.video[{index}]")
                    files.append(data)
                    if of != "request":
                        beside.append(Medium(of, called, data))
                film = Frames(files=files, fps=fps)
            case _:
                film, media_type, kind, name = self.of(source, where)
        decode = self._images.decode
        return GivenVideo(film, media_type, kind, name, tuple(beside), decode, pipeline, where)

    def _at(self, address: str, where: str) -> bytes:
        """The bytes at an address."""
        fetch = self._images.fetch
        if fetch is None:
            raise MediaError(
                f"the image is named by an address, {bare(address)}, at which other bytes may be tomorrow",
                code="M122",
                where=where,
                help="send the bytes as a data URL, attach them, or pass `fetch`, whose result the record keeps",
            )
        try:
            data: object = fetch(address)
        except Exception as error:
            raise _unfetched(address, where, f"{type(error).__name__}: {bare(str(error))}") from error
        if not isinstance(data, bytes):
            raise _unfetched(address, where, f"`fetch` gave no bytes, but a value of type {type(data).__name__}")
        return data

    def _in_folder(self, path: str, where: str) -> bytes:
        """The bytes of a file."""
        if self._images.folder is None:
            raise _unread(path, where, "no file may be read", "pass the `folder` whose files a request may name")
        asked = FilePath(path)
        try:
            folder = FilePath(self._images.folder).resolve()
            found = (folder / asked).resolve()
        except (OSError, RuntimeError, ValueError):  # of links in a circle, Python before 3.13 says the second
            raise _unread(path, where, "it cannot be followed to a file", "name a file that is there") from None
        if ".." in asked.parts or not found.is_relative_to(folder):
            raise _unread(path, where, "it is not in the folder whose files may be read", "put it there")
        try:
            with open(os.open(found, os.O_RDONLY | _CAREFULLY), "rb") as file:
                found_there = os.fstat(file.fileno())
                if not stat.S_ISREG(found_there.st_mode):
                    raise _unread(path, where, "it is no file", "name a file")
                if found_there.st_size > self._most:
                    raise too_long(found_there.st_size, self._most, where)
                return file.read(self._most + 1)  # of one that has grown enough to be refused
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise _unread(path, where, str(reason or error), "name a file that is there") from None


_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def not_kept(where: str) -> MediaError:
    """What to raise for an image of which a pack has no more than the digest: `MediaError` M124."""
    message = "the pack has the digest of this image, and not its bytes"
    help = "pass its file to the replay, or record the execution with its images"
    return MediaError(message, code="M124", where=where, help=help)


def _had(data: bytes, where: str) -> bytes:
    """The bytes, which nobody can change any more. Raises `MediaError` M124 for those that were not kept."""
    if isinstance(data, NotKept):
        raise not_kept(where)
    return bytes(data)


def _unread(path: str, where: str, why: str, help: str) -> MediaError:
    return MediaError(f"the file {bare(path)} is not read: {why}", code="M123", where=where, help=help)


def _unfetched(address: str, where: str, why: str) -> MediaError:
    help = "send the bytes as a data URL, or attach them"
    return MediaError(f"nothing was got from {bare(address)}: {why}", code="M124", where=where, help=help)
