"""Runs `child.py` for a peer, and gives the lines that it wrote until it ended."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tools.benchmarks.vocabularies import ROOT, Vocabulary

Figures: TypeAlias = dict[str, float | str]


class Outcome(NamedTuple):
    """What a process wrote, and how it ended."""

    lines: list[Figures]
    ended: str
    """Why it did not come to its end; empty where it did."""


def run(
    task: str, peer: str, vocabulary: Vocabulary, *arguments: str, texts: Iterable[str] = (), limit: float
) -> Outcome:
    """One process; it is stopped after `limit` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "vocabulary.json")
        file.write_text(json.dumps(vocabulary), encoding="utf-8")
        command = [sys.executable, "-m", "tools.benchmarks.child", task, peer, str(file), *arguments]
        given = "".join(json.dumps(text) + "\n" for text in texts)
        try:
            done = subprocess.run(
                command, cwd=ROOT, input=given.encode(), capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired as stopped:
            return Outcome(_figures(stopped.stdout or b""), f"stopped after {limit:.0f} s")
    return Outcome(_figures(done.stdout), _told(done.returncode, done.stderr) if done.returncode else "")


def _told(status: int, errors: bytes) -> str:
    """How a process ended: its status, and the last line of its errors that says something of them."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines()]
    said = [line for line in lines if line and not line.startswith("note:") and not line.endswith(":")]
    return f"status {status}: {said[-1][:100]}" if said else f"status {status}"


def _figures(written: bytes) -> list[Figures]:
    lines = written.decode(errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
