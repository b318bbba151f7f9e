"""Retrieved documents: what a request may say of one beside what a template prints, which is its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic_core import core_schema

from katapi.runtime.fields import Validated, checked_object, refuse
from katapi.runtime.json_types import JsonObject
from katapi.runtime.places import kind

SCORE = "score"
"""The key or field of a document that holds its score."""


def checked_document(value: object, info: core_schema.ValidationInfo) -> JsonObject:
    """`value` as a document that is plain JSON: R113 for a score that is no number, and the codes of `checked_object`.

    Null stands for no score.
    """
    document = checked_object(value, info)
    score = document.get(SCORE)
    if score is not None and (not isinstance(score, int | float) or isinstance(score, bool)):
        help = "a score is a number; what the model is to read has another key"
        raise refuse("R113", f"expected a number, got {kind(score)}", help=help, within=(SCORE,))
    return document


if TYPE_CHECKING:
    DocumentField: TypeAlias = JsonObject
else:
    DocumentField = Annotated[object, Validated(checked_document, {"type": "object"})]
    """A document that is plain JSON."""


def unscored(documents: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """Documents as a template sees them: without the scores of those that have one."""
    return tuple(
        {key: member for key, member in document.items() if key != SCORE} if SCORE in document else document
        for document in documents
    )


def score_of(document: object) -> int | float | None:
    """The score of a document of a request, be it plain JSON or a record; None where it has none."""
    score = document.get(SCORE) if isinstance(document, Mapping) else getattr(document, SCORE, None)
    return score if isinstance(score, int | float) else None
