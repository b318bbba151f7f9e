"""Conversations of the same shape with texts that were never met, as the traffic of a server brings them.

Each content is replaced by as many characters of real text of its kind, cut from the documents at a place of its own.
So the words come again, as they do in traffic, and no content does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from katapi.runtime.json_types import Json
from tools.benchmarks.conversations import Conversation
from tools.benchmarks.corpus import documents

CHUNKS = 12
"""Parts of 64 KiB of each kind of document."""
SAID = ("content", "reasoning_content")
"""The members of a message that are renewed."""

_PLAIN = str.maketrans("", "", "\"'\\<>&")


def renewal() -> Renewal:
    """Out of the documents that are at hand."""
    return Renewal({texts.kind: "".join(part for (part,) in texts.items) for texts in documents(CHUNKS)})


class Renewal:
    """Where the next texts are cut from."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        """`sources` are long texts by kind; `English` must be there, and stands in for kinds that are not."""
        self._sources = sources
        self._at = dict.fromkeys(sources, 0)
        self._laps = dict.fromkeys(sources, 0)

    def contents(self, conversation: Conversation) -> Conversation:
        """What users and assistants say is new; the system prompt and the tools are the same."""
        return self._renewed(conversation, all_of_it=False)

    def everything(self, conversation: Conversation) -> Conversation:
        """The system prompt, and what describes the tools, are new too."""
        return self._renewed(conversation, all_of_it=True)

    def text(self, like: str) -> str:
        """As many characters of the same kind of text, or of one whole source where that is shorter."""
        kind = kind_of(like)
        kind = kind if kind in self._sources else "English"
        source = self._sources[kind]
        if self._at[kind] + len(like) > len(source):
            self._laps[kind] += 1
            self._at[kind] = self._laps[kind]  # each time round, cuts fall at other places
        at = self._at[kind]
        self._at[kind] = at + len(like)
        return source[at : at + len(like)]

    def _renewed(self, conversation: Conversation, *, all_of_it: bool) -> Conversation:
        request = json.loads(conversation.raw)
        for message in request["messages"]:
            if all_of_it or message["role"] != "system":
                message.update((key, self.text(message[key])) for key in SAID if isinstance(message.get(key), str))
        if all_of_it and "tools" in request:
            request["tools"] = self._described(request["tools"])
        raw = json.dumps(request, ensure_ascii=False).encode()
        return Conversation(conversation.id, conversation.params, raw)

    def _described(self, schema: Json) -> Json:
        """A schema with other descriptions, on one line and without what libraries escape each in its own way."""
        if isinstance(schema, list):
            return [self._described(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        return {
            key: " ".join(self.text(part).translate(_PLAIN).split())
            if key == "description" and isinstance(part, str)
            else self._described(part)
            for key, part in schema.items()
        }


def kind_of(text: str) -> str:
    """The kind of document that a content is like: `JSON`, `Chinese` or `English`."""
    if text.lstrip()[:1] in ("{", "["):
        return "JSON"
    han = sum("\u4e00" <= character <= "\u9fff" for character in text)
    return "Chinese" if han * 4 > len(text) else "English"
