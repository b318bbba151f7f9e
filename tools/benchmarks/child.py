"""What runs in a process of its own: the first ids and the memory of one peer, or how its time grows with length.

usage: python -m tools.benchmarks.child start|growth PEER VOCABULARY.json [LONGEST PATIENCE]

Nothing is imported here that the peer does not need. Results are lines of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tools.benchmarks.peers import KATAPI, PEERS
from tools.benchmarks.vocabularies import Vocabulary

Encode = Callable[[str], list[int]]


def start(peer: str, vocabulary: Vocabulary) -> None:
    """The first ids of a process, and the memory it holds then and after the texts that stand in its input."""
    encoder = _open(peer, vocabulary)
    ids = encoder("Hello there")
    seconds = time.process_time()
    figures: dict[str, float] = {"ids": len(ids), "seconds": seconds, "first": resident()}
    for line in sys.stdin:
        encoder(json.loads(line))
    print(json.dumps(figures | {"later": resident()}), flush=True)


def growth(peer: str, vocabulary: Vocabulary, longest: int, patience: float) -> None:
    """The seconds that texts of each kind take, ten times as long each time."""
    from tools.benchmarks.adversaries import KINDS, LENGTHS

    encoder = _open(peer, vocabulary)
    encoder("Hello there")
    for kind, make in KINDS.items():
        seconds = 0.0
        for length in (length for length in LENGTHS if length <= longest):
            if seconds * 10 > patience:
                break
            text = make(length)
            line: dict[str, str | float] = {"kind": kind, "length": length, "bytes": len(text.encode())}
            try:
                seconds = min(_timed(encoder, text) for _ in range(1 if seconds > patience / 100 else 3))
                line["seconds"] = seconds
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001  # a panic in Rust is no Exception
                line["failed"] = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            print(json.dumps(line), flush=True)
            if "failed" in line:
                break


def resident() -> float:
    """Megabytes of memory that the process holds; where the system does not tell, the most that it ever held."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) * 1024 / 1e6


def _open(name: str, vocabulary: Vocabulary) -> Encode:
    peer = next(peer for peer in (KATAPI, *PEERS) if peer.name == name)
    return peer.open(vocabulary).as_list


def _timed(encode: Encode, text: str) -> float:
    begin = time.process_time()
    encode(text)
    return time.process_time() - begin


def main() -> None:
    """Reads the command line."""
    task, peer, file, *rest = sys.argv[1:]
    vocabulary = Vocabulary(*json.loads(Path(file).read_text(encoding="utf-8")))
    if task == "start":
        start(peer, vocabulary)
    else:
        growth(peer, vocabulary, int(rest[0]), float(rest[1]))


if __name__ == "__main__":
    main()
