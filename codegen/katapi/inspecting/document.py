"""The page as one HTML file: markup, style, script and data put together, with nothing to load.

Its Content-Security-Policy names the style and the script by their digests. Nothing else can run, whatever a content
spells, nothing can be loaded or sent, and the script cannot make markup of a text (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from katapi.inspecting.data import script_text
from katapi.inspecting.view import View

_SCRIPTS = ("data.js", "list.js", "page.js")


def page(view: View) -> str:
    """The text of the HTML file, to be written in UTF-8."""
    style, script = _file("page.css"), "".join(map(_file, _SCRIPTS))
    parts = {"POLICY": _policy(style, script), "STYLE": style, "SCRIPT": script, "DATA": script_text(view)}
    text = _file("page.html")
    for name, part in parts.items():  # the data last: what it holds is not looked at again
        before, behind = text.split(f"{{{{{name}}}}}")
        text = before + part + behind
    return text


@cache
def _file(name: str) -> str:
    return files("katapi.inspecting").joinpath("page", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
