"""Hypothesis profiles: `make test` draws the same examples every time, and `make fuzz` many new ones.

`tests/examples.py` gives other numbers to tests whose examples are cheap or dear. The property tests in
`generated/tests` are the same for every model, and there are many models: each draws fewer.
"""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("generated", settings.get_profile("suite"), max_examples=25)
settings.register_profile("fuzz", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("generated")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Tests take the profile that holds when their module is imported; only the modules of this folder come here."""
    if collector.config.getoption("hypothesis_profile", None):
        return (yield)
    settings.load_profile("suite")
    report = yield
    settings.load_profile("generated")
    return report
