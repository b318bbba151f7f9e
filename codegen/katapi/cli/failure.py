"""How a command says that something is wrong."""

from __future__ import annotations


class Failed(Exception):
    """A command that found something wrong; its text goes to stderr, and the exit status is 1."""
