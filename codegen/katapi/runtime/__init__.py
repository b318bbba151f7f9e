"""What generated code calls: segments, requests, serializations, tokenizers, records. Imports nothing above it."""
