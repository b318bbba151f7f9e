"""Reads the files that tokenizers come in: tokenizer.json, `.tiktoken`, tekken.json, SentencePiece's `.model`, GGUF.

Each reader takes bytes and gives a `TokenizerConfiguration`, or raises `ArtifactError` that names the place.
"""
