"""Reads the files that tokenizers come in: tokenizer.json, `.tiktoken`, tekken.json, SentencePiece's `.model`, GGUF.

Each reader takes bytes and gives a `TokenizerFile`, rules and data, or raises `ArtifactError` that names the place.
"""
