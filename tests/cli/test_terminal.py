"""What content can do to the terminal of a reader: nothing. Into a file or a pipe it goes as it is."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, here

HARM = "a\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r\u202eb\tc\n天空"
SHOWN = "a\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x7f\\x0d\\u202eb\tc\n天空"
RAW = json.dumps({"messages": [{"role": "user", "content": HARM}]}).encode()
SOURCES = os.pathsep.join(str(ROOT / folder) for folder in ("codegen", "generated"))


def on_a_terminal(*arguments: str, folder: Path) -> str:
    """What a command writes to a terminal, its line ends those of a text."""
    file = folder / "request.json"
    file.write_bytes(RAW)
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "katapi", *arguments, str(file)]
        variables = {**os.environ, "PYTHONPATH": SOURCES, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
        with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=variables) as process:
            os.close(theirs)
            written = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                written += part
        assert process.returncode == 0, written
    finally:
        os.close(ours)
    return written.decode().replace("\r\n", "\n")


def harmless(text: str) -> bool:
    return all(c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f" and c != "\u202e") for c in text)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_render_shows_what_would_command_the_terminal(tmp_path: Path) -> None:
    written = on_a_terminal("render", "qwen3", folder=tmp_path)
    assert harmless(written)
    assert SHOWN in written
    assert here("render", "qwen3", stdin=RAW).out.count(HARM) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_json_on_a_terminal_is_the_same_value(tmp_path: Path) -> None:
    written = on_a_terminal("assemble", "qwen3", folder=tmp_path)
    assert harmless(written)
    assert json.loads(written) == json.loads(here("assemble", "qwen3", stdin=RAW).out)


@pytest.mark.parametrize("command", ["render", "assemble"])
def test_in_colours_it_is_always_shown(command: str) -> None:
    written = here(command, "qwen3", "--color", stdin=RAW).out
    assert harmless(written)
    assert SHOWN.partition("\t")[0] in written  # a tab is as wide there as it would be


def test_an_error_shows_it_too() -> None:
    raw = json.dumps({"messages": [], "a\x1b[2J": 1}).encode()
    done = here("render", "qwen3", stdin=raw)
    assert done.status == 1
    assert harmless(done.err)
