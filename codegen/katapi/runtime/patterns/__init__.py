"""Pre-tokenizer patterns: the regular expressions of the field, read and reasoned about."""
