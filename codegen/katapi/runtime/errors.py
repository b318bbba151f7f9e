"""The errors of Katapi: one class for each stage that can fail.

Every error says at which stage it arose, which rule it broke (a stable code), where in the input, and what would help.
A caller who wants one `except` catches `KatapiError`; a caller who wants the stage catches the class below it.
"""

from __future__ import annotations

from typing import ClassVar


class KatapiError(Exception):
    """An input, a specification or an artifact is at fault.

    `message` says what is wrong, `code` is the stable name of the rule (a letter and three digits, all of them in
    docs/errors.md), `where` is the place in the input (`messages[2].role`, `byte 17`, a path; empty when there is
    none), `help` is what to do about it (may be empty).
    """

    stage: ClassVar[str] = "katapi"
    """The word for the stage in a message; each class below has its own."""

    message: str
    code: str
    where: str
    help: str

    def __init__(self, message: str, *, code: str, where: str = "", help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.where = where
        self.help = help

    def __str__(self) -> str:
        place = f" at {self.where}" if self.where else ""
        line = f"{self.stage} error {self.code}{place}: {self.message}"
        return f"{line}\n  help: {self.help}" if self.help else line

    def __repr__(self) -> str:
        fields = f"{self.message!r}, code={self.code!r}, where={self.where!r}, help={self.help!r}"
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        # BaseException rebuilds an instance from positional arguments alone and would lose the keywords.
        return _rebuild, (type(self), self.message, self.code, self.where, self.help), self.__dict__


def _rebuild(error: type[KatapiError], message: str, code: str, where: str, help: str) -> KatapiError:
    return error(message, code=code, where=where, help=help)


class RequestError(KatapiError):
    """The request is not valid: its bytes, its JSON, its shape or its values. Codes R100 to R119.

    `stage` is "request".
    """

    stage = "request"


class TemplateError(KatapiError):
    """The template rejects the request, or cannot render it. Codes T100 to T103 and T140 to T143.

    `stage` is "template".
    """

    stage = "template"


class TokenizerError(KatapiError):
    """A text cannot be encoded, an id cannot be decoded, or ids are not what a model can receive.

    Codes V101 to V105, V107, V110 and V120 to V125.

    `stage` is "tokenizer".
    """

    stage = "tokenizer"


class BudgetError(KatapiError):
    """What is required does not fit into the context window. Codes B100 to B102.

    `stage` is "budget".
    """

    stage = "budget"


class ExtensionError(KatapiError):
    """An input cannot go on with a completion and new messages. Codes X100 to X108.

    `stage` is "extension".
    """

    stage = "extension"


class MediaError(KatapiError):
    """An image cannot be read or processed, or not placed among the tokens of an input. Codes M100 to M113 and M120
    to M127.

    `stage` is "image".
    """

    stage = "image"


class ArtifactError(KatapiError):
    """An external artifact, a spec or a project is missing, damaged, or not the one that is named. Codes A101 to A167.

    `stage` is "artifact".
    """

    stage = "artifact"


class ReplyError(KatapiError):
    """A reply cannot be read. Code P110.

    `stage` is "reply". What is wrong inside of a reply is no error: `AssistantMessage.faults` tells it.
    """

    stage = "reply"


class ReplayError(KatapiError):
    """A pack cannot be written, read or replayed. Codes Y100 to Y105, Y110 to Y112 and Y120 to Y122.

    A replay that differs from the record is no error: `Replay.stages` tells it.

    `stage` is "replay".
    """

    stage = "replay"
