"""What can stop the demonstration, each with what to do about it."""


class DemoError(Exception):
    """The demonstration cannot go on. The text says why and what to do."""
