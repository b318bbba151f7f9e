"""The `katapi` command. Thin: each command reads its arguments, calls the library, and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line; exit status 0: fine, 1: the input or a spec is at fault, 2: usage."""
    try:
        from katapi.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("katapi: the command line needs more packages; run `pip install 'katapi[cli]'`")
    try:
        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(130)
