"""An execution as one HTML page to look at: `katapi inspect`."""
