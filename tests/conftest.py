"""Hypothesis profiles: `make test` draws the same examples every time, and `make fuzz` many new ones.

`tests/examples.py` gives other numbers to tests whose examples are cheap or dear. The property tests in
`generated/tests` are the same for every model, and there are many models: each draws fewer.
"""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from katapi.engines import stale

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("fuzz", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
for name, examples in {"suite": 25, "fuzz": 100}.items():
    settings.register_profile(f"{name} of generated code", settings.get_profile(name), max_examples=examples)


def _profile(config: pytest.Config) -> str:
    return "fuzz" if config.getoption("hypothesis_profile", None) == "fuzz" else "suite"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """What holds where nothing else is said: in `generated/tests`. Old extensions would be tested for new sources."""
    changed = stale()
    if changed:
        pytest.exit(f"the extension of {changed[0]} is older than its source: run `make native` or `make clean`", 4)
    settings.load_profile(f"{_profile(config)} of generated code")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Tests take the profile that holds when their module is imported; only the modules of this folder come here."""
    settings.load_profile(_profile(collector.config))
    report = yield
    settings.load_profile(f"{_profile(collector.config)} of generated code")
    return report
