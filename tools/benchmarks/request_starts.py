"""From the start of a process to the first ids of a request, beside the libraries that take requests."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from typing import NamedTuple

from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import read_lock
from katapi.runtime.errors import ArtifactError
from tools.benchmarks.conversations import read_vectors
from tools.benchmarks.hub_tasks import HUB_MODELS
from tools.benchmarks.opened import installed
from tools.benchmarks.own_libraries import TODAY, provide_o200k
from tools.benchmarks.settings import Settings
from tools.benchmarks.vocabularies import ROOT, Unavailable, prepared
from tools.official_templates.places import NotFound, facts, official

KATAPI = "Katapi"
STARTED = {
    "qwen3": ("transformers", "renderers"),
    "mistral-nemo-tekken": ("mistral-common",),
    "gpt-oss": ("openai-harmony",),
}
"""The models, with the peers that each is started beside."""
SAID = "Hello there"


class Start(NamedTuple):
    """Seconds of processes that answer one request with its ids, one figure a process."""

    model: str
    peer: str
    seconds: list[float]


def request_starts(settings: Settings, told: list[str]) -> list[Start]:
    """Processes take turns: each peer once a round. Who cannot be started, or gives other ids, goes into `told`."""
    found: list[Start] = []
    for of in HUB_MODELS:
        peers = [peer for peer in STARTED.get(of.name, ()) if installed(peer) is not None]
        if not peers:
            continue
        try:
            file = _given(of.name, settings)
        except (NotFound, ArtifactError, Unavailable, PackageNotFoundError) as error:
            told.append(f"{of.title}: no first request ({error}).")
            continue
        seconds: dict[str, list[float]] = {peer: [] for peer in (KATAPI, *peers)}
        expected: list[int] = []
        for turn in range(settings.rounds + 1):  # in the first, bytecode is written and files come into memory
            for peer in [*seconds]:
                ids, spent = _started(peer, file)
                expected = ids if peer == KATAPI else expected
                if ids != expected or not ids:
                    told.append(f"{of.title}: the first ids of {peer} are others.")
                    del seconds[peer]
                elif turn:
                    seconds[peer].append(spent)
        found += [Start(of.title, peer, spent) for peer, spent in seconds.items()]
        print(f"bench: first request of {of.title}", file=sys.stderr, flush=True)
    return found


def _started(peer: str, file: str) -> tuple[list[int], float]:
    """The ids and the seconds of one process; no ids where it failed."""
    command = [sys.executable, "-m", "tools.benchmarks.first_request", peer, file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return [], 0.0
    told = json.loads(lines[-1])
    return told["ids"], told["seconds"]


def _given(name: str, settings: Settings) -> str:
    """A file of what the peers of a model start from."""
    lock = read_lock(ROOT / "spec/artifacts.lock")
    of = next(of for of in HUB_MODELS if of.name == name)
    request: dict[str, object] = {"messages": [{"role": "user", "content": SAID}], "add_generation_prompt": True}
    if of.clock:
        request["now"] = TODAY
    given = {"katapi": name, "raw": json.dumps(request), "day": TODAY, "renderer": of.renderer or ""}
    if "transformers" in STARTED[name]:
        fact = facts()[name]
        digest = read_vectors(name, 1).tokenizer_sha256
        artifact = next(a.name for a in lock.artifacts.values() if a.sha256 == digest)
        tokenizer, template = settings.folder / f"{name}.tokenizer.json", settings.folder / f"{name}.jinja"
        tokenizer.write_bytes(artifact_bytes(artifact, lock))
        template.write_text(official(fact, None).text, encoding="utf-8")
        given |= {"tokenizer_json": str(tokenizer), "template": str(template)}
        given |= {"bos": fact.bos or "", "eos": fact.eos or ""}
    if "openai-harmony" in STARTED[name]:
        provide_o200k(prepared("o200k", settings.folder).file("ranks"), settings.folder)
    file = settings.folder / f"{name}.request.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    return str(file)
