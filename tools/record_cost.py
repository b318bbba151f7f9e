"""What a record, its light form and a pack cost, as multiples of assembling: the figures of docs/packs.md.

python tools/record_cost.py
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from statistics import median

import katapi

ROUNDS = 60
WORDS = "alpha beta gamma delta queue zebra hovercraft window".split()


def request(messages: int, words: int, seed: int) -> bytes:
    """A conversation whose texts no other seed has."""
    drawn = random.Random(seed)
    contents = [
        " ".join(f"{drawn.choice(WORDS)}{drawn.randrange(10_000)}" for _ in range(words)) for _ in range(messages)
    ]
    roles = ("user", "assistant")
    return json.dumps({"messages": [{"role": roles[at % 2], "content": c} for at, c in enumerate(contents)]}).encode()


def main() -> None:
    """Prints a row for a short and a long request."""
    model = katapi.load("qwen3")
    forms: dict[str, Callable[[katapi.ModelInput], object]] = {
        "assemble": lambda made: None,
        "digests": lambda made: made.digests(),
        "record": lambda made: made.record.to_json(),
        "pack": lambda made: katapi.pack_bytes(katapi.pack_of(model, made)),
    }
    for form in forms.values():
        form(model.assemble(request(1, 1, -1)))  # loads what the first call loads
    for messages, words in ((3, 20), (9, 150)):
        spent: dict[str, list[float]] = {name: [] for name in forms}
        tokens = 0
        for number in range(ROUNDS * len(forms)):
            name = [*forms][number % len(forms)]
            raw = request(messages, words, number)
            start = time.process_time()
            made = model.assemble(raw)
            forms[name](made)
            spent[name].append(time.process_time() - start)
            tokens += len(made)
        bare = median(spent["assemble"])
        ratios = ", ".join(f"{name} {median(seconds) / bare:.2f}" for name, seconds in spent.items())
        print(f"{tokens / ROUNDS / len(forms):.0f} tokens: {ratios}")


if __name__ == "__main__":
    main()
