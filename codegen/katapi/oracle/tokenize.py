"""What a template printed → ids, and for each id the segments that it touches (chapter, section 1.5).

The text between two control tokens is one run, which the tokenizer encodes by itself, without the white space that the
two strip. No text can yield a control id.
"""

from __future__ import annotations

from katapi.model.declarations import TokenFlags
from katapi.model.program import Program
from katapi.oracle.tokenizer import Placed, encoded
from katapi.runtime.segments import ControlSegment, Rendering
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


def tokenize(
    program: Program, rendering: Rendering, data: VocabularyData | None = None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The ids of a rendering, and for each the indices of the segments that it touches, ascending.

    `data` holds the tokens of a vocabulary with an artifact. Raises `TokenizerError`.
    """
    ids: list[int] = []
    origins: list[tuple[int, ...]] = []
    run: list[int] = []
    flags = {control.id: control.flags for control in program.vocabulary.controls}
    nothing = TokenFlags()

    def finish_run(opening: TokenFlags, closing: TokenFlags) -> None:
        letters = [(letter, index) for index in run for letter in rendering.segments[index].text]
        while opening.rstrip and letters and _is_space(letters[0][0]):
            letters.pop(0)
        while closing.lstrip and letters and _is_space(letters[-1][0]):
            letters.pop()
        owners = [index for letter, index in letters for _ in letter.encode("utf-8", "surrogatepass")]
        text = "".join(letter for letter, _ in letters)
        for token in _encoded(program, text, data, first=run[:1] == [0]):
            ids.append(token.id)
            # What was put in belongs to the segment that it stands in front of, or to the last.
            touched = owners[token.start : token.end] or owners[token.start :][:1] or owners[-1:]
            origins.append(tuple(sorted({*touched})))
        run.clear()

    opening = nothing
    for index, segment in enumerate(rendering.segments):
        if isinstance(segment, ControlSegment):
            closing = flags[segment.token.id]
            finish_run(opening, closing)
            ids.append(segment.token.id)
            origins.append((index,))
            opening = closing
        else:
            run.append(index)
    finish_run(opening, nothing)
    return ids, origins


def encode(program: Program, text: str, data: VocabularyData | None = None) -> list[int]:
    """The ids of a text that begins the input."""
    return [token.id for token in _encoded(program, text, data, first=True)]


def _is_space(letter: str) -> bool:
    """Whether Unicode calls a character White_Space; `str.isspace` adds the four separators U+001C to U+001F."""
    return letter.isspace() and not "\x1c" <= letter <= "\x1f"


def _encoded(program: Program, text: str, data: VocabularyData | None, *, first: bool) -> list[Placed]:
    written = {token.id: token.text for token in program.vocabulary.texts}
    return encoded(text, program.configuration(), data or VocabularyData.of_texts(written), first=first)
