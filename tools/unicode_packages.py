"""Unicode data of any version, from the packages `@unicode/unicode-<version>` of the npm registry, through node.

They hold the Unicode Character Database property by property. `tools/unicode_tables.py` says which are read, and how to
install them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import cast

PACKAGES = dict.fromkeys("8.0 9.0 10.0 11.0 12.0 12.1 13.0 14.0 15.0 15.1 16.0".split(), "2.0.7") | {"17.0": "2.1.0"}
"""Unicode version → version of its package, oldest first."""

# All values of a property at once; a binary property is a folder of code points itself.
_MEMBERS = """
import { existsSync, readdirSync } from 'node:fs';
const [property] = process.argv.slice(1);
const read = async (folder) => [...(await import(`${folder}/code-points.mjs`)).default];
const values = {};
if (existsSync(`${property}/code-points.mjs`)) values[''] = await read(property);
else for (const entry of readdirSync(property, { withFileTypes: true }))
  if (entry.isDirectory()) values[entry.name] = await read(`${property}/${entry.name}`);
console.log(JSON.stringify(values));
"""
_MAPPING = """
const [property] = process.argv.slice(1);
const { default: points } = await import(`${property}/code-points.mjs`);
console.log(JSON.stringify([...points]));
"""


class Packages:
    """The packages installed in one `node_modules` folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def values(self, version: str, name: str) -> dict[str, set[int]]:
        """Each value of a property such as `Script`, and the code points that have it."""
        read = cast(dict[str, list[int]], self._read(version, name, _MEMBERS))
        return {value: set(points) for value, points in read.items()}

    def members(self, version: str, name: str) -> set[int]:
        """The code points that have a property, such as `Binary_Property/White_Space`."""
        return self.values(version, name)[""]

    def mapping(self, version: str, name: str) -> dict[int, list[int]]:
        """What a property such as `Simple_Case_Mapping/Lowercase` maps each code point to."""
        pairs = cast(list[tuple[int, int | list[int]]], self._read(version, name, _MAPPING))
        return {point: value if isinstance(value, list) else [value] for point, value in pairs}

    def _read(self, version: str, name: str, script: str) -> object:
        package = self._folder / f"@unicode/unicode-{version}.0"
        installed: object = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
        if installed != PACKAGES[version]:
            raise SystemExit(f"expected {package} in version {PACKAGES[version]}, found {installed}")
        done = subprocess.run(
            ["node", "--input-type=module", "--eval", script, str(package.resolve() / name)],
            check=True,
            capture_output=True,
            text=True,
        )
        value: object = json.loads(done.stdout)
        return value
