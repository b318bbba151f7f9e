"""Values of a request as texts."""

from __future__ import annotations

import json

from katapi.runtime.json_types import Json


def written(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
