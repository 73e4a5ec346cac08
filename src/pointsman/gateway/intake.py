"""From a client's request to work the brain can place."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from pointsman.brain.cache.chain import byte_chain, seed_for, token_chain
from pointsman.brain.model.errors import BadRequest, ModelNotFound, NoNode, UnsupportedCoding
from pointsman.brain.model.request import Chain, Request
from pointsman.clock import Clock
from pointsman.gateway.announcer import wants_progress
from pointsman.gateway.driver import Brain
from pointsman.gateway.routes import Kind, Route
from pointsman.gateway.settings import Resuming, Timeouts
from pointsman.gateway.token_join import Telling, TokenJoin, asking_for_ids
from pointsman.gateway.urgency import Urgency, ttft_slo
from pointsman.gateway.work import Events, Work
from pointsman.wire.http1.messages import RequestHead
from pointsman.wire.openai.body import is_ordinary, output_limit, present, read_body
from pointsman.wire.openai.edits import asks_for_usage, tenant_salt, with_salt, with_usage, without_control
from pointsman.wire.openai.form import form_field
from pointsman.wire.openai.prompt import identity, read_prompt
from pointsman.wire.openai.resumable import Asked, asked, with_ids
from pointsman.wire.openai.shapes import Body, Prompt

TOKEN_BLOCK: Final = 16
"""Tokens per link of a chain over token ids: the block size of most engines."""

_EVENTS: dict[Kind, Events] = {"chat": "choices", "completion": "choices", "typed": "typed"}
_LONGEST_NUMBER = 15  # digits; of milliseconds, that is 31,000 years

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


def _never(_model: str) -> bool:
    """No chat is known to be continued faithfully."""
    return False


class Intake:
    """Makes work of requests. Knows the fleet's models through `dispatcher`.

    `pools` are names under which nodes of plain inference are listed: no model that a client may ask for. `continues`
    tells of a model whether its chats can go on by text. `join` knows tokens of prompts, where
    nodes report their caches.
    """

    def __init__(
        self,
        dispatcher: Brain,
        clock: Clock,
        timeouts: Timeouts,
        secret: bytes = b"",
        pools: frozenset[str] = frozenset(),
        resuming: Resuming | None = None,
        urgency: Urgency | None = None,
        continues: Callable[[str], bool] = _never,
        join: TokenJoin | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._pools = pools
        self._resuming = resuming
        self._continues = continues
        self._join = join
        self._now = clock.now
        self._urgency = urgency or Urgency({})
        self._total_s = timeouts.total_s
        secret = secret or os.urandom(16)
        self._byte_seed = seed_for(secret, "bytes")
        self._token_seed = seed_for(secret, "tokens")
        self._prefix = b"req-%b-" % os.urandom(4).hex().encode()
        self._numbered = 0

    def request_id(self, fields: Mapping[bytes, bytes]) -> bytes:
        """The client's own id when it is well-formed, else a new one."""
        given = fields.get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            return given
        self._numbered += 1
        return b"%b%d" % (self._prefix, self._numbered)

    def models(self) -> list[str]:
        """The models a client may ask for, sorted."""
        return [name for name in self._dispatcher.models() if name not in self._pools]

    def work(self, route: Route, head: RequestHead, data: bytes, tenant: str) -> Work:
        """Read the request. Raises BadRequest, UnsupportedCoding, ModelNotFound or NoNode."""
        if route.kind != "plain" and head.fields.get(b"content-encoding", b"identity").lower() != b"identity":
            raise UnsupportedCoding("send the body uncompressed, without content-encoding")
        expires = self._now() + self._patience(head.fields)
        if route.kind in ("plain", "form"):
            return self._opaque(route, head, data, tenant, expires)
        body = read_body(data)
        ordinary = is_ordinary(body)
        if not ordinary and present(body.previous_response_id):
            raise BadRequest("responses are not kept here: send the conversation", param="previous_response_id")
        model = self._model(body.model)
        generates = route.kind in _EVENTS
        prompt = read_prompt(body) if generates else Prompt()
        salt = b"" if ordinary else tenant_salt(body, tenant)
        slo = ttft_slo(head.fields)
        name = self.request_id(head.fields)
        request = Request(
            id=name.decode(),
            model=model,
            prompt_tokens=float(prompt.size) if prompt.token_ids is not None else 0.0,
            prompt_bytes=len(prompt.data),
            chain=self._chain(identity(model, body, salt), prompt) if generates else None,
            max_tokens=output_limit(body),
            stream=generates and bool(body.stream),
            priority=self._urgency.priority(tenant, head.fields, b"" if ordinary else present(body.priority), slo),
            ttft_slo_s=slo,
            tenant=tenant,
            session=present(body.user).decode(errors="replace").strip('"') if body.user else "",
            route=route.path,
        )
        if salt:
            data = with_salt(data, body, salt)
        if not ordinary:
            data = without_control(data, body)
        telling = None
        if self._join is not None and generates and (reporting := self._join.reporting()):
            request = _known_by_tokens(request, prompt, self._join, salt)
            if reporting == 1.0 and _EVENTS[route.kind] == "choices":
                telling = self._join.telling(request, prompt, salt, data)
        return self._with_edits(route, head, data, body, name, request, telling, expires)

    def _with_edits(
        self,
        route: Route,
        head: RequestHead,
        data: bytes,
        body: Body,
        name: bytes,
        request: Request,
        telling: Telling | None,
        expires: float,
    ) -> Work:
        events = _EVENTS.get(route.kind, "unread")
        wants_ours = request.stream and events == "choices" and not asks_for_usage(body)
        if wants_ours:
            data = with_usage(data, body)
        resumable = self._resumable(route, request, data) if self._resuming and request.stream else None
        if resumable is not None:
            request = msgspec.structs.replace(request, resumable=True)
            data = with_ids(resumable) if resumable.by_tokens else data
        if telling is not None and not (resumable is not None and resumable.by_tokens):
            data = asking_for_ids(data)
        return Work(
            id=name,
            head=head,
            body=data,
            request=request,
            choices=max(1, body.n or 1),
            strip_usage=wants_ours,
            events=events,
            asked=resumable,
            telling=telling,
            tells_progress=request.stream and wants_progress(head.fields),
            expires=expires,
        )

    def _resumable(self, route: Route, request: Request, data: bytes) -> Asked | None:
        """The request as it can be continued elsewhere; None where its answer, or its model's, cannot be."""
        if self._resuming is None or _EVENTS[route.kind] != "choices":
            return None
        is_chat, mode = route.kind == "chat", self._resuming.of(request.model)
        if is_chat and mode == "text" and not self._continues(request.model):
            return None
        return asked(data, mode, is_chat=is_chat)

    def _opaque(self, route: Route, head: RequestHead, data: bytes, tenant: str, expires: float) -> Work:
        """A body that is not JSON, or may be anything."""
        model = route.pool or self._model(form_field(head.fields.get(b"content-type", b""), data, b"model"))
        if route.pool and not self._dispatcher.knows(model):
            raise NoNode(f"no node serves {route.path}; try again later")
        name = self.request_id(head.fields)
        slo = ttft_slo(head.fields)
        request = Request(
            id=name.decode(),
            model=model,
            prompt_bytes=len(data),
            priority=self._urgency.priority(tenant, head.fields, b"", slo),
            ttft_slo_s=slo,
            tenant=tenant,
            route=route.path,
        )
        return Work(id=name, head=head, body=data, request=request, expires=expires)

    def _model(self, name: str | None) -> str:
        """A model the fleet knows; one left out means the only one."""
        dispatcher = self._dispatcher
        if name is not None and dispatcher.knows(name) and name not in self._pools:
            return name
        models = self.models()
        if not models:
            raise NoNode(f"no node has told its models (nodes: {dispatcher.standing()}); try again later")
        if name is None and len(models) == 1:
            return models[0]
        if name is None:
            raise BadRequest("you must provide a model parameter", param="model")
        raise ModelNotFound(name, models)

    def _chain(self, who: bytes, prompt: Prompt) -> Chain | None:
        ids = prompt.token_ids
        if ids is None:
            return byte_chain(xxh3_64_intdigest(who, self._byte_seed), prompt.data)
        if ids and min(ids) < 0:
            raise BadRequest("token ids cannot be negative", param="prompt")
        return token_chain(xxh3_64_intdigest(who, self._token_seed), ids, TOKEN_BLOCK)

    def _patience(self, fields: Mapping[bytes, bytes]) -> float:
        """Seconds the request may take: the client's wish, else ours."""
        wish = fields.get(b"x-request-timeout-ms")
        if wish is None:
            return self._total_s
        if not wish.isdigit() or len(wish) > _LONGEST_NUMBER or not int(wish):
            raise BadRequest("x-request-timeout-ms must be a whole number of milliseconds above 0")
        return min(int(wish) / 1000.0, self._total_s)


def _known_by_tokens(request: Request, prompt: Prompt, join: TokenJoin, salt: bytes) -> Request:
    """`request` with what is known of its prompt's tokens, if anything."""
    ids, chain = prompt.token_ids, request.chain
    if ids is not None:
        known = join.of_ids(ids, request.model, salt)
    else:
        known = join.of_text(chain, prompt.size) if chain is not None else None
    return request if known is None else msgspec.structs.replace(request, token_chain=known)
