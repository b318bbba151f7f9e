"""What a model wrote, taken apart: the inverse of what a template prints for a message of the assistant."""
