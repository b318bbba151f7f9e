"""Plain JSON of stages, by the kinds that it is known to have."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.json_types import Json, JsonObject


def items(value: Json) -> list[Json]:
    """An array; empty for what is none."""
    return [*value] if isinstance(value, list | tuple) else []


def objects(value: Json) -> list[JsonObject]:
    """The objects in an array."""
    return [item for item in items(value) if isinstance(item, Mapping)]


def numbers(value: Json) -> list[int]:
    """The integers in an array."""
    return [item for item in items(value) if isinstance(item, int)]
