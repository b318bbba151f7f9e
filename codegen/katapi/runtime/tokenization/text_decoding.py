"""Decoding by the stages of tokenizer.json: ids to texts of tokens to text, all at once or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from katapi.runtime.tokenization.decoder_stages import DecoderStage, FuseDecoder, Passes
from katapi.runtime.tokenization.decoder_streams import Joined, Stream, bytes_of, shown
from katapi.runtime.tokenization.decoding import as_id, refuse_finished
from katapi.runtime.tokenization.vocabulary import Vocabulary


class TextDecoding:
    """Sends the texts of tokens through some stages and joins what comes out.

    `decode` gives the bytes of that text. The two differ where byte-fallback tokens in a row are not valid UTF-8:
    `decode_text` gives U+FFFD for each of them, as the official decoder does, `decode` their bytes.
    """

    def __init__(self, vocabulary: Vocabulary, *stages: DecoderStage) -> None:
        self._text_of = _TokenTexts(vocabulary).__getitem__
        self._stages = stages

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of the whole. Raises `TokenizerError` V102 on an unknown id."""
        return bytes_of(_Flow(self._stages, eager=True).whole([*map(self._text_of, ids)]))

    def decode_text(self, ids: Sequence[int]) -> str:
        """The text of the whole. Raises `TokenizerError` V102 on an unknown id."""
        return shown(_Flow(self._stages, eager=False).whole([*map(self._text_of, ids)]))

    def decoder(self) -> TextDecoder:
        """A new incremental decoder."""
        return TextDecoder(self._text_of, _Flow(self._stages, eager=True))


class TextDecoder:
    """The same, one token at a time; only what a later token could still change is held back."""

    def __init__(self, text_of: Callable[[int], str], flow: _Flow) -> None:
        self._text_of = text_of
        self._flow = flow
        self._finished = False

    def push(self, token: int) -> bytes:
        """The bytes that are certain once `token` has come.

        Raises `TokenizerError` V102 on an unknown id, and V104 after `finish`.
        """
        refuse_finished(self._finished)
        return bytes_of(self._flow.push(self._text_of(as_id(token))))

    def finish(self) -> bytes:
        """The bytes that were held back."""
        if self._finished:
            return b""
        self._finished = True
        return bytes_of(self._flow.finish())


class _TokenTexts(dict[int, str]):
    """The text of each token that was met before."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._bytes_of = vocabulary.bytes_of

    def __missing__(self, token: int) -> str:
        text = self[token] = self._bytes_of(token).decode(errors="replace")
        return text


class _Flow:
    """The streams of all stages, one behind the other.

    `eager` lets bytes pass before it is known whether their run is valid UTF-8.
    """

    def __init__(self, stages: Sequence[DecoderStage], *, eager: bool) -> None:
        self._streams: list[Stream] = []
        fusing = [isinstance(stage, FuseDecoder) for stage in stages]
        for place in range(len(stages) - 1, -1, -1):
            passes = _passing(self._streams) if eager else _nothing_passes
            self._streams = [stages[place].stream(fused=any(fusing[:place]), passes=passes), *self._streams]

    def whole(self, tokens: list[str]) -> str:
        """What comes out for all tokens; to be asked of a new flow only."""
        for stream in self._streams:
            if isinstance(stream, Joined):
                tokens = ["".join(tokens)]
            tokens = [*chain.from_iterable(map(stream.push, tokens)), *stream.finish()]
        return "".join(tokens)

    def push(self, token: str) -> str:
        """What comes out for one token."""
        tokens = [token]
        for stream in self._streams:
            tokens = [out for into in tokens for out in stream.push(into)]
        return "".join(tokens)

    def finish(self) -> str:
        """What comes out at the end."""
        tokens: list[str] = []
        for stream in self._streams:
            tokens = [out for into in tokens for out in stream.push(into)] + stream.finish()
        return "".join(tokens)


def _passing(streams: Sequence[Stream]) -> Passes:
    return lambda byte: all(stream.passes(byte) for stream in streams)


def _nothing_passes(byte: int) -> bool:
    return False
