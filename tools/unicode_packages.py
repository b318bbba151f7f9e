"""Unicode data of any version, from the packages `@unicode/unicode-<version>` of the npm registry, through node.

They hold the Unicode Character Database property by property. `tools/unicode_tables.py` says which are read, and how to
install them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import cast

PACKAGES = {"8.0": "2.0.7", "9.0": "2.0.7", "17.0": "2.1.0"}
"""Unicode version → version of its package."""

_MEMBERS = """
const [folder, property] = process.argv.slice(1);
const { default: points } = await import(`${folder}/${property}/code-points.mjs`);
console.log(JSON.stringify([...points]));
"""


class Packages:
    """The packages installed in one `node_modules` folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def members(self, version: str, properties: str) -> set[int]:
        """The code points that have a property, such as `General_Category/Mark`."""
        return set(cast(list[int], self._read(version, properties)))

    def mapping(self, version: str, properties: str) -> dict[int, list[int]]:
        """What a property such as `Simple_Case_Mapping/Lowercase` maps each code point to."""
        pairs = cast(list[tuple[int, int | list[int]]], self._read(version, properties))
        return {point: value if isinstance(value, list) else [value] for point, value in pairs}

    def _read(self, version: str, properties: str) -> object:
        package = self._folder / f"@unicode/unicode-{version}.0"
        installed: object = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
        if installed != PACKAGES[version]:
            raise SystemExit(f"expected {package} in version {PACKAGES[version]}, found {installed}")
        done = subprocess.run(
            ["node", "--input-type=module", "--eval", _MEMBERS, str(package), properties],
            check=True,
            capture_output=True,
            text=True,
        )
        value: object = json.loads(done.stdout)
        return value
