"""A plain HTTP inference server: any POST is answered in `base + slope · load` seconds, with some JSON.

Load is the requests in flight as a share of capacity, plus a drift that can be set from outside.
"""

import asyncio
from typing import Annotated

import msgspec
from aiohttp import web

from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.intake import decoder
from pointsman.engine.plain_service import PlainService
from pointsman.engine.settings import EngineConfig


class Drift(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Load that does not come from requests, and a factor on the response time."""

    drift: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    factor: Annotated[float, msgspec.Meta(gt=0)] = 1.0


_drift = decoder(Drift)


class PlainServer:
    """Handlers of a plain server; `running` counts requests in flight."""

    def __init__(self, config: EngineConfig) -> None:
        self._service = PlainService(
            base_seconds=config.plain_base_seconds,
            slope_seconds=config.plain_slope_seconds,
            capacity=config.plain_capacity,
        )
        self._time_scale = config.time_scale
        self._state = Drift()
        self.running = 0

    @property
    def load(self) -> float:
        """1.0 is full load; more is possible."""
        return self._service.load(self.running, self._state.drift)

    async def infer(self, request: web.Request) -> web.Response:
        """Answer after a time set by the load that the request meets on arrival."""
        await request.read()
        load = self.load
        seconds = self._service.seconds(load) * self._state.factor
        self.running += 1
        try:
            await asyncio.sleep(seconds / self._time_scale)
        finally:
            self.running -= 1
        return _json({"result": "ok", "path": request.path, "load": load, "seconds": seconds})

    async def status(self, _: web.Request) -> web.Response:
        return _json(
            {"load": self.load, "running": self.running, "drift": self._state.drift, "factor": self._state.factor}
        )

    async def health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def set_drift(self, request: web.Request) -> web.Response:
        try:
            self._state = _drift(await request.read())
        except ApiError as error:
            return web.Response(body=error.body(), status=error.status, content_type="application/json")
        return _json(self._state)


def plain_application(config: EngineConfig) -> web.Application:
    """The application of a plain server with the given base, slope and capacity."""
    server = PlainServer(config)
    application = web.Application()
    application.add_routes(
        [
            web.get("/health", server.health),
            web.get("/status", server.status),
            web.post("/admin/drift", server.set_drift),
            web.post("/{path:.*}", server.infer),
        ]
    )
    return application


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")
