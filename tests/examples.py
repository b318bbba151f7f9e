"""How many examples hypothesis draws: few in `make test`, many in `make fuzz`."""

from hypothesis import settings

FUZZ = settings.get_current_profile_name() == "fuzz"


def examples(test: int, fuzz: int) -> settings:
    """So many in `make test`, and so many in `make fuzz`."""
    return settings(max_examples=fuzz if FUZZ else test)
