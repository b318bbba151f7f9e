"""Opens all peers with a vocabulary, and says of each that cannot be why not."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from tools.benchmarks.encoders import Encoder
from tools.benchmarks.peers import KATAPI, PEERS
from tools.benchmarks.settings import Settings
from tools.benchmarks.vocabularies import DECLARED, Unavailable, Vocabulary, prepared


class Opened(NamedTuple):
    """A vocabulary with whoever can be measured on it. Each has encoded one short text: its tables are built."""

    vocabulary: Vocabulary
    katapi: Encoder
    peers: dict[str, Encoder]
    absent: dict[str, str]
    """Why a peer is not measured, by its name."""

    @property
    def all(self) -> dict[str, Encoder]:
        """Katapi and the peers."""
        return {KATAPI.name: self.katapi} | self.peers


def each_opened(settings: Settings, names: Collection[str], left_out: dict[str, str]) -> Iterator[Opened]:
    """The vocabularies that are asked for, among `names`. Those that cannot be had go into `left_out`, and why."""
    for name in (name for name in settings.vocabularies if name in names):
        try:
            vocabulary = prepared(name, settings.folder)
        except Unavailable as reason:
            left_out[DECLARED[name].title] = str(reason)
            print(f"bench: {DECLARED[name].title} is left out: {reason}", file=sys.stderr, flush=True)
        else:
            yield opened(vocabulary)


def opened(vocabulary: Vocabulary) -> Opened:
    """Opens Katapi and the peers."""
    katapi = KATAPI.open(vocabulary)
    _warm(katapi)
    peers: dict[str, Encoder] = {}
    absent: dict[str, str] = {}
    for peer in PEERS:
        if installed(peer.distribution) is None:
            absent[peer.name] = "not installed"
            continue
        try:
            encoder = peer.open(vocabulary)
            _warm(encoder)
        except Unavailable as reason:
            absent[peer.name] = str(reason)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  # a panic in Rust is no Exception
            absent[peer.name] = f"does not load: {type(error).__name__}: {' '.join(str(error).split())[:80]}"
        else:
            peers[peer.name] = encoder
    return Opened(vocabulary, katapi, peers, absent)


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _warm(encoder: Encoder) -> None:
    for form in (encoder.as_list, encoder.as_array, encoder.count):
        form("Hello there")
