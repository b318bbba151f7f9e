"""`docs/errors.md`: what a row describes in words is done here, and gives the code of the row.

The examples that are calls are run by `tests/request/test_errors_document.py`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import pytest
import tokenizers
from PIL import Image
from pydantic import Field

import katapi
from katapi.artifacts.cache import Cache
from katapi.artifacts.lock import read_lock
from katapi.artifacts.lock_entry import LockEntry
from katapi.artifacts.table import table_bytes
from katapi.artifacts.vocabularies import cached_vocabulary
from katapi.cli.diffing import parse_ids
from katapi.compile import compile_project
from katapi.importing.tokenizer import declared_text
from katapi.oracle.segment import Known, segmented
from katapi.packs.archive import MANIFEST, write_archive
from katapi.packs.replay import check_fixture
from katapi.project import find_project
from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.boundaries import Boundary, guarded
from katapi.runtime.fields import DateField
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Limits, Reading
from katapi.runtime.images.geometry import crop
from katapi.runtime.images.picture import Size
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Unreadable
from katapi.runtime.model_input import ModelInput
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.request_model import RequestModel, decode_request
from katapi.runtime.segments import Content
from katapi.runtime.serialization import Serialization
from katapi.runtime.tokenization.build import build_segmenter
from katapi.runtime.tokenization.build_stages import build_matcher
from katapi.runtime.tokenization.configuration import BytePairRanks, Regex, UnicodeVersions, WordPiece
from katapi.runtime.tokenization.table import load_table, read_table
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from tests.images import shown
from tests.images.pictures import file_of, noise, picture, pipeline, png
from tests.images.test_audio import pcm
from tests.request.test_errors_document import CLASSES, EXAMPLES, ROWS
from tests.vocabularies import words

DATA = Path(__file__).parent / "data"
PACK = Path(__file__).parents[1] / "packs" / "data" / "fixture-1.pack"
BOOK = (Path(__file__).parents[2] / "spec" / "book.kata").read_bytes()
BYTES = b"".join(b"%s %d\n" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))
"""A `.tiktoken` file: the 256 bytes, each by its own number."""

BYTE_LEVEL = json.loads((DATA / "byte_level.tokenizer.json").read_text("utf-8"))
"""A small tokenizer.json with two added tokens, 0 `<|endoftext|>` and 500 `<tool>`."""


class Dated(RequestModel):
    """A request with a date."""

    now: DateField


class Short(RequestModel):
    """A request with a rule of pydantic's own."""

    name: Annotated[str, Field(max_length=1)]


def changed(**members: Json) -> bytes:
    """The small tokenizer.json with other members."""
    return json.dumps(BYTE_LEVEL | members).encode()


def read(data: bytes, pattern: str | None = None) -> Callable[[Path], object]:
    """Reads a tokenizer file."""

    def act(folder: Path) -> object:
        (folder / "file").write_bytes(data)
        return katapi.tokenizer_from_file(folder / "file", pattern=pattern)

    return act


def spec(
    *rows: str,
    file: bytes | None = BYTES,
    segment: str = "bpe ranks",
    name: str = "file",
    digest: str = "",
    decode: str = "bytes",
    size: int = 256,
) -> Callable[[Path], object]:
    """Builds a project whose one spec is over a file, or over one that is not there; `rows` stand in its vocabulary."""

    def act(folder: Path) -> object:
        sha256 = hashlib.sha256(file or b"").hexdigest()
        (folder / "spec").mkdir()
        if file is not None:
            (folder / "spec" / "file").write_bytes(file)
        entry = LockEntry("file", sha256, len(file or b"1"), "MIT", "file")
        (folder / "spec" / "artifacts.lock").write_text(entry.text(), "utf-8")
        lines = [f'artifact "{name}" sha256 "{digest or sha256}"', f"size {size}", *rows]
        stages = ["normalize: none", "pretokenize: none", f"segment: {segment}", "post: none", f"decode: {decode}"]
        text = 'vocabulary X version "1" {\n  ' + "\n  ".join(lines) + "\n}\n\n"
        text += 'tokenizer X version "1" over X {\n  ' + "\n  ".join(stages) + "\n}\n"
        return project(folder, {"x.kata": text.encode()})

    return act


