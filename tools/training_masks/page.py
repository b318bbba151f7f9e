"""The text of docs/masks.md around the tables and requests that were found."""

from __future__ import annotations

import platform
from importlib.metadata import version

from tools.training_masks import report
from tools.training_masks.examples import example
from tools.training_masks.models import Result

HEAD = """# Loss masks beside TRL

Which tokens of a conversation did the model itself write? For Katapi it follows from `sampled { … }` in the template:
`assemble(…).sampled`. TRL TRL_VERSION carries edited copies of chat templates with `{% generation %}` around replies,
for `apply_chat_template(…, return_assistant_tokens_mask=True)` of transformers. `tools/mask_comparison.py` wrote this
page, and `make masks` writes it anew (VERSIONS).

Compared are the conversations of `VECTORS` in which the model has replied, each rendered as a whole without a
generation prompt. A template tells without any marks which of two masks is right. A reply is what follows its prompt:
the conversation before it, with the generation prompt. It ends with the first token at which generation stops, by the
model's own `generation_config.json`. So each reply's prompt is rendered, and the conversation up to the reply and with
it, and both are looked for in the whole; with the original template where that prints the ids that are judged, else
with TRL's copy.

OVERVIEW
*Taken by both*: the last section tells what becomes of the others. *Same ids*: TRL's copy prints what the original
prints, and so does Katapi. *Same mask*: of those.

The tokens of the conversations that both take. *Written*: by the model, as the template tells. *Not told*: in replies
that the template prints otherwise once they are history, or that do not go on their prompt (Qwen3.5's ends with
`<think>\\n`, and of an empty thought behind it the template makes `<think>\\n\\n`, in which both line breaks are one
token); and behind such replies, up to where the next prompt fits, when no token ends them. *Too many*: marked, and not
written. *Too few*: written, and not marked.

TOKENS"""

KINDS = """## What the masks have wrong

Each row is a stretch of tokens, with the number of times that it comes. Katapi is *better* where only TRL's mask has it
wrong, *worse* where only Katapi's has, and the *same* where both have.

FAULTS
Whether a reply begins in the prompt depends on a parameter: with `enable_thinking=false` the prompt itself ends the
thought, and Qwen3.5's always begins it. TRL's masks have one beginning for all settings, Katapi's follow the parameter.
Where both are wrong, a reply has a thought although the request says `enable_thinking=false`: its prompt rules out what
the conversation holds, and Katapi marks the thought as it is marked with `enable_thinking=true`. What ends a reply of
GLM-4.5 is the header of the next message, which both mark.

In the requests below, `⟪` and `⟫` stand around what is marked.
"""

CHANGES = """## Where the ids differ

CHANGES
With TRL's copies of Qwen3 and Qwen3.5 a whole conversation holds all that the model wrote, and can be trained on in one
piece. The originals leave out the thoughts of replies before the last question, and Katapi prints what they print:
those replies are the tokens that are *not told* above. Train on such models reply by reply, each behind the history
that the model is shown when it serves: `loss_mask("last")`. `katapi check --stability MODEL` says for which models it
matters. What is trained on TRL's ids learns to go on a history that the original template never shows.
"""

UNTOLD = """## Where nothing is told

What only one of two masks marks of tokens that are not told, in conversations with the same ids:

UNTOLD
A token such as `.\\n` is the end of a question and the line break in front of a call, before which DeepSeek-R1's
template prints no header; and in Qwen3.5's `\\n\\n` the first line break is the prompt's. Katapi does not mark a token
that is not wholly the model's, nor what the prompt has under the parameters of the request.
"""

REFUSED = """## What is refused

REFUSED
[`differences/`](differences/) explains Katapi's refusals. `apply_chat_template` leaves out members of a message that
are null, and a template that adds an absent content to a text fails.
"""


def page(results: list[Result], vectors: str) -> str:
    """The whole document, for the vectors of a folder. Raises Unexplained."""
    names = ("transformers", "tokenizers", "jinja2")
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)])
    found = report.kinds(results)
    head = HEAD.replace("TRL_VERSION", version("trl")).replace("VERSIONS", versions).replace("VECTORS", vectors)
    parts = [
        head.replace("OVERVIEW", report.overview(results)).replace("TOKENS", report.tokens(results)),
        KINDS.replace("FAULTS", report.faults_table(found)),
        *(f"### {report.heading(kind)}\n\n{report.shown(example(kind, results))}" for kind in report.telling(found)),
        CHANGES.replace("CHANGES", report.changes_table(results)),
        UNTOLD.replace("UNTOLD", report.untold_table(results)),
        REFUSED.replace("REFUSED", report.refusals_table(results)),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
