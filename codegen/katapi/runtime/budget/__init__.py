"""The context budget: what of a request goes into a window, and why (the chapter, section 1.7)."""
