"""Each marked line mixes what the types keep apart, and mypy must refuse it with the words that follow `# E:`.

Not run and not part of the project's own run of mypy; `test_mixups.py` compares what mypy says with the marks.
"""

from __future__ import annotations

import katapi
from katapi.runtime.printed import ContentText, Fixed, LiteralText, Printed, PrintedText, fixed
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    ControlToken,
    Literal,
    LiteralSegment,
    Segment,
    Site,
)
from katapi.runtime.text import trim
from katapi_models import book, qwen3
from katapi_models.book.request import Request as BookRequest
from katapi_models.book.vocabulary import Control as BookControl
from katapi_models.qwen.vocabulary import Control
from katapi_models.qwen3 import renderer
from katapi_models.qwen3.request import AssistantMessage, Request, SystemMessage, UserMessage

SITE = Site(1, 1)
PATH = ("messages", 0, "content")
CONTENT = Content("<|im_start|>")
LITERAL = Literal("<|im_start|>")

# What each kind of segment takes.

ControlSegment(Control.IM_START, SITE)
ControlSegment(CONTENT, SITE)  # E: incompatible type "Content"; expected "ControlToken"
ControlSegment(LITERAL, SITE)  # E: incompatible type "Literal"; expected "ControlToken"
ControlSegment("<|im_start|>", SITE)  # E: incompatible type "str"; expected "ControlToken"
ControlSegment(151644, SITE)  # E: incompatible type "int"; expected "ControlToken"
LiteralSegment(LITERAL, SITE)
LiteralSegment(CONTENT, SITE)  # E: incompatible type "Content"; expected "Literal"
LiteralSegment(Control.IM_START, SITE)  # E: incompatible type "Control"; expected "Literal"
LiteralSegment("system\n", SITE)  # E: incompatible type "str"; expected "Literal"
ContentSegment(CONTENT, PATH)
ContentSegment(LITERAL, PATH)  # E: incompatible type "Literal"; expected "Content"
ContentSegment(Control.IM_START, PATH)  # E: incompatible type "Control"; expected "Content"
ContentSegment("hello", PATH)  # E: incompatible type "str"; expected "Content"

# One kind of segment is no other, and content stays what it is through the functions of the language.

control: ControlSegment = ContentSegment(CONTENT, PATH)  # E: variable has type "ControlSegment"
literal: LiteralSegment = ContentSegment(CONTENT, PATH)  # E: variable has type "LiteralSegment"
segments: list[Segment] = [CONTENT]  # E: List item 0 has incompatible type "Content"

# The same holds for what renderers print, of which segments are made.

stretch: Fixed = fixed(ControlSegment(Control.IM_START, SITE), LiteralSegment(LITERAL, SITE))
fixed(ContentSegment(CONTENT, PATH))  # E: incompatible type "ContentSegment"; expected "ControlSegment |
stretch = (CONTENT, stretch[1])  # E: expression has type "tuple[Content, Stretch]"
fixed(LITERAL)  # E: incompatible type "Literal"; expected "ControlSegment | LiteralSegment | Mark"
own_text: LiteralText = (LITERAL, SITE)
own_text = (CONTENT, SITE)  # E: expression has type "tuple[Content, Site]"
sent: ContentText = (CONTENT, PATH, 0)
sent = (LITERAL, PATH, 0)  # E: expression has type "tuple[Literal, tuple[str, int, str], int]"
sent = ("hello", PATH, 0)  # E: expression has type "tuple[str, tuple[str, int, str], int]"
text: PrintedText = stretch  # E: variable has type "tuple[Literal, Site]
trim(stretch)  # E: incompatible type "tuple[Spelled, Stretch]"
own_text = trim(sent)  # E: variable has type "tuple[Literal, Site]"
out: list[Printed] = [stretch, own_text, sent]
out.append(CONTENT)  # E: incompatible type "Content"
out += (stretch, (LITERAL, PATH, 0))  # E: incompatible type "tuple[tuple[Spelled, Stretch], tuple[Literal

# A control token is a member of the enum, and nothing becomes one.

token: ControlToken = CONTENT  # E: expression has type "Content", variable has type "ControlToken"
token = BookControl.BOS
own: Control = BookControl.BOS  # E: expression has type "katapi_models.book.vocabulary.Control"
own = Control.IM_STRAT  # E: has no attribute "IM_STRAT"
Content(Control.IM_START)  # E: incompatible type "Control"; expected "str"
content: Content = Control.IM_START.spelling  # E: expression has type "str", variable has type "Content"
ControlSegment(Control.IM_START, SITE).token = Control.IM_END  # E: is read-only

# Texts of a request are content.

SystemMessage(role="system", content=CONTENT)
SystemMessage(role="system", content=LITERAL)  # E: incompatible type "Literal"; expected "Content"
SystemMessage(role="system", content="Be brief.")  # E: incompatible type "str"; expected "Content"
SystemMessage(role="system", content=Control.IM_START)  # E: incompatible type "Control"; expected "Content"
SystemMessage(role="user", content=CONTENT)  # E: incompatible type "Literal['user']"; expected "Literal['system']"
UserMessage(role="user")  # E: Missing named argument "content"
UserMessage(role="user", content=None)  # E: incompatible type "None"; expected "Content"
AssistantMessage(role="assistant", reasoning=CONTENT)  # E: Unexpected keyword argument "reasoning"
AssistantMessage(role="assistant").content.strip()  # E: has no attribute "strip"

# A model takes its own requests.

REQUEST = Request(messages=(UserMessage(role="user", content=CONTENT),))
qwen3.MODEL.assemble(REQUEST)
book.MODEL.assemble(REQUEST)  # E: expected "katapi_models.book.request.Request | bytes"
renderer.render(BookRequest(messages=()))  # E: expected "katapi_models.qwen3.request.Request"
Request(messages=(CONTENT,))  # E: incompatible type "tuple[Content]"
qwen3.MODEL.assemble("{}")  # E: incompatible type "str"; expected "Request | bytes"
qwen3.MODEL.encode(Control.IM_START)  # E: incompatible type "Control"; expected "str | bytes"
katapi.load("qwen3").tokenizer.encode(Control.IM_START)  # E: incompatible type "Control"; expected "str"
