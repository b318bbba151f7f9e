"""Hypothesis profiles: `make test` runs `suite`, the same examples every time, and `make fuzz` many new ones."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("fuzz", deadline=None, max_examples=5000)
settings.load_profile("suite")
