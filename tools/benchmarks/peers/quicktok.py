"""quicktok, whose package on PyPI is quicktok-v1."""

from __future__ import annotations

import tempfile
from contextlib import redirect_stdout
from io import StringIO
from typing import Protocol

from tools.benchmarks.encoders import Decoded, Encoder
from tools.benchmarks.vocabularies import Unavailable, Vocabulary


class Quicktok(Protocol):
    """The part of it that is used."""

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_batch(self, texts: list[str], threads: int) -> tuple[object, object]: ...

    def count(self, text: str) -> int: ...

    def decode(self, ids: list[int]) -> str: ...

    def decode_single_token_bytes(self, id: int) -> bytes: ...


def open_quicktok(vocabulary: Vocabulary) -> Encoder:
    """The vocabulary that it carries; else tokenizer.json or tekken.json, imported."""
    import codecs

    import quicktok

    if "quicktok" in vocabulary.names:
        found: Quicktok = quicktok.get_encoding(vocabulary.names["quicktok"])
    else:
        found = _imported(vocabulary)

    def as_array(text: str) -> object:
        return found.encode_batch([text], 1)[0]

    def stream(ids: list[int]) -> list[Decoded]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts: list[Decoded] = [decoder.decode(found.decode_single_token_bytes(id)) for id in ids]
        return [*parts, decoder.decode(b"", final=True)]

    return Encoder(found.encode_ordinary, as_array, found.count, found.decode, stream)


def _imported(vocabulary: Vocabulary) -> Quicktok:
    import quicktok

    path = vocabulary.file("tekken" if "tekken" in vocabulary.files else "json")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with redirect_stdout(StringIO()):
                quicktok.import_tokenizer(path, "imported", folder)
        except ValueError as refused:  # its ImportRefused
            reason = " ".join(str(refused).removeprefix("REFUSED: ").split())
            raise Unavailable(f"refuses it: {reason[:60]}…") from None
        encoding: Quicktok = quicktok.Tokenizer("imported", folder)
        return encoding
