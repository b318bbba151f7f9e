"""The tests of this folder need playwright and Chromium: `make test-browser` installs them and runs these tests."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.browser.browser import Browser, chromium

collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium without a window."""
    with chromium(tmp_path_factory.mktemp("pages")) as started:
        yield started
