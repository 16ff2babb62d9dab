"""Reference pages that are generated from the code: settings, commands, metrics and errors.

`make reference` writes them to docs/reference. `make check` fails if a page differs from the code.
"""