def lent(folder: Path) -> object:
    """Builds a project that uses a tokenizer from outside of its specs."""
    tokenizer, request, template = BOOK.partition(b"request Book")
    (folder / "other.kata").write_bytes(tokenizer)
    return project(folder, {"x.kata": b'use "../other.kata"\n\n' + request + template})


def project(folder: Path, specs: dict[str, bytes], settings: str = 'package = "mine"') -> object:
    """Builds a project of some specs."""
    (folder / "pyproject.toml").write_text(f"[tool.katapi]\n{settings}\n", "utf-8")
    for name, text in specs.items():
        (folder / "spec" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "spec" / name).write_bytes(text)
    return compile_project(find_project(folder))


def package(files: dict[str, str]) -> Callable[[Path], object]:
    """Loads the model `x` of a package of models."""

    def act(folder: Path) -> object:
        for name, text in files.items():
            (folder / "made_models" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "made_models" / name).write_text(text, "utf-8")
        return katapi.load("x", "made_models")

    return act


def imported(data: bytes) -> Callable[[Path], object]:
    """The declaration of a tokenizer file."""
    return lambda folder: declared_text(read_tokenizer_file(data, where="f"), name="X", artifact="f", sha256="0" * 64)


def printed(value: object, **choices: str) -> Callable[[Path], object]:
    """A value as JSON."""
    rules = {
        "order": "as_received",
        "floats": "python",
        "integers": "exact",
        "nan": "reject",
        "absent": "null",
    } | choices
    serialization = Serialization(item_separator=",", key_separator=":", indent=None, escape=(), **rules)  # type: ignore[arg-type]  # the choices are words
    return lambda folder: serialization.dump(value)  # type: ignore[arg-type]  # some are no JSON


