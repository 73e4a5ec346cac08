"""The HTTP side of the emulated engine."""
