"""A derived automaton, run as it is defined, and the pieces that the patterns give one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from katapi.runtime.native.cuts import Cut, NotScannable, cuts_of
from katapi.runtime.native.scanning import Scanning
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.tokenization.configuration import TokenizerConfiguration


def families() -> dict[tuple[Cut, ...], str]:
    """The patterns at which the declared tokenizers cut, each with the name of the first package that has them."""
    found: dict[tuple[Cut, ...], str] = {}
    for path in sorted(Path(import_module("katapi_models").__path__[0]).glob("*/tokenizer.py")):
        rules = import_module(f"katapi_models.{path.parent.name}.tokenizer").CONFIGURATION
        assert isinstance(rules, TokenizerConfiguration)
        try:
            found.setdefault(cuts_of(rules.pretokenizers, rules.unicode), path.parent.name)
        except NotScannable:
            continue
    return found


def pieces(scanning: Scanning, text: str) -> list[str]:
    """What the automaton cuts a text into."""
    classes = scanning.partition.classes_of(text)
    found: list[str] = []
    place = 0
    while place < len(text):
        end = _match(scanning, classes, place)
        if end < 0:
            region = _region(scanning, classes[place])
            end = place + 1
            while end < len(text) and _region(scanning, classes[end]) == region and _match(scanning, classes, end) < 0:
                end += 1
        found.append(text[place:end])
        place = end
    return found


def _region(scanning: Scanning, number: int) -> int:
    (index,) = [index for index, region in enumerate(scanning.regions) if region.members >> number & 1]
    return index


def _match(scanning: Scanning, classes: bytes, place: int) -> int:
    state: int | None = scanning.regions[_region(scanning, classes[place])].start
    last = -1
    while state is not None:
        way = scanning.states[state].ways[classes[place] if place < len(classes) else scanning.end]
        if way.ends:
            last = place
        state = way.to
        place += 1
    return last


def split(cuts: Sequence[Cut], text: str) -> list[str]:
    """What the patterns give, each applied to the pieces of those before it."""
    parts = [text] if text else []
    for pattern, unicode in cuts:
        matcher = compile_pattern(pattern, unicode=unicode)
        parts = [part for piece in parts for part in matcher.split(piece)]
    return parts
