"""A slow, direct interpreter of a resolved program, to compare generated code with.

    value = json.loads(raw)
    request = canonical(program, value)       # request.py: the declared request rules
    rendering = render(program, request)      # render.py: statements; evaluate.py: expressions
    ids, origins = tokenize(program, rendering, ranks)   # tokenize.py, with regex.py, normalize.py

It is written to be read beside the definition of the language, not to be fast: every stage does the obvious thing. It
shares with `emit` and `runtime` only plain data: segment types, error classes, Unicode tables. Where generated code
does something else, one of the two is wrong.
"""
