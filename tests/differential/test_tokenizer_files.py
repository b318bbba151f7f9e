"""Tokenizers that were read from files against their official libraries: ids, what stands around them, text, ranges.

Small files are trained here and always tested. Real ones are tested where they are: a few of them in every run, all of
them in `make fuzz`. What is compared is content: the libraries are kept from finding added tokens in a text, which
Katapi never does. docs/tokenizers.md says where libraries disagree.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import katapi
from tests.differential.officials import official
from tests.differential.real_files import real_files
from tests.differential.small_files import SMALL
from tests.differential.texts import many_texts, shorter, texts
from tests.examples import FUZZ, examples

IN_EVERY_RUN = (
    "bert-base-cased.tokenizer.json, shared",
    "clip.tokenizer.json, shared",
    "falcon.tokenizer.json, shared",
    "t5-small.tokenizer.json, shared",
    "t5.spiece.model, shared",
)
REAL = {name: make for name, make in real_files().items() if FUZZ or name in IN_EVERY_RUN}
FILES = SMALL | REAL

TEXTS = examples(test=40, fuzz=1_000)
SEEDS = examples(test=3, fuzz=100)
TEXTS_OF_A_SEED = 100
IDS = examples(test=15, fuzz=1_000)


class Peers:
    """A tokenizer from a file, what its library makes of the file, and what to draw for them."""

    def __init__(self, name: str) -> None:
        self._name = name
        file = FILES[name]()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            path.write_bytes(file.data)
            self.katapi = katapi.tokenizer_from_file(path, pattern=file.pattern)
        self.official = official(file)
        self.texts = texts(self.official.tokens)
        self.ids = st.lists(st.sampled_from(self.official.ids), max_size=12)

    def __repr__(self) -> str:
        return self._name


@pytest.fixture(scope="module", params=FILES)  # so that all tests of a file come in a row, and one file is in memory
def both(request: pytest.FixtureRequest) -> Peers:
    name: str = request.param
    return Peers(name)


def check_text(both: Peers, text: str) -> None:
    """Ids, with and without what stands around them; spans; and the text of the ids."""
    ids = both.katapi.encode(text)
    assert ids == both.official.encode(text)
    framed = both.official.post_processed(text)
    assert framed is None or both.katapi.encode(text, post_process=True) == framed
    spans = both.katapi.spans(text, ids)
    offsets = both.official.offsets(text)
    if offsets is not None:
        starts = np.cumsum([0, *(len(character.encode()) for character in text)])
        assert spans.tolist() == starts[np.array(offsets, dtype=np.int64).reshape(-1, 2)].tolist()
    check_ids(both, ids)


def check_ids(both: Peers, ids: list[int]) -> None:
    """The text of ids, at once and as they come."""
    text = both.official.decode(ids)
    assert text is None or both.katapi.decode_text(ids) == text
    decoder = both.katapi.decoder()
    assert b"".join([*map(decoder.push, ids), decoder.finish()]) == both.katapi.decode(ids)


def differs(both: Peers, text: str) -> bool:
    try:
        check_text(both, text)
    except AssertionError:
        return True
    return False


@TEXTS
@given(data=st.data())
def test_texts(both: Peers, data: st.DataObject) -> None:
    check_text(both, data.draw(both.texts))


@SEEDS
@given(seed=st.integers(0, 2**64 - 1))
def test_many_texts(both: Peers, seed: int) -> None:
    """Hypothesis takes longer to draw a text than both libraries to encode it. Here it draws a seed of a hundred."""
    for text in islice(many_texts(Random(seed), both.official.tokens), TEXTS_OF_A_SEED):
        if differs(both, text):
            least = shorter(text, partial(differs, both))
            note(f"text: {least!r}")
            check_text(both, least)


@IDS
@given(data=st.data())
def test_ids_in_any_order(both: Peers, data: st.DataObject) -> None:
    """The text of ids that no text may have."""
    check_ids(both, data.draw(both.ids))


def test_a_text_that_differs_is_made_short() -> None:
    assert shorter("xxaxxxbxxxx", lambda text: "a" in text and "b" in text) == "ab"


def test_which_real_files_were_found() -> None:
    """Either the shared folder is missing as a whole, or the files that every run needs are in it."""
    shared = [name for name in FILES if name.endswith(", shared")]
    assert not shared or {*IN_EVERY_RUN} <= {*shared}
