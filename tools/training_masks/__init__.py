"""The loss mask of Katapi beside that of transformers on the templates that TRL puts in place for training."""
