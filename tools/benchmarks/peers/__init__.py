"""The peers. A module of a peer imports it only when it is opened: no process loads what it does not measure."""

from tools.benchmarks.encoders import Peer
from tools.benchmarks.peers.bpe_openai import open_bpe_openai
from tools.benchmarks.peers.fastokens import open_fastokens
from tools.benchmarks.peers.gigatoken import open_gigatoken
from tools.benchmarks.peers.katapi import open_katapi, open_pure_katapi
from tools.benchmarks.peers.kitoken import open_kitoken
from tools.benchmarks.peers.mistral_common import open_mistral_common
from tools.benchmarks.peers.quicktok import open_quicktok
from tools.benchmarks.peers.sentencepiece import open_sentencepiece
from tools.benchmarks.peers.tiktoken import open_tiktoken
from tools.benchmarks.peers.tokenizers import open_tokenizers

KATAPI = Peer("Katapi", "katapi", open_katapi, "")
PURE = "Katapi, pure"
"""The name of Katapi without extensions among the peers."""

PEERS = (
    Peer(
        "tiktoken",
        "tiktoken",
        open_tiktoken,
        "Byte-level BPE only, and no normalization: ids are equal on text that is in NFC. A backtracking regular "
        "expression, no memo. Arrays by `encode_to_numpy`. It is given Katapi's spelling of the pattern; with its own "
        "of cl100k it takes 1.4 times as long.",
    ),
    Peer(
        "tokenizers",
        "tokenizers",
        open_tokenizers,
        "Keeps for each token its text and its place in the source, which Katapi gives by `spans`. A control token "
        "that a text spells becomes one.",
    ),
    Peer(
        "quicktok",
        "quicktok-v1",
        open_quicktok,
        "C++; a hand-written scanner for each of five patterns, other vocabularies are refused. No memo of pieces.",
    ),
    Peer(
        "fastokens",
        "fastokens",
        open_fastokens,
        "Rust; a large memo of pieces. Gives no places of tokens. Arrays by `encode_batch_flat`.",
    ),
    Peer(
        "gigatoken",
        "gigatoken",
        open_gigatoken,
        "Rust with vector instructions; memos that grow with the text. Its own form is the array.",
    ),
    Peer("kitoken", "kitoken", open_kitoken, "Rust; reads every format. Lists only."),
    Peer(
        "bpe-openai",
        "bpe-openai",
        open_bpe_openai,
        "Rust; linear in the worst case. cl100k and o200k only. Measured through its bindings, without the Python "
        "around them, which times each call itself.",
    ),
    Peer("sentencepiece", "sentencepiece", open_sentencepiece, "C++; models of SentencePiece only."),
    Peer(
        "mistral-common",
        "mistral-common",
        open_mistral_common,
        "Mistral's models only; stands on tiktoken and sentencepiece.",
    ),
    Peer(
        PURE,
        "katapi",
        open_pure_katapi,
        "Katapi without its extensions, as it runs where there is no C compiler.",
    ),
)
