"""What a process imports before its first ids: nothing that only errors, other stages or other tasks need."""

import subprocess
import sys

import pytest

FIRST_IDS = """
import sys
import katapi
if MODEL:
    model = katapi.load("qwen3")
    ids = model.assemble(b'{"messages": [{"role": "user", "content": "Hello"}]}').input_ids
    assert ids.tolist() == [151644, 872, 198, 9707, 151645, 198, 151644, 77091, 198], ids
else:
    assert katapi.load_tokenizer("qwen").encode("Hello") == [9707]
print(*(name for name in sys.modules if name.startswith(("katapi", "jinja2", "lark"))))
"""
NOT_NEEDED = {
    "a request that is in order": ["request_errors", "request_shape", "json_faults"],
    "bytes as tokens": [
        "decoder_stages",
        "decoder_streams",
        "text_decoding",
        "byte_letters",
        "charsmap",
        "precompiled",
    ],
    "ranks": ["merges", "lexicon", "unigram", "wordpiece", "scored_pieces", "longest_match", "seams"],
    "NFC": ["character_normalizers", "character_splits", "compatible", "graphemes", "lower_case", "lower_case_data"],
    "one input": ["batch", "packed", "mrope", "samples", "embedding", "labels"],
    "a table": ["any_file", "tokenizer_json", "json_file"],
}


@pytest.mark.parametrize("model", [True, False], ids=["assemble", "encode"])
def test_what_is_not_needed_is_not_imported(model: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"MODEL = {model}\n{FIRST_IDS}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    imported = {name.rpartition(".")[2]: name for name in done.stdout.split()}
    assert [(reason, name) for reason, names in NOT_NEEDED.items() for name in names if name in imported] == []
    assert "rank_index" in imported or "derived" in imported  # what segments: in the pure form, or compiled
    assert not any(name.startswith(("jinja2", "lark", "katapi.model", "katapi.emit")) for name in imported.values())
