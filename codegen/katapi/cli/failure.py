"""How a command says that something is wrong."""

from __future__ import annotations


class Failed(Exception):
    """A command that found something wrong; its text goes to stderr, and the exit status is 1."""


def needs_compiler(error: ModuleNotFoundError) -> Failed:
    """What to say where the packages of the compiler are not there; raises `error` where it is another one."""
    if error.name in ("lark", "jinja2"):
        return Failed("katapi: compiling needs more packages; run `pip install 'katapi[compiler]'`")
    raise error
