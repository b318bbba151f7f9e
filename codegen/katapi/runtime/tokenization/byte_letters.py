"""The pre-tokenizer that writes bytes as letters of GPT-2's alphabet, for what cuts a text after "ByteLevel" has."""

from __future__ import annotations

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.byte_alphabet import to_letters


class ByteLetters:
    """Writes every byte of a text as its letter; the vocabulary behind it is one of letters.

    A pre-tokenizer behind it sees letters, as with "ByteLevel" in tokenizer.json. It may cut within a character, and
    may take the letter of a byte for a digit.
    """

    positional = False
    """The place in the input does not count."""
    only_cuts = False
    """It writes bytes otherwise."""

    def split(self, text: str, first: bool) -> list[str]:
        """The text in letters, in one piece."""
        return [to_letters(text.encode())] if text else []

    def split_aligned(self, text: AlignedText, first: bool) -> list[AlignedText]:
        """The same; every letter comes from the whole character that it is a byte of."""
        return [text.mapped([to_letters(character.encode()) for character in text.text])] if len(text) else []
