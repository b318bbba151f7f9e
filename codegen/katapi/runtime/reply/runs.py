"""The text of a reply, as its ids arrive."""

from __future__ import annotations

import codecs

from katapi.runtime.completion import put_in_front
from katapi.runtime.tokenization.interface import Decoder, Tokenizer


class TextOfRuns:
    """The text of ids that are no control tokens: a decoder for each run of text between two of them."""

    def __init__(self, tokenizer: Tokenizer, control: int | None, *, runs_on: bool) -> None:
        self._tokenizer = tokenizer
        self._control = control
        self._adds_space = control is not None and bool(put_in_front(tokenizer, (control,)))
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._run = self._decoder(runs_on=runs_on)

    def push(self, token: int) -> str:
        """The characters that are certain. Raises `TokenizerError` V102 on an unknown id."""
        return self._utf8.decode(self._run.push(token))

    def end_run(self, control: int) -> str:
        """The rest of a run, which a control token ends."""
        rest = self.finish()
        self._control = control
        self._run = self._decoder(runs_on=False)
        return rest

    def finish(self) -> str:
        """The rest of the last run."""
        rest = self._utf8.decode(self._run.finish(), final=True)
        self._utf8.reset()
        return rest

    def _decoder(self, *, runs_on: bool) -> Decoder:
        """A decoder for a run; where a run has no space of its own in front, it is not the first thing decoded."""
        decoder = self._tokenizer.decoder()
        if self._control is not None and (runs_on or not self._adds_space):
            decoder.push(self._control)
        return decoder
