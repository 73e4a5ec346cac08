"""Everything but inference: models, tokens, health, metrics and the emulator's own admin calls."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest

from pointsman import __version__
from pointsman.clock import unix_seconds
from pointsman.engine.api.audit import Audit
from pointsman.engine.api.driver import Driver
from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.faults import Fault, FaultBoard
from pointsman.engine.api.intake import Intake, decoder, render_chat
from pointsman.engine.api.requests import DetokenizeRequest, TokenizeRequest
from pointsman.engine.core import Core
from pointsman.engine.text.tokens import from_ids, to_ids, to_text
from pointsman.wire.kv_orders import KvAnswer, KvOrders, KvStatus, KvTier

_tokenize = decoder(TokenizeRequest)
_detokenize = decoder(DetokenizeRequest)
_fault = decoder(Fault)
_kv_orders = decoder(KvOrders)

Refuse = Callable[[float | None], Awaitable[None]]


def json_response(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


class Control:
    """Handlers of one engine. `refuse` closes the listening socket for some wall seconds."""

    def __init__(
        self,
        intake: Intake,
        driver: Driver,
        faults: FaultBoard,
        audit: Audit,
        registry: CollectorRegistry,
        max_model_len: int,
        refuse: Refuse,
    ) -> None:
        self._intake = intake
        self._driver = driver
        self._faults = faults
        self._audit = audit
        self._registry = registry
        self._max_model_len = max_model_len
        self._refuse = refuse
        self._created = int(unix_seconds())

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/health", self.health),
            web.get("/version", self.version),
            web.get("/load", self.load),
            web.get("/metrics", self.metrics),
            web.get("/v1/models", self.models),
            web.post("/tokenize", self.tokenize),
            web.post("/detokenize", self.detokenize),
            web.get("/admin/audit", self.audit),
            web.get("/admin/faults", self.list_faults),
            web.post("/admin/faults", self.add_fault),
            web.delete("/admin/faults", self.clear_faults),
            web.post("/admin/reset", self.reset),
            web.get("/kv", self.kv),
            web.post("/kv/orders", self.kv_orders),
        ]

    async def health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def version(self, _: web.Request) -> web.Response:
        known = {"version": __version__, "emulated": True, "engine": "pointsman emulated engine"}
        return json_response({**known, "obeys": self._driver.core.limits.obeys})

    async def load(self, _: web.Request) -> web.Response:
        return json_response({"server_load": self._driver.core.running + self._driver.core.waiting})

    async def metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._registry), content_type="text/plain", charset="utf-8")

    async def models(self, _: web.Request) -> web.Response:
        cards: list[dict[str, Any]] = [
            {
                "id": name,
                "object": "model",
                "created": self._created,
                "owned_by": "pointsman",
                "root": name,
                "parent": None,
                "max_model_len": self._max_model_len,
                "permission": [],
            }
            for name in self._intake.models
        ]
        return json_response({"object": "list", "data": cards})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = _tokenize(await request.read())
        self._intake.model(body.model)
        if (body.prompt is None) == (body.messages is None):
            raise ApiError("Give either prompt or messages.", param="prompt")
        ids = to_ids(body.prompt.encode() if body.prompt is not None else render_chat(body))
        return json_response(
            {"count": len(ids), "max_model_len": self._max_model_len, "tokens": ids, "token_strs": None}
        )

    async def detokenize(self, request: web.Request) -> web.Response:
        body = _detokenize(await request.read())
        self._intake.model(body.model)
        try:
            return json_response({"prompt": to_text(from_ids(body.tokens))})
        except ValueError as error:
            raise ApiError(str(error), param="tokens") from None

    async def kv(self, _: web.Request) -> web.Response:
        return json_response(kv_status(self._driver.core, self._driver.scale))

    async def kv_orders(self, request: web.Request) -> web.Response:
        """Carry out orders about the KV cache. 409 where the engine does not obey: nothing has been done then."""
        orders = _kv_orders(await request.read()).orders
        pool = self._driver.core.obedient
        if pool is None:
            raise ApiError("This engine takes no orders: start it with --obeys.", 409, "ConflictError")
        return json_response(KvAnswer(tuple(self._driver.carry_out(orders)), pool.take_lost()))

    async def audit(self, _: web.Request) -> web.Response:
        return json_response(list(self._audit.records))

    async def list_faults(self, _: web.Request) -> web.Response:
        return json_response(self._faults.active())

    async def add_fault(self, request: web.Request) -> web.Response:
        """Put a fault in force; `slow` and `refuse` act on the engine at once, the others on coming requests."""
        fault = _fault(await request.read())
        if fault.kind == "slow":
            self._driver.slow_down(fault.factor, fault.seconds)
        elif fault.kind == "refuse":
            await self._refuse(fault.seconds)
        else:
            self._faults.add(fault)
        return json_response(fault)

    async def clear_faults(self, _: web.Request) -> web.Response:
        self._faults.clear()
        self._driver.slow_down(1.0)
        return json_response([])

    async def reset(self, _: web.Request) -> web.Response:
        """Forget caches, counters and the audit. 409 while requests are running."""
        if not self._driver.reset():
            raise ApiError("Requests are running; the engine was not reset.", 409, "ConflictError")
        self._audit.records.clear()
        return json_response({"reset": True})


def kv_status(core: Core, scale: float) -> KvStatus:
    """What the engine's KV memory holds now; `scale`: engine seconds in a second of those who ask."""
    pool, obedient = core.pool, core.obedient
    tiers = core.limits.tiers
    return KvStatus(
        obeys=obedient is not None,
        blocks=pool.total,
        free=pool.free,
        cached=pool.cached,
        named=obedient.named if obedient is not None else 0,
        pinned=obedient.pinned if obedient is not None else 0,
        tiers=tuple(
            KvTier(tier.blocks, core.swap.free(at), tier.seconds_per_block / scale) for at, tier in enumerate(tiers)
        ),
    )
