"""Syntax tree → model: binds every name and gives every expression its type."""

from katapi.model.resolve.program import resolve

__all__ = ["resolve"]
