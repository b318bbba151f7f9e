"""Packs: one execution as one file, with all that is needed to do it again (the chapter, section 1.11)."""
