"""Hypothesis profiles: `make test` runs `suite`, the same examples every time, and `make fuzz` many new ones.

`tests/examples.py` gives other numbers to tests whose examples are cheap or dear.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("fuzz", deadline=None, max_examples=1_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
