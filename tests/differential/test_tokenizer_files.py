"""Tokenizers that were read from files against their official libraries: ids, what stands around them, text, ranges.

Small files are trained here and always tested. Real ones are tested where they are: a few of them in every run, all of
them in `make fuzz`. What is compared is content: the libraries are kept from finding added tokens in a text, which
Katapi never does. docs/tokenizers.md says where libraries disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import katapi
from tests.differential.officials import File, Official, official
from tests.differential.real_files import real_files
from tests.differential.small_files import SMALL
from tests.differential.texts import texts

FUZZ = settings.get_current_profile_name() == "fuzz"
IN_EVERY_RUN = (
    "bert-base-cased.tokenizer.json, shared",
    "clip.tokenizer.json, shared",
    "falcon.tokenizer.json, shared",
    "t5-small.tokenizer.json, shared",
    "t5.spiece.model, shared",
)
REAL = {name: make for name, make in real_files().items() if FUZZ or name in IN_EVERY_RUN}
FILES = SMALL | REAL

TEXTS = settings(max_examples=10_000 if FUZZ else 40)
IDS = settings(max_examples=2_000 if FUZZ else 15)


@dataclass(frozen=True)
class Peers:
    """A tokenizer from a file, and what its library makes of the file."""

    katapi: katapi.FileTokenizer
    official: Official
    texts: st.SearchStrategy[str]
    ids: st.SearchStrategy[list[int]]


@cache
def peers(name: str) -> Peers:
    file: File = FILES[name]()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(file.data)
        ours = katapi.tokenizer_from_file(path, pattern=file.pattern)
    library = official(file)
    ids = st.lists(st.sampled_from(library.ids), max_size=12)
    return Peers(ours, library, texts(library.tokens), ids)


@pytest.mark.parametrize("name", FILES)
@TEXTS
@given(data=st.data())
def test_texts(name: str, data: st.DataObject) -> None:
    """Ids, with and without what stands around them; spans; and the text of the ids."""
    both = peers(name)
    text = data.draw(both.texts)
    ids = both.katapi.encode(text)
    assert ids == both.official.encode(text)
    framed = both.official.post_processed(text)
    assert framed is None or both.katapi.encode(text, post_process=True) == framed
    spans = both.katapi.spans(text, ids)
    offsets = both.official.offsets(text)
    if offsets is not None:
        starts = np.cumsum([0, *(len(character.encode()) for character in text)])
        assert spans.tolist() == starts[np.array(offsets, dtype=np.int64).reshape(-1, 2)].tolist()
    check_text(both, ids)


@pytest.mark.parametrize("name", FILES)
@IDS
@given(data=st.data())
def test_ids_in_any_order(name: str, data: st.DataObject) -> None:
    """The text of ids that no text may have."""
    both = peers(name)
    check_text(both, data.draw(both.ids))


def check_text(both: Peers, ids: list[int]) -> None:
    text = both.official.decode(ids)
    assert text is None or both.katapi.decode_text(ids) == text
    decoder = both.katapi.decoder()
    assert b"".join([*map(decoder.push, ids), decoder.finish()]) == both.katapi.decode(ids)


def test_which_real_files_were_found() -> None:
    """Either the shared folder is missing as a whole, or the files that every run needs are in it."""
    shared = [name for name in FILES if name.endswith(", shared")]
    assert not shared or {*IN_EVERY_RUN} <= {*shared}
