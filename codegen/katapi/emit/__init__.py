"""Meaning → text of generated files. One emitter an output; templates hold no logic."""