def nested(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


def with_merges(vocabulary: dict[str, int]) -> bytes:
    """A tokenizer.json whose one merge joins `a` and `b`."""
    whole = {**vocabulary, "ab": len(vocabulary)}
    document = json.loads(tokenizers.Tokenizer(tokenizers.models.BPE(whole, [("a", "b")])).to_str())
    document["model"]["vocab"] = {**vocabulary, "c": len(vocabulary)}
    return json.dumps(document).encode()


def with_merges_in_another_order() -> bytes:
    """A tokenizer.json of the 256 bytes, in which the token of the higher id is merged first."""
    vocabulary = {
        letter: number for number, letter in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    }
    model = tokenizers.models.BPE({**vocabulary, "ab": 256, "bc": 257}, [("b", "c"), ("a", "b")])
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    return made.to_str().encode()


def template(token: str) -> Json:
    """A post-processor that puts a token in front."""
    special = {token: {"id": token, "ids": [BYTE_LEVEL["model"]["vocab"][token]], "tokens": [token]}}
    single: Json = [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}


def half(table: bytes) -> bytes:
    return table[: len(table) // 2]


def unusable(folder: Path) -> object:
    (folder / "cache").write_bytes(b"a file where a folder should be")
    return Cache(folder / "cache").put(b"data")


SERIAL = {"integers": "rounded", "nan": "reject"}
TABLE = table_bytes(VocabularyData(Tokens.of([b"a", b"b"])), artifact="0" * 64)
UNIGRAM = tokenizers.Tokenizer(tokenizers.models.Unigram([("a", -1.0)], None, False)).to_str().encode()
GGUF = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)
PIECES = (DATA / "unigram.model").read_bytes()


def extended(name: str, message: JsonObject) -> ModelInput:
    """A first turn of a model, and a reply, with a message behind them."""
    model = katapi.load(name)
    prompt = model.assemble(b'{"messages": [{"role": "user", "content": "a"}]}')
    return model.extend(prompt, model.encode("b"), [message])


GREY = png(noise(4, 4, 1)[..., 0])
ONE = Reading(frames="reject")
OPAQUE = Arrival(orientation="ignore", alpha="reject")


def image(data: bytes, reading: Reading | None = None) -> Callable[[Path], object]:
    """Processes an image."""
    return lambda folder: pipeline(reading=reading).process(data)


def without_pillow(folder: Path) -> None:
    """Processes an image as if Pillow were not installed."""
    with patch.dict(sys.modules, {"PIL": None}):
        pipeline().process(GREY)


def not_shown(folder: Path) -> None:
    """Assembles an image where the template prints nothing."""
    replace(shown.model(), _render=lambda request: []).assemble(shown.request(shown.user(shown.image(shown.A))))


def of_another_vocabulary(folder: Path) -> None:
    """Assembles an image whose placeholder has control tokens that the model does not have."""
    model = shown.showing("glm-4.5v", lambda: katapi.image_pipeline("qwen2_vl"))
    model.assemble(shown.request(shown.user(shown.image(shown.A))))


FILM = katapi.video_pipeline("qwen2_vl_frames")
DONE: dict[str, Callable[[Path], object]] = {
    "R115": lambda folder: decode_request(Dated, b'{"now": "9 March"}'),
    "R119": lambda folder: decode_request(Short, b'{"name": "ab"}'),
    "T103": lambda folder: guarded(
        [(Content("a [/INST]"), ("messages", 0, "content"), 0)], [Boundary("[/INST]", escape=None, rule="x.kata:1")]
    ),
    "T140": printed(10**309, **SERIAL),
    "T141": printed({1, 2}),
    "T142": printed(nested(10_000)),
    "T143": printed(9007199254740993, integers="safe"),
    "V105": lambda folder: segmented(
        "b", BytePairRanks(), Known({0: b"a"}, [], [], 0.0, frozenset(), frozenset()), None
    ),
    "V107": lambda folder: read(UNIGRAM)(folder).encode("b"),  # type: ignore[attr-defined]  # it is a tokenizer
    "X107": lambda folder: extended("deepseek-v3.1", {"role": "system", "content": "c"}),
    "P110": lambda folder: replace(katapi.load("book"), _reply=Unreadable("x.kata:1", "it is unknown")).parse([]),
    "Y101": lambda folder: katapi.read_pack(half(PACK.read_bytes())),
    "Y102": lambda folder: katapi.read_pack(write_archive({MANIFEST: b'{"format": 2}'})),
    "Y103": lambda folder: katapi.read_pack(write_archive({MANIFEST: b'{"format": 1}'})),
    "M100": without_pillow,
    "M101": image(b""),
    "M102": image(GREY, Reading(limits=Limits(bytes=10))),
    "M103": image(b"hello"),
    "M104": lambda folder: pipeline().process(GREY, media_type="image/jpeg"),
    "M105": image(png(noise(1, 10_000))),
    "M106": image(file_of(Image.new("L", (4, 4)), "TIFF", save_all=True, append_images=[Image.new("L", (4, 4))]), ONE),
    "M107": image(GREY[:50]),
    "M108": lambda folder: pipeline(arrival=OPAQUE).process(png(noise(4, 4, 4))),
    "M109": lambda folder: crop(picture(noise(4, 4)), 4, 0, Size(1, 1)),
    "M116": lambda folder: FILM.process(katapi.Frames(files=[png(noise(9, 9)), png(noise(8, 8))], fps=2.0)),
    "M117": lambda folder: katapi.audio_pipeline("voxtral").process(pcm(np.zeros(9, np.int16), rate=44_100)),
    "Y104": lambda folder: write_archive({f"f{number}": b"" for number in range(10_001)}),
    "Y110": lambda folder: check_fixture(replace(katapi.load("book"), _render=lambda _: [])),
    "Y122": lambda folder: parse_ids("x"),
    "A101": lambda folder: load_table(folder / "vocabulary.bin"),
    "A102": lambda folder: read_table(TABLE.replace(b"KATAPIV2", b"KATAPIV1"), where="t"),
    "A103": lambda folder: read_table(half(TABLE), where="t"),
    "A104": lambda folder: table_bytes(VocabularyData(Tokens.of([b"a", b"a"])), artifact="0" * 64),
    "A105": read(b"YQ== 0\n", pattern="."),
    "A106": read(with_merges({"a": 0, "b": 1})),
    "A107": read(changed(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"})),
    "A108": read(
        changed(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"Regex": r"(a)\1"},
                "behavior": "Isolated",
                "invert": False,
            }
        )
    ),
    "A109": read(changed(decoder={"type": "Sequence", "decoders": [BYTE_LEVEL["decoder"], {"type": "Fuse"}]})),
    "A110": spec(
        'control {\n    256 @unk "<unk>"\n  }\n  unknown @unk',
        segment="wordpiece, longest_word 100",
        decode="concat",
        size=257,
    ),
    "A111": spec(name="fil"),
    "A112": lambda folder: read_lock(_written(folder / "artifacts.lock", '[[artifact]]\nname = "a"\n')),
    "A113": lambda folder: build_segmenter(WordPiece("##", 100), words({"a": 0}), unknown=None),
    "A114": spec(segment="unigram", decode="concat"),
    "A115": spec(segment="bpe merges, bytes"),
    "A121": spec(file=None),
    "A123": unusable,
    "A124": lambda folder: build_matcher(Regex("a", Dialect.TIKTOKEN), UnicodeVersions(patterns="5.0")),
    "A125": lambda folder: cached_vocabulary("llama3/tokenizer.json", "0" * 64),
    "A131": read(b"YQ== 0\nYg==\n"),
    "A132": read(b'{"model": 5}'),
    "A133": read(half(changed())),
    "A135": read(PIECES[:-1]),
    "A136": read(GGUF[:10]),
    "A137": read(GGUF),
    "A138": read(b"YQ== 0\n"),
    "A142": package({"__init__.py": 'MODELS = {"x": "x"}', "x/__init__.py": ""}),
    "A143": package({"__init__.py": 'MODELS = {"x": "x"}', "x/__init__.py": "import made_models.x.renderer"}),
    "M125": not_shown,
    "M126": of_another_vocabulary,
    "A145": lambda folder: pipeline().loading("no_such_way"),
    "A150": find_project,
    "A151": lambda folder: find_project(_written(folder / "pyproject.toml", "[tool.katapi").parent),
    "A152": lambda folder: project(folder, {}, 'package = "katapi_models"'),
    "A153": lambda folder: project(folder, {"x.kata": b"\xff"}),
    "A154": spec('control {\n    1 @bos "<bos>"\n  }', file=changed(), size=502),
    "A155": lambda folder: project(folder, dict.fromkeys(("a-b.kata", "a.b.kata"), BOOK)),
    "A156": spec(digest="0" * 64),
    "A157": lent,
    "A160": spec('control {\n    300 @end "<end>"\n  }', size=301),
    "A161": spec(size=100),
    "A162": spec('control {\n    0 @end "<|endoftext|>"\n    600 @pad "<pad>"\n  }', file=changed(), size=601),
    "A163": spec("unused 5"),
    "A164": spec(file=changed(), segment="bpe merges, bytes", size=502),
    "A165": spec('unknown 1 "<unk>"', file=changed(), segment="bpe merges, bytes", size=502),
    "A166": imported(changed(post_processor=template("a"))),
    "A167": imported(changed(model=BYTE_LEVEL["model"] | {"unk_token": "Ã"})),
    "A168": spec(file=with_merges_in_another_order(), size=258),
}
ONLY_CHANGED_BY_HAND = {"T101", "T102"}


def _written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and a folder that packages are imported from."""
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "empty"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "made_models"]:
        del sys.modules[name]


@pytest.mark.parametrize("code", DONE)
def test_what_a_row_describes_gives_its_code(code: str, tmp_path: Path) -> None:
    with pytest.raises(CLASSES[code[0]]) as caught:
        DONE[code](tmp_path)
    assert caught.value.code == code


def test_every_row_is_run() -> None:
    assert ROWS.keys() == EXAMPLES.keys() | DONE.keys() | ONLY_CHANGED_BY_HAND
    assert not EXAMPLES.keys() & DONE.keys()
