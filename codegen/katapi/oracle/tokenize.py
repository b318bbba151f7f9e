"""What a template printed → ids, and for each id the segments that it touches.

The text between two control tokens is one run, which goes through the stages of the tokenizer as one string. No text
can yield a control id.
"""

from __future__ import annotations

from katapi.model.program import TokenizerProgram
from katapi.oracle.tokenizer import encoded
from katapi.runtime.segments import ControlSegment, Rendering
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


def tokenize(
    program: TokenizerProgram, rendering: Rendering, artifact: VocabularyData | None = None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The ids of a rendering, and for each the indices of the segments that it touches, ascending.

    `artifact` is what the artifact of the vocabulary says, if it has one. Raises `TokenizerError`.
    """
    configuration, data = program.configuration(), _data(program, artifact)
    ids: list[int] = []
    origins: list[tuple[int, ...]] = []
    run: list[int] = []

    def finish_run() -> None:
        text = "".join(rendering.segments[index].text for index in run)
        owners = [index for index in run for _ in rendering.segments[index].text.encode(errors="surrogatepass")]
        for token, start, end in encoded(text, configuration, data, first=not ids):
            ids.append(token)
            origins.append(tuple(sorted(set(owners[start:end]))))
        run.clear()

    for index, segment in enumerate(rendering.segments):
        if isinstance(segment, ControlSegment):
            finish_run()
            ids.append(segment.token.id)
            origins.append((index,))
        else:
            run.append(index)
    finish_run()
    return ids, origins


def encode(program: TokenizerProgram, text: str, artifact: VocabularyData | None = None) -> list[int]:
    """The ids of one run of text that begins the input."""
    return [placed.id for placed in encoded(text, program.configuration(), _data(program, artifact))]


def _data(program: TokenizerProgram, artifact: VocabularyData | None) -> VocabularyData:
    if artifact is not None:
        return artifact
    return VocabularyData.of_texts({token.id: token.text for token in program.vocabulary.texts})
