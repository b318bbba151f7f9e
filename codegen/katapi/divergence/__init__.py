"""Where two executions part: the first stage, the smallest difference there, and what it led to."""
