"""Scores as serde_json reads them."""

from __future__ import annotations

import pytest

from katapi.runtime.tokenization.scores import read_score


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("0.0", 0.0),
        ("-2.0122928619384766", -2.012292861938477),  # the nearest would be …4766
        ("130.65331632653061", 130.6533163265306),
        ("-9.5", -9.5),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("2.5e+2", 250.0),
        ("1e-400", 0.0),
        ("0e999999", 0.0),
        ("123456789012345678901234567890.5", 1.2345678901234568e29),
        ("0.12345678901234567890123456789", 0.12345678901234568),
    ],
)
def test_read_score(number: str, value: float) -> None:
    assert read_score(number) == value


@pytest.mark.parametrize("number", ["", "1.", "nan", "--1", "1e400", "10e308"])
def test_no_score(number: str) -> None:
    with pytest.raises(ValueError, match="number"):
        read_score(number)
