"""Decoding by the stages of tokenizer.json: ids to texts of tokens to text, all at once or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from katapi.runtime.tokenization.decoder_forms import OwnForms, own_forms
from katapi.runtime.tokenization.decoder_stages import DecoderStage, FuseDecoder, Passes
from katapi.runtime.tokenization.decoder_streams import Joined, Stream, bytes_of, shown
from katapi.runtime.tokenization.decoding import refuse_finished
from katapi.runtime.tokenization.ids import as_id, as_ids
from katapi.runtime.tokenization.joining import Joining
from katapi.runtime.tokenization.vocabulary import Vocabulary


class TextDecoding:
    """Sends the texts of tokens through some stages and joins what comes out.

    `decode` gives the bytes of that text. The two differ where byte-fallback tokens in a row are not valid UTF-8:
    `decode_text` gives U+FFFD for each of them, as the official decoder does, `decode` their bytes.
    """

    def __init__(self, vocabulary: Vocabulary, *stages: DecoderStage, pure: bool = False) -> None:
        """The compiled form runs where there is one, unless the `pure` one is asked for."""
        self._text_of = _TokenTexts(vocabulary).__getitem__
        self._stages = stages
        self._at_once: AtOnce | None = None
        forms = own_forms(stages)
        if forms is not None:
            self._at_once = AtOnce(vocabulary, forms, pure=pure)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of the whole. Raises `TokenizerError` V102 on an unknown id, `TypeError` for what is no id."""
        listed = ids if type(ids) is list else as_ids(ids)
        data = None if self._at_once is None else self._at_once.decode(listed)
        if data is None:
            data = bytes_of(_Flow(self._stages, eager=True).whole([*map(self._text_of, as_ids(listed))]))
        return data

    def decode_text(self, ids: Sequence[int]) -> str:
        """The text of the whole. Raises what `decode` raises."""
        listed = ids if type(ids) is list else as_ids(ids)
        text = None if self._at_once is None else self._at_once.decode_text(listed)
        if text is None:
            text = shown(_Flow(self._stages, eager=False).whole([*map(self._text_of, as_ids(listed))]))
        return text

    def decoder(self) -> TextDecoder:
        """A new incremental decoder."""
        return TextDecoder(self._text_of, _Flow(self._stages, eager=True))


class AtOnce:
    """Decoders of which there are `OwnForms`, at work on all ids at once."""

    def __init__(self, vocabulary: Vocabulary, forms: OwnForms, *, pure: bool) -> None:
        self._read = vocabulary.read
        self._first = forms.first
        self._later = forms.later
        self._fused = forms.fused
        self._joining = Joining(vocabulary.size, self._later_of, pure=pure)

    def decode(self, ids: list[int]) -> bytes | None:
        """The bytes of the whole; None where that depends on bytes that are no text.

        Raises `TokenizerError` V102 on an unknown id, and `TypeError` for what is no id.
        """
        if not self._fused:
            return self._bytes(ids)
        text = self.decode_text(ids)
        return None if text is None else text.encode()

    def decode_text(self, ids: list[int]) -> str | None:
        """The text of the whole; None where some bytes are none. Raises what `decode` raises."""
        try:
            text = self._bytes(ids).decode()
        except UnicodeDecodeError:
            return None
        for function in self._fused:
            text = function(text)
        return text

    def _bytes(self, ids: list[int]) -> bytes:
        """What comes before "Fuse"."""
        data = self._joining.join(ids)
        if self._first is None or not ids:
            return data
        return self._first(self._text_of(ids[0])) + data[len(self._later_of(ids[0])) :]

    def _later_of(self, token: int) -> bytes:
        return self._later(self._text_of(token))

    def _text_of(self, token: int) -> str:
        return self._read(token).decode(errors="replace")


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
