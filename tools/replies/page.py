"""The text of docs/replies.md around the tables and cases that were found."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version

from tools.replies import report
from tools.replies.report import Result

HEAD = """# Replies beside renderers

`m.parse` takes what a model sampled apart, and `m.extend` goes on behind it; both follow from the template, without a
line of code for a model. The package renderers RENDERERS has `parse_response` and `bridge_to_next_turn`, written by
hand for each family of models. `tools/reply_comparison.py` ran both on the models that both have and wrote this page;
`make replies` writes it anew (VERSIONS).

The conversations are those of `VECTORS`, at most MOST replies of a model, taken evenly, and what is made of
BROKEN of them by rule. renderers gets the tokenizer.json of the model; for OWN, whose file the lock does not
name, it gets Katapi's tokenizer, which gives the same ids. Prompts and completions are the same ids for both sides;
gpt-oss of renderers also gets the `<|start|>assistant` that the official prompt ends with, which its parser needs.

OVERVIEW
Four numbers each: cases in which both have the same faults or none (*same*), in which only renderers has a fault or has
all of Katapi's and more (*better*), the other way round (*worse*), and in which each has a fault that the other has not
(*other*). The whole: TOTAL.

## Parsing

A completion is what follows its prompt when the conversation up to the reply is rendered with it; where the template
prints no such thing (DeepSeek-R1 leaves the thought out that its prompt begins), it is the sampled part of the reply,
and both sides are given no prompt. The message of the conversation is the judge: a reading is right where its calls are
the message's, names and JSON values of arguments, where content and reasoning are the message's but for white space at
the ends, and where the template prints for it what it printed for the message. Reasoning that the template does not
print is not asked for.

Of a malformed reply, made from a good one, it is known what is whole in it. Each of these is a fault: a call that the
model did not write, one with other arguments, a call lost that is whole, text of content or reasoning lost or added. A
call that is damaged may be given as it was meant, or not at all. Where a tag that parts content from reasoning is
missing, text may stand in either, or be told as what could not be read (Katapi's `faults`, renderers' `raw` of a failed
call). Of renderers the calls with the status `ok` count.

PARSING
FAULTS
### What is not the same

DIFFERENCES
"""

WORSE = """## Where Katapi is worse

The shortest case of each kind. Where a reply can end without a closing token (GLM-4.5, whose replies end with the
header of the next message, and Gemma 4), a token that no reply of the model holds is taken for its end: what stands
behind it is in `faults`, and not in the content. Behind a missing token that comes more than once in a call
(`｜DSML｜` of DeepSeek V4), Katapi finds into the calls again at the next such token, which may be too late for the
next call. A line break too many behind the name of GLM-4.5's tools belongs to the name, unless the request has tools
and says otherwise.

"""

OTHER = """## Where each has a fault of its own

"""

EXTENSION = """## Extension

The next prompt must begin with every id of the prompt and of the completion, and behind them must stand what the
template prints there: the ids of the whole conversation behind what was sampled of the reply. Where the template is
stable, these are the ids of the whole conversation. A completion is taken with its closing token, and without it where
it has one; then the closing token must be added.

EXTENSION
renderers gives no reason when it refuses (`None`); the caller then renders the whole conversation anew. A
result names its call by an id that the model did not write: `m.extend` gives the calls that it read the ids of the
results behind them, in order.

NOT_RIGHT"""


def page(results: Sequence[Result], vectors: str, most: int, broken: int) -> str:
    """The whole document, for the vectors of a folder."""
    names = ("transformers", "tokenizers")
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)])
    total = report.total(results)
    words = ", ".join(f"{total[verdict]} {verdict}" for verdict in report.VERDICTS)
    own = " and ".join(r.model for r in results if r.own_tokenizer) or "no model"
    head = HEAD.replace("RENDERERS", version("renderers")).replace("VERSIONS", versions).replace("VECTORS", vectors)
    head = head.replace("MOST", str(most)).replace("BROKEN", str(broken)).replace("OWN", own).replace("TOTAL", words)
    head = head.replace("OVERVIEW", report.overview(results)).replace("PARSING", report.parsing(results))
    parts = [
        head.replace("FAULTS", report.faults(results)).replace("DIFFERENCES", report.differences(results)),
        WORSE + report.shown(results, "worse"),
        OTHER + report.shown(results, "other"),
        EXTENSION.replace("EXTENSION", report.extension(results)).replace("NOT_RIGHT", report.not_right(results)),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
