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
Object: TypeAlias = dict[str, JsonValue]
"""Any JSON object."""


class Part(BaseModel):
    """The base of all classes here: nothing is converted, nothing else is taken."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class Versions(Part):
    """What ran."""

    katapi: str
    python: str
    pydantic: str
    numpy: str


class Share(Part):
    """A share of the room, in tokens or in percent."""

    tokens: Count | None = None
    percent: Count | None = None


class Allotment(Part):
    """How a section of a budget is filled."""

    section: Literal["instructions", "tools", "history", "documents", "current", "generation"]
    order: Literal["newest first", "oldest first", "by score", "as given"]
    misfit: Literal["skip", "stop"]
    grouping: Literal["by message", "by turn"]
    at_least: Share | None
    at_most: Share | None


class BudgetPolicy(Part):
    """A budget, in full."""

    id: str
    digest: DigestOrNone
    window: int
    reserve: int
    optional: list[Allotment]
    cut_left: Annotated[
        list[Literal["characters", "messages", "calls", "instructions", "images"]] | None, Field(alias="cut left")
    ]


class Error(Part):
    """Why the execution ended early; `at` is the stage that was not reached."""

    at: str
    stage: str
    code: str
    where: str
    message: str
    help: str


class StageFile(Part):
    """Where the content of a stage is, and the digest that the light record has of it; null where it was redacted."""

    file: str
    digest: Digest | None


class FileDigest(Part):
    """The digest and the size of a file of the pack."""

    sha256: Sha256
    size: Count


class Artifact(Part):
    """Something that the tokenizer is made of: by its digest, and as a file of the pack where it was embedded."""

    kind: Literal["artifact", "configuration", "controls", "table", "tokens"]
    name: str
    sha256: Sha256
    file: str | None


class StageFiles(Part):
    """The stages that were reached."""

    bytes: StageFile | None = None
    request: StageFile | None = None
    budget: StageFile | None = None
    images: StageFile | None = None
    template: StageFile | None = None
    rendered: StageFile | None = None
    tokenizer: StageFile | None = None
    runs: StageFile | None = None
    ids: StageFile | None = None
    tensors: StageFile | None = None


class Manifest(Part):
    """`manifest.json`: what the pack is of, and which file holds what; `source` is another system that ran."""

    format: Literal[1]
    source: str | None = None
    model: str
    versions: Versions
    redaction: Literal["digests", "placeholders"] | None
    policy: BudgetPolicy | str | None
    error: Error | None
    stages: StageFiles
    request: str | None
    arrays: dict[str, str]
    artifacts: list[Artifact]
    media: list[Artifact]
    files: dict[str, FileDigest]


class SubstitutionMade(Part):
    """What was replaced in order to read the bytes."""

    stage: str
    where: str
    what: str


class BytesStage(Part):
    """What came in, and how it was read."""

    sha256: Sha256 | None
    size: Count | None
    params: Object | None
    invalid_utf8: Literal["strict", "replace"]
    max_depth: Count
    substitutions: list[SubstitutionMade]


class Completion(Part):
    """A completion in the ids: the message that it is, and the range of its ids."""

    reply: Count
    start: Count
    end: Count


class RequestStage(Part):
    """The canonical request: the rules that it was read by, messages, parameters set, and the defaults of others."""

    id: str
    digest: DigestOrNone
    messages: list[JsonValue]
    parameters: Object
    defaults: Object
    extensions: list[Completion]


class BudgetStage(Part):
    """What a budget decided; `required` and `together` are what `fit_context` was asked."""

    budget: BudgetPolicy | None
    required: list[Count] | None
    together: list[Range]
    decision: Object | None


class ImagesStage(Part):
    """What was made of each image."""

    images: list[Object]


class TemplateStage(Part):
    """Which template printed."""

    id: str
    digest: DigestOrNone


Site: TypeAlias = Annotated[list[int | str | None], Field(min_length=3, max_length=3)]
"""Line, column and file of a place in a spec."""


class Control(Part):
    """A control token that the template printed."""

    kind: Literal["control"]
    id: Count
    text: str
    site: Site


class LiteralText(Part):
    """Text of the template."""

    kind: Literal["literal"]
    text: str
    site: Site


class ContentText(Part):
    """Text of the request; `start` is null where it was made of a value, and is no stretch of it."""

    kind: Literal["content"]
    text: str
    path: list[str | int]
    start: Count | None


class RenderedStage(Part):
    """What the template printed, and the ranges of segments that the model itself generates."""

    segments: list[Annotated[Control | LiteralText | ContentText, Field(discriminator="kind")]]
    sampled: list[Range]


class TokenizerMade(Part):
    """What a tokenizer is made of."""

    configuration: Digest
    vocabulary: Digest
    controls: Digest
    artifact: str | None
    artifact_sha256: Sha256 | None
    unicode: dict[str, str]


class TokenizerStage(Part):
    """Which tokenizer encoded."""

    id: str
    digest: DigestOrNone
    parts: TokenizerMade


class RunsStage(Part):
    """Control tokens and runs of text, each as a range of segments and a range of ids, four numbers."""

    runs: list[Annotated[list[Count], Field(min_length=4, max_length=4)]]


class IdsStage(Part):
    """The ids: the name of the array."""

    input_ids: Literal["input_ids"]


class TensorsStage(Part):
    """Mask and positions: the names of the arrays; and how many tokens there are."""

    attention_mask: Literal["attention_mask"]
    position_ids: Literal["position_ids"]
    length: Count


class UnknownText(Part):
    """Text that another system printed: nothing says what in it is a control token, literal or content."""

    kind: Literal["unknown"]
    text: str


class ForeignRenderedStage(Part):
    """What another system printed."""

    segments: list[UnknownText]
    sampled: Annotated[list[Range], Field(max_length=0)]


class ForeignTensorsStage(Part):
    """What another system tells of mask and positions, and how many tokens there are."""

    attention_mask: Literal["attention_mask"] = "attention_mask"
    position_ids: Literal["position_ids"] = "position_ids"
    length: Count


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
