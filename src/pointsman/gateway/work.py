"""A request made ready to be placed and sent."""

from typing import Final, Literal

from pointsman.brain.model.request import Request
from pointsman.gateway.token_join import Telling
from pointsman.wire.http1.messages import RequestHead
from pointsman.wire.openai.account import ChatAccount, StreamAccount, TypedAccount
from pointsman.wire.openai.resumable import Asked

Events = Literal["choices", "typed", "unread"]


class Work:
    """What is to be done for a client. Nothing changes it.

    `body` is what every try sends; `choices` is how many answers were asked for; `expires` is the client's limit.
    `strip_usage` tells that the usage chunk was our wish and is taken out of the client's stream. `events` says what an
    event stream in answer to it consists of: choices (chat, completions), typed events (responses, messages), or
    something that is passed on unread. `asked` is there if its stream can go on elsewhere when its node is lost.
    `telling` is there if the node was asked for token ids that the client has not asked for.
    `tells_progress` if its client, who wants a stream, asked to be told where it stands while it waits.
    """

    __slots__ = (
        "asked",
        "body",
        "choices",
        "events",
        "expires",
        "head",
        "id",
        "request",
        "strip_usage",
        "telling",
        "tells_progress",
    )

    def __init__(
        self,
        *,
        id: bytes,
        head: RequestHead,
        body: bytes,
        request: Request,
        choices: int = 1,
        strip_usage: bool = False,
        events: Events = "unread",
        asked: Asked | None = None,
        telling: Telling | None = None,
        tells_progress: bool = False,
        expires: float,
    ) -> None:
        self.id: Final = id
        self.head: Final = head
        self.body: Final = body
        self.request: Final = request
        self.choices: Final = choices
        self.strip_usage: Final = strip_usage
        self.events: Final = events
        self.asked: Final = asked
        self.telling: Final = telling
        self.tells_progress: Final = tells_progress
        self.expires: Final = expires

    def sending(self, body: bytes, head: RequestHead) -> "Work":
        """The same work done by sending something else."""
        return Work(
            id=self.id,
            head=head,
            body=body,
            request=self.request,
            choices=self.choices,
            strip_usage=self.strip_usage,
            events=self.events,
            asked=self.asked,
            telling=self.telling,
            tells_progress=self.tells_progress,
            expires=self.expires,
        )

    def account(self) -> StreamAccount | None:
        """A fresh account of the response's stream; None when it is passed on unread."""
        if self.events == "unread":
            return None
        return TypedAccount() if self.events == "typed" else ChatAccount(self.choices)
