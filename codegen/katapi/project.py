"""Where a project keeps its specs and its generated code: `[tool.katapi]` of its pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

from katapi.runtime.errors import ArtifactError


@dataclass(frozen=True, slots=True)
class Project:
    """A project's folders; `package` is the import package of the models in `generated`."""

    root: Path
    spec: Path
    generated: Path
    package: str

    def specs(self) -> list[Path]:
        """All .kata files, in order of their paths."""
        return sorted(self.spec.rglob("*.kata"))

    def shown(self, path: Path) -> str:
        """A path as messages and generated files name it: seen from the root, with `/`."""
        return Path(relpath(path, self.root)).as_posix()

    @property
    def lock(self) -> Path:
        """The list of external artifacts."""
        return self.spec / "artifacts.lock"


def find_project(start: Path) -> Project:
    """The project that a folder belongs to: the nearest pyproject.toml with `[tool.katapi]`, there or above.

    Raises ArtifactError (A150 to A152) where there is none or its settings are wrong.
    """
    for folder in [start.resolve(), *start.resolve().parents]:
        file = folder / "pyproject.toml"
        if not file.is_file():
            continue
        document = _document(file)
        tool, project = document.get("tool"), document.get("project")
        settings = tool.get("katapi") if isinstance(tool, dict) else None
        if isinstance(settings, dict):
            return _project(folder, file, project.get("name") if isinstance(project, dict) else None, settings)
    raise ArtifactError(
        "no pyproject.toml with [tool.katapi] here or above",
        code="A150",
        where=str(start),
        help="run `katapi init DIR` to begin a project",
    )


def project_at(start: Path) -> Project | None:
    """As `find_project`, but None where there is no project. Raises ArtifactError where its settings are wrong."""
    try:
        return find_project(start)
    except ArtifactError as error:
        if error.code == "A150":
            return None
        raise


def _document(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArtifactError(f"cannot be read: {error}", code="A151", where=str(file)) from None


_KEYS = ("spec", "generated", "package")
_DEFAULTS = {"spec": "spec", "generated": "generated"}
_OWN_NAME, _OWN_PACKAGE = "katapi", "katapi_models"


def _project(root: Path, file: Path, name: object, settings: dict[str, object]) -> Project:
    values = dict(_DEFAULTS)
    for key, value in settings.items():
        if key not in _KEYS or not isinstance(value, str) or not value:
            raise ArtifactError(
                f"[tool.katapi] cannot say {key} = {value!r}",
                code="A152",
                where=str(file),
                help=f"its keys are {', '.join(_KEYS)}, each a text",
            )
        values[key] = value
    if "package" not in values:
        raise ArtifactError(
            "[tool.katapi] does not say `package`",
            code="A152",
            where=str(file),
            help='name the package that is generated: package = "my_models"',
        )
    if values["package"] == _OWN_PACKAGE and name != _OWN_NAME:
        raise ArtifactError(
            f"[tool.katapi] cannot say package = {_OWN_PACKAGE!r}: so the models that come with Katapi are called",
            code="A152",
            where=str(file),
            help="choose another name; two packages of one name would hide each other",
        )
    if not values["package"].isidentifier():
        raise ArtifactError(f"{values['package']!r} is no name of a package", code="A152", where=str(file))
    return Project(root, root / values["spec"], root / values["generated"], values["package"])
