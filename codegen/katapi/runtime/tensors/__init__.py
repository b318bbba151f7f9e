"""What a model receives of several inputs at once (the chapter, section 1.9): batches, packed rows, positions."""
