"""Emits `tests/test_<spec>.py` of a file of images, videos or audio: properties that each of them must keep."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.python import imports, string
from katapi.language.syntax_types import MediaKind
from katapi.model.program import Library

_TESTS: dict[MediaKind, tuple[str, dict[str, list[str]]]] = {
    MediaKind.IMAGE: (
        "image_tests.py.j2",
        {
            "katapi.runtime.images.picture": ["Size"],
            "katapi.testing_images": [
                *("PictureFile", "check_arrays", "check_counts", "declared", "picture_files", "picture_sizes"),
            ],
        },
    ),
    MediaKind.VIDEO: (
        "video_tests.py.j2",
        {
            "katapi.testing_images": [
                *("FilmFrames", "FilmSeen", "check_film_arrays", "check_film_counts", "declared"),
                *("films_seen", "small_films"),
            ],
        },
    ),
    MediaKind.AUDIO: (
        "audio_tests.py.j2",
        {
            "katapi.testing_images": [
                *("WavFile", "check_audio_arrays", "check_audio_counts", "declared", "wav_files"),
            ],
        },
    ),
}


@dataclass(frozen=True, slots=True)
class ImageTestsContext:
    """What `image_tests.py.j2` and its two siblings show."""

    name: str
    source: str
    source_literal: str
    imports: list[str]


def emit_image_tests(library: Library, package: str) -> str:
    """The text of the test module; `package` is the dotted name of what is tested."""
    template, asked = _TESTS[library.images[0].kind]
    used = {**asked, "katapi.testing": ["given"], package: ["PIPELINES"]}
    return render(
        template,
        ImageTestsContext(library.name, library.source.name, string(library.source.name), imports(used)),
    )
