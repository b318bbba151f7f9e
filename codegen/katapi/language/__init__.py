"""The .kata language as text: grammar, parser, syntax tree, printer, diagnostics."""
