"""External artifacts: where they come from, by digest, and what the compiler makes of them."""
