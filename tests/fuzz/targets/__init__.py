"""One file a target: `SEEDS`, inputs to begin with, and `check(data)`, which raises for anything that must not be.

The oracles compare: the whole with the same bytes in pieces, our reading with another library's where both accept, an
edit with what it declares. A crash is the least of what is looked for.
"""
