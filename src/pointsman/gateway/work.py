"""A request made ready to be placed and sent."""

import msgspec

from pointsman.brain.model.request import Request
from pointsman.wire.http1.request import RequestHead
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """`body` is what every try sends; `choices` is how many answers were asked for; `expires` is the client's limit.

    `strip_usage` tells that the usage chunk was our wish and is taken out of the client's stream; `typed` that the
    stream's events carry types (responses, messages) instead of choices.
    """

    id: bytes
    head: RequestHead
    body: bytes
    request: Request
    choices: int = 1
    strip_usage: bool = False
    typed: bool = False
    expires: float

    def account(self) -> StreamAccount:
        """A fresh account of the response's stream."""
        return TypedAccount() if self.typed else ChatAccount(self.choices)
