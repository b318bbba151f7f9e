"""Damaged files: what a reader must survive with an `ArtifactError` or a tokenizer, never with another exception."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import strategies as st

from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.errors import ArtifactError, TokenizerError
from katapi.runtime.json_types import Json
from katapi.runtime.tokenization.build import build_tokenizer

_VALUES: st.SearchStrategy[Json] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 600),
    st.sampled_from([1 << 32, 1 << 70, 1.5, "", "a", "\ud800", "\\p{", "(", "é b", "Sequence", "Metaspace", "BPE"]),
    st.builds(list),
    st.builds(dict),
    st.builds(lambda: [["a", "b", "c"]]),
    st.builds(lambda: {"type": "Split", "pattern": {"Regex": "a*"}, "behavior": "Isolated", "invert": False}),
)


def survives(data: bytes) -> None:
    """Reads a file, and where it can be read, builds its tokenizer and uses it."""
    try:
        file = read_tokenizer_file(data, where="file")
        tokenizer = build_tokenizer(file.configuration, file.data)
    except ArtifactError:
        return
    with suppress(TokenizerError):
        tokenizer.decode_text(tokenizer.post_process(tokenizer.encode("a b\u00e9\n 12")))


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` cut off, with bytes changed, put in or left out."""
    damaged = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(damaged)))
        match draw(st.sampled_from(["cut", "change", "insert", "delete"])):
            case "cut":
                del damaged[place:]
            case "change":
                damaged[place : place + 1] = draw(st.binary(min_size=1, max_size=2))
            case "insert":
                damaged[place:place] = draw(st.binary(max_size=9))
            case _:
                del damaged[place : place + draw(st.integers(1, 20))]
    return bytes(damaged)


@st.composite
def damaged_json(draw: st.DrawFn, data: bytes) -> bytes:
    """A JSON document in which a few values are others, or are gone."""
    document = json.loads(data)
    for _ in range(draw(st.integers(1, 2))):
        parent = document
        while True:
            keys = [*parent] if isinstance(parent, dict) else [*range(len(parent))]
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(parent[key], dict | list) and parent[key] and draw(st.integers(0, 3)):
                parent = parent[key]
                continue
            if draw(st.booleans()):
                parent[key] = draw(_VALUES)
            else:
                del parent[key]
            break
    return json.dumps(document).encode()
