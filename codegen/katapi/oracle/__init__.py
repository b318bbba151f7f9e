"""A slow, direct interpreter of a resolved program, to compare generated code with.

    value = json.loads(raw)
    request = canonical(program, value)       # request.py: the declared request rules
    rendering = render(program, request)      # render.py: statements; evaluate.py: expressions
    ids, origins = tokenize(program, rendering, data)    # tokenize.py, and tokenizer.py with a module for each stage

It is written to be read beside the definition of the language, not to be fast: every stage does the obvious thing. It
shares with `emit` and `runtime` only plain data: segment types, error classes, the rules and tokens of a tokenizer,
Unicode tables. Where generated code does something else, one of the two is wrong.
"""
