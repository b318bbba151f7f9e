"""The kinds of origin in words and colours: one table for the terminal and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from katapi.runtime.origins import Kind

Shown: TypeAlias = Kind | Literal["unknown"]
"""What a token is made of; `unknown` where an execution does not say."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind is shown."""

    words: str
    """What it is."""
    trust: str
    """How far it can be trusted, and why."""
    style: str
    """Its style on a terminal, in the words of rich; the page has its colours in `page/page.css`."""


LOOKS: dict[Shown, Look] = {
    "control": Look(
        "control token, placed by the template", "trusted: only a template can place a control token", "bold magenta"
    ),
    "literal": Look("text of the template", "trusted: written in the template", "cyan"),
    "content": Look("text of the request", "untrusted: it came with the request", "green"),
    "mixed": Look("a token that covers both", "untrusted in part: template and request in one token", "yellow"),
    "unknown": Look("of an origin that was not recorded", "untrusted: nothing says where it came from", "default"),
}

SAMPLED = Look("what the model itself generates", "the model's own: what a model is trained on", "underline")
"""Beside the kind of a token: whether the model itself would have generated it."""
