"""What generated property tests ask of images, videos and audio: what pipelines do is what is declared."""

from __future__ import annotations

import wave
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from katapi.compile import analyse_spec
from katapi.model.images import Image
from katapi.oracle.arrivals import arrived
from katapi.oracle.images import ImageOracle, Token, together
from katapi.oracle.sounds import Sound, sound_of
from katapi.project import find_project
from katapi.runtime.audio.pipeline import AudioPipeline
from katapi.runtime.audio.recording import Recording
from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import Array
from katapi.runtime.images.film import Film
from katapi.runtime.images.frames import Frames
from katapi.runtime.images.picture import Size, Trace, check_pixels, outline
from katapi.runtime.images.pieces import Pieces, standing
from katapi.runtime.images.pipeline import ImagePipeline
from katapi.runtime.images.videos import VideoPipeline

T = TypeVar("T")

MODES = ("RGB", "L", "1", "RGBA", "LA", "P", "P with alpha", "L with a key", "RGB with a key")
"""Of 8 bits at most, and how transparency is kept."""
DEEP_MODES = ("I;16", "I", "F")
"""Grey of more than 8 bits."""
_SIDES = st.one_of(st.integers(1, 40), st.integers(1, 700))


class PictureFile(NamedTuple):
    """A small picture in a file: what is drawn, which tells of it better than its bytes."""

    height: int
    width: int
    mode: str
    orientation: int
    seed: int
    profile: bytes = b""

    def data(self) -> bytes:
        """The file: a PNG, which loses nothing, or a TIFF where a PNG cannot hold the numbers."""
        import PIL.Image  # Pillow is an extra

        random = np.random.default_rng(self.seed)
        if self.mode in DEEP_MODES:
            return self._deep(random)
        bands = {"RGB": 3, "RGBA": 4, "LA": 2}.get(self.mode.split()[0], 1)
        values = random.integers(0, 256, (self.height, self.width, bands), np.uint8)
        image = PIL.Image.fromarray(values[..., 0] if bands == 1 else values)
        mode = self.mode.split()[0]
        saved: dict[str, object] = {}
        if mode == "1":
            image = image.point([value // 128 * 255 for value in range(256)]).convert("1")
        elif mode == "P":
            image = PIL.Image.fromarray(values[..., 0], "P")
            image.putpalette(random.integers(0, 256, 768, np.uint8).tobytes())
        if self.mode == "P with alpha":
            saved["transparency"] = random.integers(0, 256, 200, np.uint8).tobytes()
        elif self.mode.endswith("a key"):
            first = tuple(int(value) for value in values[0, 0])
            saved["transparency"] = first if len(first) > 1 else first[0]
        exif = PIL.Image.Exif()
        exif[0x0112] = self.orientation
        file = BytesIO()
        image.save(file, "PNG", exif=exif, icc_profile=self.profile, **saved)
        return file.getvalue()

    def _deep(self, random: np.random.Generator) -> bytes:
        """Grey of more than 8 bits, some of it out of their range."""
        import PIL.Image  # Pillow is an extra

        shape = (self.height, self.width)
        file = BytesIO()
        if self.mode == "I;16":
            values = random.integers(0, random.choice([300, 65536]), shape, np.uint16)
            PIL.Image.fromarray(values).save(file, "PNG", icc_profile=self.profile)
        elif self.mode == "I":
            PIL.Image.fromarray(random.integers(-99, 400, shape, np.int32)).save(file, "TIFF", icc_profile=self.profile)
        else:
            reals = random.uniform(-99, 400, shape).astype(np.float32)
            reals[random.uniform(0, 1, shape) < 0.1] = np.nan
            PIL.Image.fromarray(reals).save(file, "TIFF", icc_profile=self.profile)
        return file.getvalue()


def picture_files() -> SearchStrategy[PictureFile]:
    """Files of small pictures: all modes, all orientations, with and without a colour profile."""
    modes, profiles = st.sampled_from((*MODES, *DEEP_MODES)), st.sampled_from((b"", red_for_blue()))
    return st.builds(PictureFile, _SIDES, _SIDES, modes, st.integers(1, 8), st.integers(0, 2**32 - 1), profiles)


def red_for_blue() -> bytes:
    """A colour profile that takes red for blue; empty where Pillow was built without them."""
    try:
        from PIL import ImageCms  # Pillow is an extra
    except ImportError:
        return b""
    plain = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return plain.replace(b"rXYZ", b"?XYZ").replace(b"bXYZ", b"rXYZ").replace(b"?XYZ", b"bXYZ")


def picture_sizes() -> SearchStrategy[Size]:
    """Sizes of pictures, small and large, and with sides of very different length."""
    sides = st.one_of(st.integers(1, 64), st.integers(1, 2000), st.integers(1, 12000))
    return st.builds(Size, sides, sides)


class FilmSeen(NamedTuple):
    """A film of which only its size and its times matter."""

    size: Size
    frames: int
    fps: float

    def times(self) -> list[float]:
        """When each frame is shown."""
        return [index / self.fps for index in range(self.frames)]


class FilmFrames(NamedTuple):
    """A small film: what is drawn on its frames, which are files or pixels, and how fast they are shown."""

    seen: FilmSeen
    as_files: bool
    seed: int

    def pixels(self) -> list[NDArray[np.uint8]]:
        """The frames, each uint8 [height, width, 3]."""
        random = np.random.default_rng(self.seed)
        shape = (self.seen.frames, *self.seen.size, 3)
        return [*random.integers(0, 256, shape, np.uint8)]

    def given(self) -> Frames:
        """The film as a caller gives it."""
        return Frames(files=[_png(one) if self.as_files else one for one in self.pixels()], fps=self.seen.fps)


def films_seen() -> SearchStrategy[FilmSeen]:
    """Sizes and times of films, small and large, short and long, at all rates."""
    rates = st.one_of(st.sampled_from([1.0, 2.0, 24.0, 25.0, 30000 / 1001]), st.floats(0.05, 240))
    frames = st.one_of(st.integers(1, 12), st.integers(1, 4000))
    return st.builds(FilmSeen, picture_sizes(), frames, rates)


def small_films() -> SearchStrategy[FilmFrames]:
    """Films of a few small frames."""
    sides = st.integers(1, 90)
    rates = st.sampled_from([0.5, 1.0, 2.0, 3.7, 24.0])
    seen = st.builds(FilmSeen, st.builds(Size, sides, sides), st.integers(1, 7), rates)
    return st.builds(FilmFrames, seen, st.booleans(), st.integers(0, 2**32 - 1))


def _png(pixels: NDArray[np.uint8]) -> bytes:
    import PIL.Image  # Pillow is an extra

    file = BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def declared(test: str, spec: str) -> dict[str, Image]:
    """The images that a spec declares, by their names; `test` is a file of the project that has it."""
    project = find_project(Path(test).parent)
    return {
        image.identity.name: image for library in analyse_spec(project, project.root / spec) for image in library.images
    }


def check_counts(pipeline: ImagePipeline, image: Image, size: Size) -> None:
    """Tokens and placeholder of a size are those of the declaration, and there are as many tokens as it counts."""

    def declares() -> tuple[int, list[Token]]:
        oracle = ImageOracle.of_picture(image, *size)
        return oracle.tokens, oracle.placeholder()

    def counts() -> tuple[int, list[Token]]:
        seen = outline(size, pipeline.reading.limits.pixels)
        plan = pipeline.planned(seen)
        return plan.tokens(), spread(standing(plan.placeholder()))

    _check_counts(_outcome(declares), _outcome(counts), image)


class WavFile(NamedTuple):
    """A short recording in a file: what it is made of, which tells of it better than its bytes."""

    samples: int
    width: int
    channels: int
    seed: int

    def data(self, rate: int) -> bytes:
        """The file: PCM of `width` bytes a sample."""
        file = BytesIO()
        with wave.open(file, "wb") as out:
            out.setnchannels(self.channels)
            out.setsampwidth(self.width)
            out.setframerate(rate)
            out.writeframes(np.random.default_rng(self.seed).bytes(self.samples * self.width * self.channels))
        return file.getvalue()


def wav_files() -> SearchStrategy[WavFile]:
    """Short recordings of all widths, in one channel or two."""
    return st.builds(WavFile, st.integers(1, 700), st.integers(1, 4), st.integers(1, 2), st.integers(0, 2**32 - 1))


def check_audio_counts(pipeline: AudioPipeline, image: Image, samples: int) -> None:
    """Tokens and placeholder of a length are those of the declaration, and there are as many tokens as it counts."""

    def declares() -> tuple[int, list[Token]]:
        oracle = ImageOracle(image, Sound(samples, pipeline.hearing.rate, 1))
        return oracle.tokens, oracle.placeholder()

    def counts() -> tuple[int, list[Token]]:
        plan = pipeline.planned(Recording(samples, pipeline.hearing.rate, 1))
        return plan.tokens(), spread(standing(plan.placeholder()))

    _check_counts(_outcome(declares), _outcome(counts), image)


def check_audio_arrays(pipeline: AudioPipeline, image: Image, files: Sequence[WavFile]) -> None:
    """Recordings become what the declaration says, alone and together, and their headers tell as much of them."""
    data = [file.data(pipeline.hearing.rate) for file in files]
    oracles = [ImageOracle(image, sound_of(one)) for one in data]
    apart = [oracle.arrays() for oracle in oracles]
    processed = pipeline.process(*data)
    for one, oracle, arrays, file in zip(processed.recordings, oracles, apart, data, strict=True):
        _check_equal(one.arrays, arrays)
        assert (one.tokens, spread(one.placeholder)) == (oracle.tokens, oracle.placeholder())
        measure = pipeline.measure(file)
        assert (measure.samples, measure.tokens, measure.placeholder) == (
            one.source.samples,
            one.tokens,
            one.placeholder,
        )
        assert measure.shapes == {name: array.shape for name, array in one.arrays.items()}
    _check_equal(processed.arrays, together(image, apart))


def _check_counts(expected: tuple[int, list[Token]] | str, found: tuple[int, list[Token]] | str, image: Image) -> None:
    assert found == expected
    if not isinstance(expected, str) and image.counted is not None:
        tokens, placeholder = expected
        spelling = image.counted.spelling
        assert sum(token.control and token.spelling == spelling for token in placeholder) == tokens


def check_film_counts(pipeline: VideoPipeline, image: Image, film: FilmSeen) -> None:
    """Tokens and placeholder of a film are those of the declaration, and there are as many tokens as it counts."""

    def declares() -> tuple[int, list[Token]]:
        oracle = ImageOracle.of_film(image, film.size, film.fps, film.times(), None)
        return oracle.tokens, oracle.placeholder()

    def counts() -> tuple[int, list[Token]]:
        limit = pipeline.reading.limits.pixels
        check_pixels(film.size, limit, "a frame of the film")
        plan = pipeline.planned(Film(film.size, film.fps, film.times(), Trace(limit)))
        return plan.tokens(), spread(standing(plan.placeholder()))

    _check_counts(_outcome(declares), _outcome(counts), image)


def check_film_arrays(pipeline: VideoPipeline, image: Image, films: Sequence[FilmFrames]) -> None:
    """Films become what the declaration says, alone and together, and their headers tell as much of them."""
    given = [film.given() for film in films]
    oracles = [
        ImageOracle.of_film(image, film.seen.size, film.seen.fps, film.seen.times(), film.pixels()) for film in films
    ]

    def declares() -> tuple[list[dict[str, Array]], dict[str, Array]]:
        arrays = [oracle.arrays() for oracle in oracles]
        return arrays, together(image, arrays)

    expected = _outcome(declares)
    processed = _outcome(lambda: pipeline.process(*given))
    if isinstance(expected, str) or isinstance(processed, str):
        assert processed == expected
        return
    apart, joined = expected
    for one, oracle, arrays, film in zip(processed.videos, oracles, apart, given, strict=True):
        _check_equal(one.arrays, arrays)
        assert (one.tokens, spread(one.placeholder)) == (oracle.tokens, oracle.placeholder())
        measure = pipeline.measure(film)
        assert (measure.size, measure.tokens, measure.placeholder) == (one.size, one.tokens, one.placeholder)
        assert measure.shapes == {name: array.shape for name, array in one.arrays.items()}
    _check_equal(processed.arrays, joined)


def check_arrays(pipeline: ImagePipeline, image: Image, way: str, files: Sequence[PictureFile]) -> None:
    """Pictures become what the declaration says, alone and together, and their headers tell as much of them."""
    data = [file.data() for file in files]
    pixels = [arrived(image, way, one) for one in data]
    oracles = [ImageOracle.of_picture(image, one.shape[0], one.shape[1], one) for one in pixels]
    loading = pipeline.loading(way)

    def declares() -> tuple[list[dict[str, Array]], dict[str, Array]]:
        arrays = [oracle.arrays() for oracle in oracles]
        return arrays, together(image, arrays)

    expected = _outcome(declares)
    processed = _outcome(lambda: loading.process(*data))
    if isinstance(expected, str) or isinstance(processed, str):
        assert processed == expected
        assert len(data) > 1 or _outcome(partial(loading.measure, data[0])) == expected
        return
    apart, joined = expected
    for one, oracle, arrays in zip(processed.images, oracles, apart, strict=True):
        _check_equal(one.arrays, arrays)
        assert (one.tokens, spread(one.placeholder)) == (oracle.tokens, oracle.placeholder())
    for one, file in zip(processed.images, data, strict=True):
        measure = loading.measure(file)
        assert (measure.size, measure.tokens, measure.placeholder) == (one.size, one.tokens, one.placeholder)
        assert measure.shapes == {name: array.shape for name, array in one.arrays.items()}
    _check_equal(processed.arrays, joined)


def spread(pieces: Pieces) -> list[Token]:
    """The pieces one after the other, as the oracle has them."""
    return [Token(piece.spelling, piece.control, piece.indices) for piece in pieces for _ in range(piece.count)]


def _outcome(work: Callable[[], T]) -> T | str:
    """What work gives, or the code of the error that it raises."""
    try:
        return work()
    except MediaError as error:
        return error.code


def _check_equal(found: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape), name
        assert found[name].tobytes() == array.tobytes(), name
