"""Pointsman directs inference traffic: one OpenAI-compatible address in front of many inference engines."""

__version__ = "0.1.0"
