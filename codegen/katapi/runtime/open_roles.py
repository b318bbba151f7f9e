"""Messages of roles that a specification does not name: how the types of a request tell them from the others.

A generated `request.py` with an open set of roles holds::

    class OtherMessage(RequestModel):
        role: Annotated[Content, OtherThan("system", "user")]
        content: Content

    Message = Annotated[SystemMessage | UserMessage | OtherMessage, ByRole()]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from katapi.runtime.fields import refuse
from katapi.runtime.places import quoted

ANY_OTHER: Final = "*"
"""The tag of the messages whose role no class names; no declared role is spelled so."""


class OtherThan:
    """Annotation of a role: any text but those that have a class of their own. R114 for one of these."""

    def __init__(self, *named: str) -> None:
        self.named = frozenset(named)
        """The declared roles."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, role: str) -> str:
        if role in self.named:
            raise refuse("R114", f"messages of role {quoted(role)} have a class of their own")
        return role


class ByRole:
    """Annotation of the union of all messages: one of a role that no class names is of the class with an open role."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        members = by_role(get_args(source))
        choices = {tag: handler.generate_schema(model) for tag, model in members.items()}

        def tag(message: object) -> str | None:
            role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
            if not isinstance(role, str):
                return None
            return role if role in members else ANY_OTHER

        return core_schema.tagged_union_schema(choices, discriminator=tag)


def by_role(messages: tuple[type[BaseModel], ...]) -> dict[str, type[BaseModel]]:
    """The classes of messages by their role, that of all other roles under `ANY_OTHER`."""
    out: dict[str, type[BaseModel]] = {}
    for model in messages:
        annotation = model.model_fields["role"].annotation
        named = get_args(annotation) if get_origin(annotation) is Literal else (ANY_OTHER,)
        out.update((str(role), model) for role in named)
    return out
