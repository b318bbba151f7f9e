"""The types of a JSON value as Katapi passes it on: read-only to the type checker, so that no stage edits a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonArray: TypeAlias = Sequence["Json"]
"""A JSON array, in order."""

JsonObject: TypeAlias = Mapping[str, "Json"]
"""A JSON object, in the order of the request."""

Json: TypeAlias = None | bool | int | float | str | JsonArray | JsonObject
"""Any JSON value."""
