"""Audio: from the bytes of a recording to arrays, tokens and placeholder, as a specification declares it."""
