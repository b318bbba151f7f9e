"""The `katapi` command: as a user runs it, in a process of its own, or quicker in this one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from katapi.cli import main

# typer takes these for a wish for colours, whatever they say, when it is first imported.
for _variable in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
    os.environ.pop(_variable, None)

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


def here(*arguments: str, stdin: bytes = b"", cwd: Path = ROOT) -> Done:
    """`katapi` with these arguments, in this process. What a command imports stays imported."""
    out, err = _stream(), _stream()
    status: object = 0
    with (
        patch.object(sys, "argv", ["katapi", *arguments]),
        patch.object(sys, "stdin", _stream(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
        chdir(cwd),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    assert isinstance(status, int), status
    out.seek(0)
    err.seek(0)
    return Done(status, out.read(), err.read())


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="", write_through=True)
