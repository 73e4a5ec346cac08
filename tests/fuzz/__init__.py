"""Fuzzing of what reads strangers' bytes. `scripts/fuzz` runs it; the corpus is replayed as ordinary tests."""
