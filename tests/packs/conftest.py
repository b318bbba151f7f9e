"""Redacted packs of each kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import katapi
from katapi.packs.pack import Pack, Redaction
from katapi.packs.redaction import redacted
from tests.packs.made import packs


@pytest.fixture(scope="session")
def hidden() -> Callable[[str, Redaction], Pack]:
    """A pack of a kind without its contents."""
    made = packs()

    @cache
    def redact(kind: str, how: Redaction) -> Pack:
        return redacted(made[kind], katapi.load(made[kind].model), how)

    return redact
