"""Reads the files that tokenizers come in: tokenizer.json, `.tiktoken`, tekken.json, SentencePiece's `.model`, GGUF.

Each reader takes bytes and gives a `TokenizerFile`, rules and data, or raises `ArtifactError` (A106, A131 to A133, A135
to A139) that names the place.
"""
