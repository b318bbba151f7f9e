"""What a model sampled, read and gone on with: Katapi beside `renderers`, case by case."""
