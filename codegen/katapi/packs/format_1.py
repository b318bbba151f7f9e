"""Format 1 of packs: what the manifest and the file of each stage hold.

`pack-1.schema.json` is the JSON Schema of these classes. A later format gets a module of its own, and `reading.py`
keeps this one, so that what was recorded once can always be read.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

FORMAT: Final = 1
"""The number of this format."""

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal."""
Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
"""A SHA-256, marked as such."""
DigestOrNone = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64})?$")]
"""The same, or nothing, for what was declared in no file."""
Count = Annotated[int, Field(ge=0)]
"""A number of things."""
Range: TypeAlias = Annotated[list[Count], Field(min_length=2, max_length=2)]
"""A half-open range: start and end."""
SectionName: TypeAlias = Literal["instructions", "tools", "history", "documents", "current", "generation"]
"""A section of a budget."""
StructureName: TypeAlias = Literal["characters", "messages", "calls", "instructions", "images"]
"""What a cut through the tokens may break."""
Object: TypeAlias = dict[str, JsonValue]
"""Any JSON object."""


class Part(BaseModel):
    """The base of all classes here: nothing is converted, nothing else is taken."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, protected_namespaces=(), use_attribute_docstrings=True
    )
    """`use_attribute_docstrings` brings what is said of a field into the schema."""


class Versions(Part):
    """What ran."""

    katapi: str
    """`0+source` where Katapi ran without having been installed."""
    python: str
    """The version of Python."""
    pydantic: str
    """The version of pydantic."""
    numpy: str
    """The version of numpy."""


class Share(Part):
    """A share of the room, in tokens or in percent."""

    tokens: Count | None = None
    """A number of tokens."""
    percent: Count | None = None
    """A number of hundredths of the room."""


class Allotment(Part):
    """How a section of a budget is filled."""

    section: SectionName
    """The section."""
    order: Literal["newest first", "oldest first", "by score", "as given"]
    """In which order its items are tried."""
    misfit: Literal["skip", "stop"]
    """What becomes of the section at an item that does not fit."""
    grouping: Literal["by message", "by turn"]
    """What of a history is kept or left out together."""
    at_least: Share | None
    """So much is for this section before others."""
    at_most: Share | None
    """More than that it never takes."""


class BudgetPolicy(Part):
    """A budget, in full."""

    id: str
    """Its name and version."""
    digest: DigestOrNone
    """The digest of its declaration."""
    window: int
    """The context window, in tokens."""
    reserve: int
    """What of it is kept for the answer, in tokens."""
    optional: list[Allotment]
    """The sections that are not required, those that are filled first in front."""
    cut_left: Annotated[list[StructureName] | None, Field(alias="cut left")]
    """What a cut through the tokens may break; null where what is too long is refused."""


class Error(Part):
    """Why the execution ended early; `at` is the stage that was not reached."""

    at: str
    """The stage that was not reached."""
    stage: str
    """The stage by the name that the error itself has."""
    code: str
    """The code, as docs/errors.md has it."""
    where: str
    """The place in the input."""
    message: str
    """What is wrong."""
    help: str
    """What to do about it."""


class StageFile(Part):
    """Where the content of a stage is, and the digest that the light record has of it; null where it was redacted."""

    file: str
    """The name of the file."""
    digest: Digest | None
    """The digest of the stage as it was recorded, which the light record has too."""


class FileDigest(Part):
    """The digest and the size of a file of the pack."""

    sha256: Sha256
    """The SHA-256 of the file."""
    size: Count
    """How many bytes it has."""


class Artifact(Part):
    """Something that the tokenizer is made of: by its digest, and as a file of the pack where it was embedded."""

    kind: Literal["artifact", "configuration", "controls", "table", "tokens"]
    """What it is: the file that a vocabulary was made of, its table, tokens that a spec tells, and so on."""
    name: str
    """Its name in `artifacts.lock`, or that of the file."""
    sha256: Sha256
    """The SHA-256 of its bytes."""
    file: str | None
    """The name of the file with its bytes; null where only the digest is here."""


class Medium(Part):
    """An image that came beside the request: by its digest, and as a file of the pack where it was embedded."""

    kind: Literal["attached", "file", "address"]
    """Where its bytes were."""
    name: str
    """The number of the attached image, the path or the address; nothing, where it was redacted."""
    sha256: Sha256 | None
    """The SHA-256 of its bytes; null where placeholders stand in the place of contents."""
    file: str | None
    """The name of the file with its bytes; null where only the digest is here."""


class StageFiles(Part):
    """The stages that were reached."""

    bytes: StageFile | None = None
    """What came in."""
    request: StageFile | None = None
    """The canonical request."""
    budget: StageFile | None = None
    """What was kept and left out."""
    images: StageFile | None = None
    """What was made of images."""
    template: StageFile | None = None
    """Which template printed."""
    rendered: StageFile | None = None
    """What it printed."""
    tokenizer: StageFile | None = None
    """Which tokenizer encoded."""
    runs: StageFile | None = None
    """What was encoded as one string each."""
    ids: StageFile | None = None
    """The ids."""
    tensors: StageFile | None = None
    """Mask, positions and length."""


class Manifest(Part):
    """`manifest.json`: what the pack is of, and which file holds what."""

    format: Literal[1]
    """The number of the format."""
    source: str | None = None
    """The system that ran, where another than Katapi did: then stages may be missing."""
    model: str
    """The name of the model."""
    versions: Versions
    """What ran."""
    redaction: Literal["digests", "placeholders"] | None
    """What stands in the place of contents; null where they are here."""
    policy: BudgetPolicy | str | None
    """The budget that was asked for, in full; or a name that the model did not have."""
    error: Error | None
    """Why the execution ended early; null where it came to its end."""
    stages: StageFiles
    """The stages that were reached."""
    request: str | None
    """The name of the file with the bytes of the request; null where there were none."""
    arrays: dict[str, str]
    """The names of the files of arrays, by the names of the arrays."""
    artifacts: list[Artifact]
    """What the tokenizer is made of."""
    media: list[Medium]
    """The images that came beside the request."""
    load: str | None = None
    """The way in which images came in, where one was chosen."""
    files: dict[str, FileDigest]
    """All files but this one."""


class SubstitutionMade(Part):
    """What was replaced in order to read the bytes."""

    stage: str
    """The stage that did it."""
    where: str
    """The bytes concerned."""
    what: str
    """What was done, in words."""


class BytesStage(Part):
    """What came in, and how it was read."""

    sha256: Sha256 | None
    """The SHA-256 of the bytes; null for a typed request."""
    size: Count | None
    """How many bytes there were."""
    params: Object | None
    """The keys that were set in place of those of the bytes."""
    invalid_utf8: Literal["strict", "replace"]
    """What becomes of bytes that are not UTF-8."""
    max_depth: Count
    """How deep a request may nest."""
    substitutions: list[SubstitutionMade]
    """What was replaced in order to read the bytes."""


class Completion(Part):
    """A completion in the ids: the message that it is, and the range of its ids."""

    reply: Count
    """The index of the message that it is."""
    start: Count
    """The index of its first id."""
    end: Count
    """The index behind its last id."""


class RequestStage(Part):
    """The canonical request: the rules that it was read by, messages, parameters set, and the defaults of others."""

    id: str
    """The name and version of the request rules."""
    digest: DigestOrNone
    """The digest of the request rules."""
    messages: list[JsonValue]
    """The messages."""
    parameters: Object
    """All other keys that were set: tools, documents, dates, switches."""
    defaults: Object
    """The values of those that were not."""
    extensions: list[Completion]
    """The completions in the ids."""


class ChoiceMade(Part):
    """What became of one item: of a message or a group of them, a tool, or a document."""

    section: SectionName
    """The section that it is of."""
    at: list[Count]
    """The indices of its messages, or of the tool or document, in the request that came in."""
    kept: bool
    """Whether it is in the input."""
    why: Literal["required", "fits", "too long", "over its share", "behind one that did not fit", "refused"]
    """The reason."""
    before: Count
    """The tokens of the input without it, when it was decided on."""
    after: Count | None
    """The tokens of the input with it; null where that was not tried, or where there is no such input."""
    detail: str = ""
    """The error with which an input was refused."""


class CutMade(Part):
    """What was cut off on the left of the tokens."""

    tokens: Count
    """How many tokens were cut off."""
    breaks: list[StructureName]
    """What was broken."""
    message: Count | None
    """The message in which the input begins, by its index in the request that was rendered."""
    begins: str
    """The first of what is left, as text."""


class Decision(Part):
    """What a budget decided."""

    id: str
    """The name and version of the budget."""
    window: Count
    """The context window, in tokens."""
    reserve: Count
    """What of it is kept for the answer, in tokens."""
    input: Count
    """How many tokens are left."""
    choices: list[ChoiceMade]
    """In the order in which they were made."""
    offered: Object | None
    """The request that came in, where something of it was left out."""
    cut: CutMade | None = None
    """What was cut off the tokens."""


class BudgetStage(Part):
    """What a budget decided; `required` and `together` are what `fit_context` was asked."""

    budget: BudgetPolicy | None
    """The budget; null where none was asked for."""
    required: list[Count] | None
    """The messages that the caller required."""
    together: list[Range]
    """The ranges of messages that the caller wanted together."""
    decision: Decision | None
    """What was decided."""


class ImagesStage(Part):
    """What was made of each image."""

    images: list[Object]
    """One object for each image."""


class TemplateStage(Part):
    """Which template printed."""

    id: str
    """Its name and version."""
    digest: DigestOrNone
    """The digest of its meaning."""


Site: TypeAlias = Annotated[list[int | str | None], Field(min_length=3, max_length=3)]
"""Line, column and file of a place in a spec."""


class Control(Part):
    """A control token that the template printed."""

    kind: Literal["control"]
    """`control`."""
    id: Count
    """The id."""
    text: str
    """How it is spelled."""
    site: Site
    """What printed it."""


class LiteralText(Part):
    """Text of the template."""

    kind: Literal["literal"]
    """`literal`."""
    text: str
    """The text."""
    site: Site
    """What printed it."""


class ContentText(Part):
    """Text of the request; `start` is null where it was made of a value, and is no stretch of it."""

    kind: Literal["content"]
    """`content`."""
    text: str
    """The text."""
    path: list[str | int]
    """The value of the request that it came from."""
    start: Count | None
    """The offset of its first code point there."""


class RenderedStage(Part):
    """What the template printed, and the ranges of segments that the model itself generates."""

    segments: list[Annotated[Control | LiteralText | ContentText, Field(discriminator="kind")]]
    """All segments, in order."""
    sampled: list[Range]
    """The ranges of segments that the model itself generates."""


class TokenizerMade(Part):
    """What a tokenizer is made of."""

    configuration: Digest
    """The digest of its declaration."""
    vocabulary: Digest
    """The digest of the declaration of its vocabulary, the artifact included."""
    controls: Digest
    """The digest of the table of control tokens."""
    artifact: str | None
    """The name of the artifact in `artifacts.lock`."""
    artifact_sha256: Sha256 | None
    """The SHA-256 of the artifact."""
    unicode: dict[str, str]
    """The declared versions of Unicode, by what they are for."""


class TokenizerStage(Part):
    """Which tokenizer encoded."""

    id: str
    """Its name and version."""
    digest: DigestOrNone
    """The digest of its meaning."""
    parts: TokenizerMade
    """What it is made of."""


class RunsStage(Part):
    """Control tokens and runs of text, each as a range of segments and a range of ids, four numbers."""

    runs: list[Annotated[list[Count], Field(min_length=4, max_length=4)]]
    """For each the range of segments and the range of ids; none where tokens were cut off."""


class IdsStage(Part):
    """The ids: the name of the array."""

    input_ids: Literal["input_ids"]
    """The name of the array."""


class TensorsStage(Part):
    """Mask and positions: the names of the arrays; and how many tokens there are."""

    attention_mask: Literal["attention_mask"]
    """The name of the array."""
    position_ids: Literal["position_ids"]
    """The name of the array."""
    length: Count
    """How many tokens there are."""


class UnknownText(Part):
    """Text that another system printed: nothing says what in it is a control token, literal or content."""

    kind: Literal["unknown"]
    """What it is: unknown."""
    text: str
    """The text, with control tokens as they are spelled."""


class ForeignRenderedStage(Part):
    """What another system printed."""

    segments: list[UnknownText]
    """The text."""
    sampled: Annotated[list[Range], Field(max_length=0)]
    """Nothing: it is not known what the model itself generates."""


class ForeignTensorsStage(Part):
    """What another system tells of mask and positions, and how many tokens there are."""

    attention_mask: Literal["attention_mask"] = "attention_mask"
    """The name of the array, where it is told."""
    position_ids: Literal["position_ids"] = "position_ids"
    """The name of the array, where it is told."""
    length: Count
    """How many tokens there are."""


STAGES: Final[dict[str, type[Part]]] = {
    "bytes": BytesStage,
    "request": RequestStage,
    "budget": BudgetStage,
    "images": ImagesStage,
    "template": TemplateStage,
    "rendered": RenderedStage,
    "tokenizer": TokenizerStage,
    "runs": RunsStage,
    "ids": IdsStage,
    "tensors": TensorsStage,
}
"""What the file of each stage holds."""

FOREIGN_STAGES: Final[dict[str, type[Part]]] = {
    "rendered": ForeignRenderedStage,
    "ids": IdsStage,
    "tensors": ForeignTensorsStage,
}
"""What those hold that a pack of another system may have."""


def schema() -> Object:
    """The JSON Schema of the manifest; those of the stages stand in its `$defs`."""
    definitions: Object = {}
    models: list[type[Part]] = [Manifest, *STAGES.values(), *FOREIGN_STAGES.values()]
    for model in models:
        own: Object = model.model_json_schema(by_alias=True)
        inner = own.pop("$defs", {})
        assert isinstance(inner, dict)
        definitions |= {**inner, model.__name__: own}
    top = definitions.pop(Manifest.__name__)
    assert isinstance(top, dict)
    dialect: Object = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, **top, "$defs": dict(sorted(definitions.items()))}
