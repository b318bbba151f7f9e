"""Measure the first token of generated models: the time from the start of a process, and the memory.

usage: python tools/first_token.py [--rounds N] [NAME …]      (names as `katapi.load` and `load_tokenizer` take them)

Every figure comes from processes that do nothing else, with Python's bytecode cached as it is after any first use, and
is the median over the rounds, in which the models take turns. Times are processor time in milliseconds: what passes on
a clock where nothing else runs, and nearly the same where something does. Columns:

    libraries   import numpy, and import pydantic and declare one model with it: what Katapi stands on
    katapi      import katapi after that
    load        katapi.load(NAME), or load_tokenizer for a tokenizer without a template
    ids         the first `assemble` of a short request, or the first `encode`
    after       load and ids together: from the end of `import katapi` to the first ids
    process     all of it, and the start of Python before

Memory is counted by tracemalloc in further processes, from the end of `import katapi` on: all that Python and numpy
allocate, imported code included. `held` is what is there after the first ids, `peak` the most there ever was, both in
megabytes and as multiples of the table of the vocabulary, which is not compressed: lengths, tokens, merges, scores.
`long` is what is held after the paragraphs of all that is in docs/, since tokens that a text meets are kept.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import katapi

ROOT = Path(__file__).parent.parent
NAMES = ["qwen3", "gpt2", "o200k_base", "mistral-v1"]

# What both kinds of process do; a line before it tells TRACED, IS_MODEL and TABLES.
PROCESS = """
import json, os, sys, time
start = time.process_time()
import numpy
from pydantic import BaseModel, Field
class One(BaseModel):
    field: int = Field(ge=0)
libraries = time.process_time()
import katapi
imported = time.process_time()
tables = []
if TRACED:
    import tracemalloc
    def opened(event, arguments):
        if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(TABLES):
            tables.append(os.path.getsize(arguments[0]))
    sys.addaudithook(opened)
    tracemalloc.start()
name = sys.argv[1]
if IS_MODEL:
    model = katapi.load(name)
    loaded = time.process_time()
    ids = model.assemble(b'{"messages": [{"role": "user", "content": "Hello there"}]}').input_ids
else:
    model = katapi.load_tokenizer(name)
    loaded = time.process_time()
    ids = model.encode("Hello there")
done = time.process_time()
assert len(ids)
held, peak = tracemalloc.get_traced_memory() if TRACED else (0, 0)
for line in sys.stdin if TRACED else ():
    model.encode(json.loads(line))
long = tracemalloc.get_traced_memory()[0] if TRACED else 0
print(json.dumps({
    "libraries": libraries - start, "katapi": imported - libraries, "load": loaded - imported,
    "ids": done - loaded, "after": done - imported, "process": done, "held": held, "peak": peak, "long": long,
    "table": sum(tables),
}), flush=True)
"""
TIMES = ("libraries", "katapi", "load", "ids", "after", "process")


def run(name: str, *, traced: bool, bytecode: str) -> dict[str, float]:
    """One process: times in seconds, memory in bytes."""
    code = f"TRACED, IS_MODEL, TABLES = {traced}, {name in katapi.models()}, '.bin'\n{PROCESS}"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    paths = [str(ROOT / folder) for folder in ("codegen", "generated")]
    environment |= {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONPATH": os.pathsep.join(paths)}
    documents = [path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))] if traced else []
    lines = "".join(json.dumps(part) + "\n" for document in documents for part in document.split("\n\n"))
    done = subprocess.run(
        [sys.executable, "-c", code, name], input=lines, stdout=subprocess.PIPE, text=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"first_token: {name} failed, see above")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Time and memory of the first token.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    names: list[str] = options.names or NAMES
    with tempfile.TemporaryDirectory() as bytecode:
        for name in names:
            run(name, traced=False, bytecode=bytecode)  # writes the bytecode
        rounds = [{name: run(name, traced=False, bytecode=bytecode) for name in names} for _ in range(options.rounds)]
        traced = {name: run(name, traced=True, bytecode=bytecode) for name in names}
    print(f"{'ms':<14}", *(f"{column:>10}" for column in TIMES))
    for name in names:
        medians = [statistics.median(figures[name][column] for figures in rounds) for column in TIMES]
        print(f"{name:<14}", *(f"{1000 * seconds:>10.1f}" for seconds in medians))
    print(
        f"\n{'MB':<14}",
        *(f"{column:>10}" for column in ("table", "held", "peak", "long", "held ×", "peak ×", "long ×")),
    )
    for name in names:
        table, *sizes = (traced[name][column] / 1e6 for column in ("table", "held", "peak", "long"))
        ratios = [f"{size / table:>10.1f}" for size in sizes] if table else []
        print(f"{name:<14}", *(f"{size:>10.2f}" for size in (table, *sizes)), *ratios)


if __name__ == "__main__":
    main()
