"""The vocabularies that are compared, and the files that peers read them from.

The official file is taken where `spec/artifacts.lock` names it: from the cache, an installed package, or the place that
`katapi fetch` gets it from. Ranks are written out of the vocabulary that Katapi itself uses, as a `.tiktoken` file; for
two vocabularies, whose official tokenizer.json no package has, that file is made of it too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Unavailable(Exception):
    """A peer cannot be measured with a vocabulary; the text says why."""


class Vocabulary(NamedTuple):
    """A vocabulary as the peers take it. It can be written as JSON, for processes that import no Katapi."""

    title: str
    katapi: str
    """What `katapi.load_tokenizer` takes."""
    pattern: str | None
    """How text is cut into pieces, as one pattern in the dialect of tiktoken; None where one pattern cannot say it."""
    files: Mapping[str, str]
    """Paths by kind: `json` a tokenizer.json, `normalized` one without `Metaspace`, `ranks` a .tiktoken file, `tekken`,
    `sentencepiece`."""
    missing: Mapping[str, str]
    """Why there is no file of a kind."""
    names: Mapping[str, str]
    """What peers that carry vocabularies of their own, or patterns, call this one."""

    def file(self, kind: str) -> str:
        """The path of the file of a kind. Raises Unavailable."""
        if kind not in self.files:
            raise Unavailable(self.missing.get(kind, f"there is no {kind} file of it"))
        return self.files[kind]

    def name_for(self, peer: str) -> str:
        """What a peer calls it. Raises Unavailable."""
        if peer not in self.names:
            raise Unavailable("has no such vocabulary")
        return self.names[peer]

    def pattern_for_tiktoken(self) -> str:
        """The pattern. Raises Unavailable."""
        if self.pattern is None:
            raise Unavailable("no pattern, byte-level vocabularies only")
        return self.pattern


# DeepSeek cuts three times, numerals and then Han and kana first. As one pattern: what the third cut says of the end of
# a text holds before those too, and a character that no cut takes stays a piece, which tiktoken would leave out.
_CJK = r"一-龥\x{3040}-ゟ゠-ヿ"
_DEEPSEEK = (
    r"\p{N}{1,3}"
    rf"|[{_CJK}]+"
    r"|[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
    rf"|[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}]?[[\p{{L}}\p{{M}}]&&[^{_CJK}]]+"
    rf"| ?[[\p{{P}}\p{{S}}]&&[^{_CJK}]]+[\r\n]*"
    rf"|\s*[\r\n]+|\s+(?=[\p{{N}}{_CJK}])|\s+(?!\S)|\s+"
    rf"|[^\s\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}{_CJK}]+"
)


class Declared(NamedTuple):
    """Where a vocabulary's files come from."""

    title: str
    katapi: str
    ranks: range = range(0)
    """The ids that are ranks."""
    artifacts: Mapping[str, str] = {}
    """Official files by kind, by their names in the lock; `own` is what Katapi's table is made of, if another."""
    names: Mapping[str, str] = {}
    as_one: str | None = None
    """One pattern for several."""


DECLARED = {
    "qwen3": Declared(
        "Qwen3",
        "qwen",
        range(151_643),
        {"json": "qwen3/tokenizer.json"},
        {"quicktok": "qwen3"},
    ),
    "cl100k": Declared(
        "cl100k",
        "cl100k_base",
        range(100_256),
        names={"quicktok": "cl100k_base", "bpe-openai": "cl100k_base", "gigatoken": "gpt4", "fastokens": "cl100k_base"},
    ),
    "o200k": Declared(
        "o200k",
        "o200k_base",
        range(199_998),
        {"json": "gpt-oss/tokenizer.json"},
        {"quicktok": "o200k_base", "bpe-openai": "o200k_base", "gigatoken": "o200k", "fastokens": "o200k_base"},
    ),
    "llama3": Declared(
        "Llama 3",
        "llama3.1-tokens",
        range(128_000),
        {"json": "llama3.1/tokenizer.json", "own": "llama3/tokenizer.model"},
        {"quicktok": "llama3"},
    ),
    "deepseek": Declared(
        "DeepSeek",
        "deepseek-v3-tokens",
        range(3, 128_000),
        {"json": "deepseek-v3/tokenizer.json"},
        as_one=_DEEPSEEK,
    ),
    "gemma3": Declared("Gemma 3", "gemma3-tokens", artifacts={"json": "gemma3/tokenizer.json"}),
    "tekken": Declared(
        "Mistral tekken",
        "mistral-nemo-tokens",
        range(1000, 131_072),
        {"json": "mistral-nemo/tokenizer.json", "tekken": "mistral/tekken_240718.json"},
    ),
    "mistral": Declared("Mistral SPM", "mistral-v3-tokens", artifacts={"sentencepiece": "mistral/tokenizer.model.v3"}),
}


def prepared(name: str, folder: Path) -> Vocabulary:
    """A vocabulary with its files in `folder`. Raises Unavailable where Katapi has none of it on this machine."""
    import katapi
    from katapi.artifacts.fetch import artifact_bytes
    from katapi.artifacts.lock import read_lock
    from tools.benchmarks.tokenizer_json import of_ranks, of_sentencepiece

    declared = DECLARED[name]
    pattern = pattern_of(declared)
    lock = read_lock(ROOT / "spec/artifacts.lock")
    files: dict[str, str] = {}
    missing: dict[str, str] = {}

    def written(kind: str, file: str, content: bytes) -> None:
        path = folder / file
        path.write_bytes(content)
        files[kind] = str(path)

    for kind, artifact in declared.artifacts.items():
        try:
            written(kind, f"{name}-{artifact.rpartition('/')[2]}", artifact_bytes(artifact, lock))
        except katapi.ArtifactError as error:
            missing[kind] = f"{artifact} is not at hand ({error.code})"
    tokenizer = katapi.load_tokenizer(declared.katapi)
    try:
        tokenizer.encode("Hello there")
    except katapi.ArtifactError as error:
        raise Unavailable(f"Katapi has no table of it: {error.message}") from None
    if declared.ranks:
        tokens = {id: tokenizer.decode([id]) for id in declared.ranks}
        lines = (b"%s %d\n" % (base64.b64encode(token), id) for id, token in tokens.items())
        written("ranks", f"{name}.tiktoken", b"".join(lines))
        if "json" not in declared.artifacts and pattern is not None:
            content = of_ranks({token: id for id, token in tokens.items()}, pattern)
            written("json", f"{name}.json", json.dumps(content).encode())
    if "sentencepiece" in files:
        model = Path(files["sentencepiece"]).read_bytes()
        for kind, normalized in (("json", False), ("normalized", True)):
            content = of_sentencepiece(model, normalized=normalized)
            written(kind, f"{name}-{kind}.json", json.dumps(content).encode())
    return Vocabulary(declared.title, declared.katapi, pattern, files, missing, declared.names)


def pattern_of(declared: Declared) -> str | None:
    """The pattern that the generated tokenizer declares, where it is one; `as_one` where that is given."""
    from katapi.runtime.tokenization.configuration import Regex

    package = declared.katapi.replace("-", "_").replace(".", "_")
    pattern = getattr(import_module(f"katapi_models.{package}.tokenizer"), "PATTERN", None)
    return pattern.source if declared.as_one is None and isinstance(pattern, Regex) else declared.as_one
