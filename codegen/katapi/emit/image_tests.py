"""Emits `tests/test_<spec>.py` of a file of images: properties that every picture must keep."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.python import imports, string
from katapi.model.program import Library


@dataclass(frozen=True, slots=True)
class ImageTestsContext:
    """What `image_tests.py.j2` shows."""

    name: str
    source: str
    source_literal: str
    imports: list[str]


def emit_image_tests(library: Library, package: str) -> str:
    """The text of the test module; `package` is the dotted name of what is tested."""
    used = {
        "katapi.runtime.images.picture": ["Size"],
        "katapi.testing": ["given"],
        "katapi.testing_images": [
            *("PictureFile", "check_arrays", "check_counts", "declared", "picture_files", "picture_sizes"),
        ],
        package: ["PIPELINES"],
    }
    return render(
        "image_tests.py.j2",
        ImageTestsContext(library.name, library.source.name, string(library.source.name), imports(used)),
    )
