"""A request made ready to be placed and sent."""

from typing import Literal

import msgspec

from pointsman.brain.model.request import Request
from pointsman.wire.http1.messages import RequestHead
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount
from pointsman.wire.openai.resumable import Asked

Events = Literal["choices", "typed", "unread"]


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """`body` is what every try sends; `choices` is how many answers were asked for; `expires` is the client's limit.

    `strip_usage` tells that the usage chunk was our wish and is taken out of the client's stream. `events` says what an
    event stream in answer to it consists of: choices (chat, completions), typed events (responses, messages), or
    something that is passed on unread. `asked` is there if its stream can go on elsewhere when its node is lost.
    `tells_progress` if its client, who wants a stream, asked to be told where it stands while it waits.
    """

    id: bytes
    head: RequestHead
    body: bytes
    request: Request
    choices: int = 1
    strip_usage: bool = False
    events: Events = "unread"
    asked: Asked | None = None
    tells_progress: bool = False
    expires: float

    def account(self) -> StreamAccount | None:
        """A fresh account of the response's stream; None when it is passed on unread."""
        if self.events == "unread":
            return None
        return TypedAccount() if self.events == "typed" else ChatAccount(self.choices)
