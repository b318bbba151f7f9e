"""Tokenizer files of every format: imported, built and loaded they give what the files themselves give."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.analyse import analyse
from katapi.importing.declarable import declarable
from katapi.language.source import Source
from katapi.model.program import TokenizerProgram
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.tokenization.configuration import added_tokens
from tests.artifacts import test_gguf, test_tekken
from tests.command import ROOT, here

DATA = ROOT / "tests" / "artifacts" / "data"
PATTERN = r"\p{L}+|[^\p{L}`]+|`"
PACKAGE = "round_trips_models"


class Case(TypedDict):
    """What an official library gave for a text."""

    text: str
    ids: list[int]
    ids_special: NotRequired[list[int]]
    decoded: NotRequired[str]


CASES = cast(dict[str, list[Case]], json.loads((DATA / "cases.json").read_text(encoding="utf-8")))
TEXTS = [case["text"] for case in CASES["split.tokenizer.json"]]


def unnamed_unknown() -> bytes:
    """A tokenizer.json whose unknown token is no added token, so that text can spell it, and one that is text."""
    tokens = [["<unk>", 0.0], ["▁", -2.0], ["a", -2.0], ["▁a", -1.0], ["<", -3.0], ["u", -3.0], ["\n", -4.0]]
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    return json.dumps(
        {
            "added_tokens": [{"id": 6, "content": "\n", **added}, {"id": 8, "content": "  ", **added}],
            "normalizer": {"type": "Strip", "strip_left": False, "strip_right": False},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
            "post_processor": None,
            "decoder": None,
            "model": {"type": "Unigram", "unk_id": 0, "vocab": tokens},
        }
    ).encode()


FILES = {
    **{name: (DATA / name).read_bytes() for name in CASES},
    "byte_level.gguf": test_gguf.gguf(test_gguf.BYTE_LEVEL),
    "falcon.gguf": test_gguf.gguf({**test_gguf.BYTE_LEVEL, **test_gguf.keys(pre="falcon")}),
    "pieces.gguf": test_gguf.gguf(test_gguf.PIECES),
    "unigram.gguf": test_gguf.gguf(test_gguf.UNIGRAM),
    "tekken.json": json.dumps(test_tekken.document()).encode(),
    "ranks.tiktoken": b"".join(
        b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(test_tekken.TOKENS)
    ),
    "unnamed_unknown.json": unnamed_unknown(),
}
NAMES = {name: name.replace(".", "_") for name in FILES}


@dataclass(frozen=True)
class Imported:
    """A project with a specification for every file, built."""

    folder: Path
    generated: dict[str, DeclaredTokenizer]
    official: dict[str, katapi.FileTokenizer]

    def spec(self, name: str) -> str:
        """The specification that was written for a file."""
        return (self.folder / "spec" / f"{NAMES[name]}.kata").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    folder = tmp_path_factory.mktemp("projects") / "round_trips"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATAPI_CACHE", str(folder / "cache"))
        assert here("init", str(folder)).status == 0
        (folder / "spec" / "hello.kata").unlink()
        (folder / "files").mkdir()
        official: dict[str, katapi.FileTokenizer] = {}
        for name, data in FILES.items():
            (folder / "files" / name).write_bytes(data)
            pattern = PATTERN if name.endswith(".tiktoken") else None
            options = [] if pattern is None else ["--pattern", pattern]
            done = here("import", "tokenizer", f"files/{name}", "-o", f"spec/{NAMES[name]}.kata", *options, cwd=folder)
            assert done.status == 0, done.err
            assert ("lists no control tokens" in done.err) is (pattern is not None)
            official[name] = katapi.tokenizer_from_file(folder / "files" / name, pattern=pattern)
        assert here("fmt", "--check", cwd=folder).status == 0
        built = here("build", cwd=folder)
        assert (built.status, built.err) == (0, "")
        patch.syspath_prepend(str(folder / "generated"))
        generated: dict[str, DeclaredTokenizer] = {}
        for name in FILES:
            tokenizer = katapi.load_tokenizer(NAMES[name], PACKAGE)
            assert isinstance(tokenizer, DeclaredTokenizer)
            generated[name] = tokenizer
        yield Imported(folder, generated, official)
        for module in [module for module in sys.modules if module.partition(".")[0] == PACKAGE]:
            del sys.modules[module]


@pytest.mark.parametrize("name", FILES)
def test_the_declaration_is_the_configuration_of_the_file(imported: Imported, name: str) -> None:
    (program,) = analyse(NAMES[name], Source(name, imported.spec(name)))
    assert isinstance(program, TokenizerProgram)
    expected = declarable(imported.official[name].configuration)
    # Of added tokens a program tells the runtime only what it needs: not how an official tokenizer looks for them.
    controls = {token.id: token.content for token in expected.added_tokens if token.control}
    texts = {token.id: token.content for token in expected.added_tokens if not token.control}
    if name == "unnamed_unknown.json":
        texts[0] = "<unk>"
    found = program.configuration()
    assert {*found.added_tokens} == {*added_tokens(controls, texts)}
    assert replace(found, added_tokens=()) == replace(expected, added_tokens=())


@pytest.mark.parametrize("name", CASES)
def test_ids_and_texts_are_those_of_the_official_library(imported: Imported, name: str) -> None:
    subject = imported.generated[name]
    for case in CASES[name]:
        assert subject.encode(case["text"]) == case["ids"], case["text"]
        if "ids_special" in case:
            assert subject.encode(case["text"], post_process=True) == case["ids_special"]
        if "decoded" in case:
            assert subject.decode_text(case["ids"]) == case["decoded"]


@pytest.mark.parametrize("name", FILES)
def test_ids_and_texts_are_those_of_the_file(imported: Imported, name: str) -> None:
    subject, official = imported.generated[name], imported.official[name]
    spellings = [token.content for token in official.configuration.added_tokens]
    for text in [*TEXTS, "<unk>", *spellings, "a".join(spellings)]:
        ids = official.encode(text, post_process=True)
        assert subject.encode(text, post_process=True) == ids, text
        assert subject.decode(ids) == official.decode(ids)


@given(st.data())
def test_ids_of_any_text_are_those_of_the_file(imported: Imported, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*FILES]))
    text = data.draw(st.text(st.sampled_from("aab <unk>|\n▁'0é") | st.characters(exclude_categories=["Cs"])))
    assert imported.generated[name].encode(text) == imported.official[name].encode(text)


@pytest.mark.parametrize("name", FILES)
def test_every_id_decodes_as_in_the_file(imported: Imported, name: str) -> None:
    subject, official = imported.generated[name], imported.official[name]
    size = int(next(line for line in imported.spec(name).splitlines() if line.startswith("  size ")).split()[1])
    for token in range(size):
        if f"unused {token}\n" not in imported.spec(name):
            assert subject.decode([token]) == official.decode([token])
