"""Pointsman directs inference traffic: one OpenAI-compatible address before many inference engines."""

__version__ = "0.1.0"
