"""What a chain and a request must be like, whoever made them.

Values are no compiled classes, but their making calls these, and compiled they cost a tenth: a request is made and
looked through for every one that a client sends.
"""

from typing import Any


def check_chain(chain: Any) -> None:
    """Raises ValueError for a chain whose links cover nothing."""
    if not (chain.tokens_per_link > 0.0 or chain.bytes_per_link > 0):
        raise ValueError("a link covers tokens or bytes: one of its sizes must be above 0")


def check_request(request: Any) -> None:
    """Raises ValueError for a priority or a size that cannot be."""
    if request.priority <= 0.0:
        raise ValueError(f"priority must be above 0, not {request.priority}")
    if request.prompt_tokens < 0.0 or request.prompt_bytes < 0:
        raise ValueError("a prompt's size cannot be negative")
