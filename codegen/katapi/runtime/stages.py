"""The stages of one execution, in order, and the failures (the chapter, 1.10) that each is the first to show."""

from __future__ import annotations

from enum import Enum


class Failure(Enum):
    """A row of the table in section 1.10 of the chapter: a failure of the input, by what goes wrong.

    `INVALID_UTF8`, `TEMPLATE_VERSION`, `SCHEMA_ORDER`, `VOCABULARY`, `CUT_PAIR`, `MASK_OR_POSITIONS` and `IMAGE` stand
    in the order of the table.
    """

    INVALID_UTF8 = "invalid UTF-8 is replaced in different ways"
    TEMPLATE_VERSION = "the alias of a template points to a new version"
    SCHEMA_ORDER = "the fields of a schema are walked in an order that is not stable"
    VOCABULARY = "the vocabulary of the tokenizer does not match the model"
    CUT_PAIR = "truncation parts the call of a tool from its result"
    MASK_OR_POSITIONS = "the padding mask or the position ids are shifted"
    IMAGE = "an image was re-encoded or rotated, and nothing says so"


class Stage(Enum):
    """A stage of an execution, in the order in which they depend on each other."""

    BYTES = "bytes"
    """What came in, and how it was read as text."""
    REQUEST = "request"
    """The canonical request: messages, and every parameter."""
    BUDGET = "budget"
    """What a policy kept, left out and cut off."""
    IMAGES = "images"
    """What was made of images."""
    TEMPLATE = "template"
    """Which template printed."""
    RENDERED = "rendered"
    """What the template printed."""
    TOKENIZER = "tokenizer"
    """Which tokenizer encoded, and what it is made of."""
    RUNS = "runs"
    """The runs of text, each of which was encoded as one string, and the control tokens between."""
    IDS = "ids"
    """The ids."""
    TENSORS = "tensors"
    """What the model receives beside the ids: mask, positions, length."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The failures of table 1.10 that this stage is the first to show; some stages only pass them on."""
        return _FAILURES.get(self, ())


_FAILURES = {
    Stage.BYTES: (Failure.INVALID_UTF8,),
    Stage.BUDGET: (Failure.CUT_PAIR,),
    Stage.IMAGES: (Failure.IMAGE,),
    Stage.TEMPLATE: (Failure.TEMPLATE_VERSION,),
    Stage.RENDERED: (Failure.TEMPLATE_VERSION, Failure.SCHEMA_ORDER),
    Stage.TOKENIZER: (Failure.VOCABULARY,),
    Stage.IDS: (Failure.VOCABULARY,),
    Stage.TENSORS: (Failure.MASK_OR_POSITIONS,),
}
