"""Finds generated models and image pipelines by name: those that come with Katapi, and those of installed packages.

A package of models names itself in the entry-point group `katapi.models` (entry points specification of the PyPA); its
`MODELS`, `TOKENIZERS`, `IMAGES`, `VIDEOS` and `AUDIO` give the sub-package of each name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import ArtifactError
from katapi.runtime.model import Model
from katapi.runtime.text_model import text_model

if TYPE_CHECKING:
    from katapi.runtime.audio.pipeline import AudioPipeline
    from katapi.runtime.images.pipeline import ImagePipeline
    from katapi.runtime.images.videos import VideoPipeline
    from katapi.runtime.request_model import RequestModel

PipelineT = TypeVar("PipelineT")

_BUILT_IN = "katapi_models"
_GROUP = "katapi.models"


def load(name: str, package: str | None = None) -> Model[RequestModel]:
    """The generated model of a name; `package` says in which package of models to look.

    A name in `tokenizers()` has no template: its model encodes and decodes, and raises `ArtifactError` A144 for a
    request. `load_tokenizer` gives the same in a type that has no more than that.

    Raises `ArtifactError` A140 where there is no such package, A141 where none has the name, and A142 and A143 where
    what it generated is broken.
    """
    found = _found(name, package, known=models)
    return found if isinstance(found, Model) else text_model(found)


def load_tokenizer(name: str, package: str | None = None) -> DeclaredTokenizer:
    """The generated model or tokenizer of a name, for `encode` and `decode`; `package` as in `load`.

    Raises `ArtifactError` A140 to A143, as `load` does.
    """
    return _found(name, package, known=lambda package: sorted([*models(package), *tokenizers(package)]))


def models(package: str | None = None) -> list[str]:
    """The names of models, in order; `load` takes them. Raises `ArtifactError` A140 where there is no such package."""
    return sorted({name for p in _chosen(package) for name in _listed(p, "MODELS")})


def tokenizers(package: str | None = None) -> list[str]:
    """The names of tokenizers without a template, in order; `load_tokenizer` takes them and those of models.

    Raises `ArtifactError` A140 where there is no such package.
    """
    return sorted({name for p in _chosen(package) for name in _listed(p, "TOKENIZERS")})


def image_pipeline(name: str, load: str | None = None, package: str | None = None) -> ImagePipeline:
    """The generated image pipeline of a name; `package` says in which package of models to look.

    `load` names the way in which images come in, of those that the declaration has; None is the first of them.

    Raises `ArtifactError` A140 where there is no such package, A141 where none has the name, A142 and A143 where what
    it generated is broken, and A145 where the pipeline has no such way.
    """
    from katapi.runtime.images.pipeline import ImagePipeline  # only who has images needs numpy for them

    return _pipeline(name, package, ImagePipeline, "IMAGES").loading(load)


def video_pipeline(name: str, load: str | None = None, package: str | None = None) -> VideoPipeline:
    """The generated video pipeline of a name; `load` and `package` as in `image_pipeline`.

    Raises `ArtifactError` A140 to A143 and A145, as `image_pipeline` does.
    """
    from katapi.runtime.images.videos import VideoPipeline  # only who has films needs numpy for them

    return _pipeline(name, package, VideoPipeline, "VIDEOS").loading(load)


def audio_pipeline(name: str, package: str | None = None) -> AudioPipeline:
    """The generated audio pipeline of a name; `package` as in `image_pipeline`.

    Raises `ArtifactError` A140 to A143, as `image_pipeline` does.
    """
    from katapi.runtime.audio.pipeline import AudioPipeline  # only who has recordings needs numpy for them

    return _pipeline(name, package, AudioPipeline, "AUDIO")


def _pipeline(name: str, package: str | None, kind: type[PipelineT], constant: str) -> PipelineT:
    what = {"IMAGES": "image", "VIDEOS": "video", "AUDIO": "audio"}[constant]
    for candidate in _chosen(package):
        listed = _listed(candidate, constant)
        if name not in listed:
            continue
        where = f"{candidate}.{listed[name]}"
        found = getattr(_imported(where, name), "PIPELINES", {}).get(name)
        if not isinstance(found, kind):
            raise ArtifactError(f"the package {where} holds no {what} {name}", code="A142", where=name, help=_REBUILD)
        return found
    known = ", ".join(_names(package, constant)) or "none"
    raise ArtifactError(f"there is no {what} {name!r}", code="A141", where=str(name), help=f"known: {known}")


def _names(package: str | None, constant: str) -> list[str]:
    return sorted({name for p in _chosen(package) for name in _listed(p, constant)})


def image_pipelines(package: str | None = None) -> list[str]:
    """The names of image pipelines, in order; `image_pipeline` takes them.

    Raises `ArtifactError` A140 where there is no such package.
    """
    return _names(package, "IMAGES")


def video_pipelines(package: str | None = None) -> list[str]:
    """The names of video pipelines, in order; `video_pipeline` takes them. Raises `ArtifactError` A140 likewise."""
    return _names(package, "VIDEOS")


def audio_pipelines(package: str | None = None) -> list[str]:
    """The names of audio pipelines, in order; `audio_pipeline` takes them. Raises `ArtifactError` A140 likewise."""
    return _names(package, "AUDIO")


def locks() -> list[Path]:
    """The `artifacts.lock` of each package of models that has one: what its vocabularies are fetched by."""
    folders = [Path(folder) for package in _packages() for folder in import_module(package).__path__]
    return [folder / "artifacts.lock" for folder in folders if (folder / "artifacts.lock").is_file()]


def _found(name: str, package: str | None, *, known: Callable[[str | None], list[str]]) -> DeclaredTokenizer:
    if not isinstance(name, str):
        raise TypeError(f"a model is loaded by its name in a str, not by a {type(name).__name__}")
    for candidate in _chosen(package):
        listed = {**_listed(candidate, "MODELS"), **_listed(candidate, "TOKENIZERS")}
        if name not in listed:
            continue
        where = f"{candidate}.{listed[name]}"
        module = _imported(where, name)
        found = getattr(module, "MODEL", None) or getattr(module, "TOKENIZER", None)
        if not isinstance(found, DeclaredTokenizer):
            raise ArtifactError(f"the package {where} holds no model", code="A142", where=name, help=_REBUILD)
        return found
    raise ArtifactError(
        f"there is no model {name!r}", code="A141", where=name, help=f"known: {', '.join(known(package)) or 'none'}"
    )


_REBUILD = "run `katapi build`"


def _imported(where: str, name: str) -> ModuleType:
    try:
        return import_module(where)
    except (ImportError, SyntaxError) as error:
        raise ArtifactError(f"the package {where} is broken: {error}", code="A143", where=name, help=_REBUILD) from None


def _chosen(package: str | None) -> Iterable[str]:
    return [package] if package is not None else _packages()


def _packages() -> Iterator[str]:
    yield _BUILT_IN
    from importlib.metadata import entry_points  # takes 20 ms, which what comes with Katapi does without

    for entry in entry_points(group=_GROUP):
        if entry.value != _BUILT_IN:
            yield entry.value


def _listed(package: str, constant: str) -> Mapping[str, str]:
    if not isinstance(package, str):
        raise TypeError(f"a package of models is named in a str, not in a {type(package).__name__}")
    try:
        module = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.split(".")[0] and error.name != package:
            raise
        raise ArtifactError(
            f"there is no package of models {package!r}", code="A140", where=package, help=_REBUILD
        ) from None
    found = getattr(module, constant, {})
    return found if isinstance(found, dict) else {}
