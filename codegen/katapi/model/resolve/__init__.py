"""Syntax tree → model: binds every name and gives every expression its type."""

from katapi.model.resolve.program import Used, resolve

__all__ = ["Used", "resolve"]
