"""Where a user's cache lies: artifacts, and what was derived of them."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The folder in the environment variable `KATAPI_CACHE`, otherwise `~/.cache/katapi`."""
    return Path(os.environ.get("KATAPI_CACHE") or "~/.cache/katapi").expanduser()
