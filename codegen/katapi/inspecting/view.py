"""What the page shows of one execution, or of two: plain data, whatever it was taken from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from katapi.inspecting.kinds import Shown
from katapi.runtime.segments import Path


class Fact(NamedTuple):
    """Something short about a stage or an item: `text` may be long where it is a value of the request."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the pipeline."""

    name: str
    id: str
    """Name and version of what worked here; a count of what came out where nothing has a name."""
    digest: str | None
    """`sha256:` and 64 hexadecimal digits; None where nothing was digested."""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the request that came in."""

    role: str
    fields: tuple[Fact, ...]
    """All that it holds beside its role, texts as they are and other values as JSON."""
    index: int | None
    """Its index in the request that was rendered; None where it was left out."""
    left_out: str = ""
    """Why it was left out."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment: something that the template printed in one go."""

    kind: Shown
    text: str
    sampled: bool
    place: str
    """The place in the request or in the spec: `messages[1].content`, `spec/models/qwen.kata:69:17`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where tokens came from; tokens in a row mostly share one."""

    kind: Shown
    message: int | None = None
    """The index of the message in the request that was rendered."""
    field: str | None = None
    paths: tuple[str, ...] = ()
    """The places in the request."""
    lines: tuple[str, ...] = ()
    """The places in the spec, as `file:line:column`."""
    parts: tuple[int, int] = (0, 0)
    """The half-open range of segments that are covered."""


class Token(NamedTuple):
    """One token of the input."""

    id: int
    bytes: bytes | None
    """What the decoder gives for it behind those before it; None where that is not known."""
    place: int
    """The index of its place."""
    sampled: bool


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one thing that a budget decided on."""

    section: str
    items: str
    """Which messages, tool or document, by their indices in the request that came in."""
    kept: bool
    why: str
    before: int
    """The tokens of the input without it."""
    after: int | None
    """The tokens of the input with it; None where that was not tried."""


@dataclass(frozen=True, slots=True)
class BudgetView:
    """How the tokens of the input are shared out, and what a policy decided."""

    sections: tuple[tuple[str, int], ...]
    """Each section with its tokens; `template` counts those that the template wrote."""
    policy: str | None = None
    """The name and version of the policy; None where none was named, and then there is no window."""
    window: int = 0
    reserve: int = 0
    items: tuple[Item, ...] = ()
    cut: str = ""
    """What was cut off on the left, in a sentence."""
    known: bool = True
    """Whether it is known that no policy was named, where none is here."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image, a video or a sound of a message."""

    kind: str
    """Its type in the request."""
    message: int
    """The index of its message in the request that was rendered."""
    path: str
    """Its place in the request."""
    tokens: tuple[int, int] | None
    """The half-open range of its placeholder tokens; None where it is not known which they are."""
    facts: tuple[Fact, ...] = ()
    steps: Path = ()
    """The same place in steps, of an image whose bytes were at hand."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution, from the bytes of the request to what the model receives."""

    model: str
    label: str
    """What it is called beside another execution."""
    stages: tuple[Stage, ...]
    messages: tuple[Message, ...]
    parts: tuple[Part, ...]
    places: tuple[Place, ...]
    tokens: tuple[Token, ...]
    budget: BudgetView
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place at which two executions part."""

    stage: str
    """The name of the stage."""
    what: str
    """The smallest difference there, in a sentence."""
    tokens: tuple[int, int]
    """The first token, in each of the two, that the difference reaches."""
    follows: tuple[str, ...] = ()
    """What it led to, in sentences."""


@dataclass(frozen=True, slots=True)
class View:
    """What one page shows: an execution, or two with the first difference between them."""

    versions: tuple[Fact, ...]
    """What made the execution: Katapi, Python."""
    execution: Execution
    other: Execution | None = None
    difference: Difference | None = None
    """None where there is no other, and where the two are alike."""
    alike: str = "The two are alike."
    """What is said of two without a difference."""
