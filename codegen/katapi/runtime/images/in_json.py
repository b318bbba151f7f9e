"""Image parts in values that are any JSON: no template shows them, and their bytes would be printed as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from katapi.runtime.dataclass import dataclass
from katapi.runtime.fields import refuse
from katapi.runtime.places import quoted

PART_TYPES = frozenset({"image", "image_url", "input_image"})
"""The types of parts by which clients send images."""

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class NoImages:
    """Annotation of a field of JSON: R118 for a list of parts that has an image in it."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(without_images, handler(source))


def without_images(value: V) -> V:
    """`value`, where it is no list of parts with an image in it, nor has one as its `content`. R118 otherwise."""
    parts: object = value.get("content") if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        return value
    for index, part in enumerate(parts):
        if isinstance(part, Mapping) and isinstance(part.get("type"), str) and part["type"] in PART_TYPES:
            raise refuse(
                "R118",
                f"a part of type {quoted(part['type'])} stands in a value that is printed as JSON, its bytes as text",
                help="send it in a message whose content takes images; put a list that is data into an object",
                within=(index,) if parts is value else ("content", index),
            )
    return value
