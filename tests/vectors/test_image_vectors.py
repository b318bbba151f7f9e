"""Images: the arrays of the official processors bit for bit, their tokens and their placeholders.

A file that a processor refuses gives a typed error. The one difference is declared: SigLIP 2's processor takes RGB
alone when it is given an open image, and Katapi brings others to RGB.
"""

from __future__ import annotations

import pytest

import katapi
from tests.images.official import CONFIGURATIONS, cases, differences


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_a_pipeline_gives_what_the_official_processor_gave(configuration: str) -> None:
    found = {
        f"{case['id']} {', '.join(case['inputs'])} ({case['load']})": all_differences
        for case in cases(configuration)
        if (all_differences := list(differences(case, katapi.image_pipeline(configuration, case["load"]))))
    }
    assert not found
