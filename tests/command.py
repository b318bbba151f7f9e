"""The `katapi` command as a user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_SOURCES = os.pathsep.join(str(ROOT / folder) for folder in ("codegen", "generated"))


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit status and what it wrote."""

    status: int
    out: str
    err: str


def python(
    *arguments: str, stdin: bytes = b"", cwd: Path = ROOT, env: Mapping[str, str] | None = None, timeout: float = 60
) -> Done:
    """A Python process that finds the sources of this repository; fails after `timeout` seconds."""
    variables = {**os.environ, "PYTHONPATH": _SOURCES, **(env or {})}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, input=stdin, cwd=cwd, env=variables, capture_output=True, check=False, timeout=timeout
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def katapi(
    *arguments: str, stdin: bytes = b"", cwd: Path = ROOT, env: Mapping[str, str] | None = None, timeout: float = 60
) -> Done:
    """`katapi` with these arguments."""
    return python("-m", "katapi", *arguments, stdin=stdin, cwd=cwd, env=env, timeout=timeout)
