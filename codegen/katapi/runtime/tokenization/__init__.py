"""Text to token ids and back: the stages that generated tokenizers put together.

`interface.py` is what the rest of Katapi sees, `stages.py` what a stage must offer, `pipeline.py` what drives the
stages.
"""
