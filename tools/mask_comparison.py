"""Compare Katapi's loss masks with those of transformers on TRL's templates for training, and write docs/masks.md.

usage: mask_comparison.py [MODEL]... [--vectors DIR]

    pip install -e '.[bench]' && pip install --no-deps -r tools/official_templates/requirements.txt
    python tools/mask_comparison.py

`make masks` does both, in an environment of its own. TRL is installed without what it depends on: only its templates
are read, each known by its sha256 (tools/training_masks/templates.toml). The tokenizers are the artifacts that the
vectors were made with, got as `katapi fetch` gets them. The conversations are those of DIR, by default of
../shared/vectors/chat where that is there, else of tests/vectors/chat. With models, the page is printed for them alone,
and nothing is written.

Exit status: 1 where a kind of difference has no reason yet, or a template or tokenizer is not to be had.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from katapi.artifacts.lock import read_lock  # noqa: E402
from katapi.runtime.errors import ArtifactError  # noqa: E402
from tools.official_templates.places import NotFound  # noqa: E402
from tools.training_masks.models import Result, examined  # noqa: E402
from tools.training_masks.page import page  # noqa: E402
from tools.training_masks.peer import facts  # noqa: E402
from tools.training_masks.report import Unexplained  # noqa: E402

DOCUMENT = ROOT / "docs" / "masks.md"
SHARED = ROOT.parent / "shared" / "vectors" / "chat"
OWN = ROOT / "tests" / "vectors" / "chat"


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(facts())}")
    parser.add_argument("--vectors", type=Path, default=SHARED if SHARED.is_dir() else OWN, metavar="DIR")
    options = parser.parse_args()
    if unknown := [name for name in options.models if name not in facts()]:
        parser.error(f"TRL has no template for training of {', '.join(unknown)}")
    lock = read_lock(ROOT / "spec" / "artifacts.lock")
    found: list[Result] = []
    try:
        for model in options.models or facts():
            found.append(examined(model, options.vectors / f"{model}.jsonl.gz", lock))
            print(f"{model}: {found[-1].conversations} conversations", file=sys.stderr, flush=True)
        text = page(found, "/".join(options.vectors.resolve().parts[-3:]))
    except (ArtifactError, NotFound, Unexplained) as error:
        print(f"mask_comparison: {error}", file=sys.stderr)
        return 1
    if options.models:
        print(text)
    else:
        DOCUMENT.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
