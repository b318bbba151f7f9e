"""Compiles what runs compiled when a wheel is built; where that cannot be, the wheel is pure Python.

The tables of the tokenizers that the hook's setting `tables` names are derived then, and come with a compiled wheel.

KATAPI_BUILD says which wheel is wanted: `pure`; `compiled`, which fails where there is no C compiler; or nothing, for
the compiled one where a C compiler and Python's headers are. Both give the same results. An editable install is never
compiled: in a source tree, `make native` does that.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from tools import native

VARIABLE = "KATAPI_BUILD"
FORMS = ("pure", "compiled")
COMPILER = ["mypy==2.4.1", "setuptools>=77"]  # a pinned mypyc: one C code for one source


class CompiledWheel(BuildHookInterface):  # type: ignore[type-arg]  # of hatchling's own configuration
    """Adds the extensions to a wheel, and tags it for this Python and platform."""

    _folder: Path | None = None
    """Where the extensions are until they are in the wheel."""

    @property
    def _tables(self) -> list[str]:
        """The modules of the tokenizers whose tables come with a compiled wheel."""
        tables: list[str] = self.config.get("tables", [])
        return tables

    def dependencies(self) -> list[str]:
        """What the build environment needs besides hatchling."""
        if self._why_pure() is not None:
            return []
        return [*COMPILER, *(self.metadata.core.dependencies if self._tables else [])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, or say why not."""
        if version == "editable":
            return
        reason = self._why_pure()
        if reason is not None:
            self.app.display_info(f"katapi: {reason}, so this is the wheel in pure Python; its results are the same")
            return
        folder = self._folder = Path(tempfile.mkdtemp(prefix="katapi-native-"))
        try:
            made = native.compile_into(Path(self.root), folder)
            if self._tables:
                made += native.derive_into(Path(self.root), folder, self._tables)
        except native.BuildError as error:
            remedy = f"katapi: the wheel could not be compiled, see above; {VARIABLE}=pure builds one without"
            raise RuntimeError(f"{error}\n{remedy}") from None
        for path in made:
            build_data["force_include"][str(folder / path)] = path.as_posix()
        needed = native.needs(Path(self.root))
        build_data["dependencies"] += [f"{name}>={least}" for name, least in needed.items()]
        build_data["infer_tag"], build_data["pure_python"] = True, False

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what is in the wheel now."""
        if self._folder is not None:
            shutil.rmtree(self._folder)

    def _why_pure(self) -> str | None:
        wanted = os.environ.get(VARIABLE, "")
        if wanted and wanted not in FORMS:
            raise ValueError(f"{VARIABLE} is {wanted!r}; it may be {' or '.join(FORMS)}")
        if wanted == "pure":
            return f"{VARIABLE}=pure asks for it"
        if not native.sources(Path(self.root)):
            return "there is nothing to compile"
        reason = native.why_none()
        if reason is not None and wanted == "compiled":
            raise ValueError(f"{reason}, and {VARIABLE}=compiled asks for the compiled wheel")
        return reason
