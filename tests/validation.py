"""What pydantic makes of a Python value that a caller builds a request from, its refusal in Katapi's words."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from katapi.runtime.request_errors import request_error
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)


def validated(model: type[R], value: object) -> R:
    """A value as an instance of `model`, or the RequestError that tells of its first fault."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise request_error(model, error) from None
