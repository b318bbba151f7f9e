"""Official chat templates beside specs: finding one, running it, conversations for both, and how the results differ."""
