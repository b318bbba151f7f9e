"""Compare Katapi's reading of replies, and its next prompts, with those of renderers, and write docs/replies.md.

usage: reply_comparison.py [MODEL]... [--vectors DIR] [--replies N] [--malformed N]

    pip install -e '.[bench]'
    python tools/reply_comparison.py

`make replies` does both, in an environment of its own. The tokenizers are the artifacts that the vectors were made
with, got as `katapi fetch` gets them. Nothing else is read from the network. The conversations are those of DIR, by
default of tests/vectors/chat: at most N replies of a model, taken evenly. With models, the page is printed for them
alone, and nothing is written.

Exit status: 1 where a tokenizer is not to be had.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import katapi  # noqa: E402
from katapi.artifacts.lock import Lock, read_lock  # noqa: E402
from katapi.runtime.errors import ArtifactError  # noqa: E402
from tools.replies.cases import Conversations  # noqa: E402
from tools.replies.extension import extensions  # noqa: E402
from tools.replies.page import page  # noqa: E402
from tools.replies.parsing import Parsing  # noqa: E402
from tools.replies.peer import CONFIGS, Peer  # noqa: E402
from tools.replies.report import Result  # noqa: E402

DOCUMENT = ROOT / "docs" / "replies.md"
VECTORS = ROOT / "tests" / "vectors" / "chat"


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(CONFIGS)}")
    parser.add_argument("--vectors", type=Path, default=VECTORS, metavar="DIR")
    parser.add_argument("--replies", type=int, default=40, metavar="N", help="at most so many replies of a model")
    parser.add_argument("--malformed", type=int, default=10, metavar="N", help="of how many malformed ones are made")
    options = parser.parse_args()
    if unknown := [name for name in options.models if name not in CONFIGS]:
        parser.error(f"renderers and Katapi do not both have {', '.join(unknown)}")
    lock = read_lock(ROOT / "spec" / "artifacts.lock")
    found: list[Result] = []
    try:
        for model in options.models or CONFIGS:
            path = options.vectors / f"{model}.jsonl.gz"
            found.append(examined(model, path, lock, options.replies, options.malformed))
            print(f"{model}: {len(found[-1].compared)} replies", file=sys.stderr, flush=True)
    except ArtifactError as error:
        print(f"reply_comparison: {error}", file=sys.stderr)
        return 1
    text = page(found, "/".join(options.vectors.resolve().parts[-3:]), options.replies, options.malformed)
    if options.models:
        print(text)
    else:
        DOCUMENT.write_text(text, encoding="utf-8", newline="\n")
    return 0


def examined(name: str, path: Path, lock: Lock, most: int, malformed: int) -> Result:
    """What is found for a model on a file of vectors. Raises ArtifactError."""
    model = katapi.load(name)
    conversations = Conversations(model, path)
    peer = Peer(model, conversations.head, conversations.controls, lock)
    replies = conversations.replies(most)
    result = Result(name, lambda ids: model.decode_text(list(ids)), len(replies), peer.own_tokenizer)
    result.compared = [*Parsing(conversations, peer).compared(replies, malformed)]
    result.extended = [*extensions(model, peer, replies)]
    return result


if __name__ == "__main__":
    sys.exit(main())
