"""The emulated engine: vLLM's API and timing, with words instead of a model.

A request becomes one sequence per answer in a `Core`, which a `Driver` steps on the wall clock; at the end of each
step the sequences that got a token write it, and their handlers send it. Nothing here computes a transformer, so
thousands of tokens a second cost a few per cent of a core, and all but the jitter of sending is reproducible.
"""

import asyncio
import os
import signal
import sys

import msgspec
import uvloop
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from pointsman.clock import WallClock, unix_seconds
from pointsman.engine.api.audit import Audit
from pointsman.engine.api.control import Control
from pointsman.engine.api.driver import Driver
from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.faults import FaultBoard
from pointsman.engine.api.inference import REQUEST_ID, Broken, Inference
from pointsman.engine.api.intake import Intake
from pointsman.engine.api.listener import Listener
from pointsman.engine.api.metrics import EngineCollector, EngineMetrics, registry_of
from pointsman.engine.api.plain import plain_application
from pointsman.engine.api.publisher import Publisher
from pointsman.engine.profile import BUILT_IN, Catalogue, EngineProfile, profile_of
from pointsman.engine.settings import EngineConfig

MAX_BODY = 64 * 1024 * 1024
MAX_HEADER = 64 * 1024
"""Bytes of one header: the one that tells a prompt's links is long."""


def serve(engine: "Engine") -> int:
    """Run an emulated engine until it is interrupted.

    Returns the exit status: 1, with a line on stderr, for a port that cannot be had.
    """
    try:
        uvloop.run(_serve(engine))
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        where = error.filename or f"{engine.config.host}:{engine.config.port}"
        print(f"pointsman engine: cannot listen on {where}: {why}; --host and --port choose another", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name != "zmq":
            raise
        print("pointsman engine: --kv-events needs pyzmq: pip install 'pointsman[kv-events]'", file=sys.stderr)
        return 1
    return 0


async def _serve(engine: "Engine") -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with engine:
        print(engine.banner(), file=sys.stderr, flush=True)
        await stop.wait()


class Engine:
    """A listening emulated engine, as an asynchronous context manager.

    Model and GPU are looked up in `catalogue`. Raises ValueError for settings that do not go together,
    OSError for an audit log that cannot be written; when entered, for an address that cannot be had.
    """

    def __init__(self, config: EngineConfig, catalogue: Catalogue = BUILT_IN) -> None:
        self.config = config
        self.driver: Driver | None = None
        self.publisher: Publisher | None = None
        self._profile = None if config.plain else profile_of(config, catalogue)
        self._audit = Audit(config.audit_log)
        self._listener = Listener(config.host, config.port)

    async def __aenter__(self) -> "Engine":
        if self.config.kv_events:
            self.publisher = Publisher(self.config.kv_events, self.config.kv_replay)
        application = plain_application(self.config) if self._profile is None else self._application(self._profile)
        # A client that goes away cancels its handler, which aborts its sequences.
        runner = web.AppRunner(
            application,
            handler_cancellation=True,
            access_log=None,
            shutdown_timeout=self.config.shutdown_seconds,
            max_field_size=MAX_HEADER,
            max_line_size=MAX_HEADER,
        )
        await self._listener.open(runner)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listener.close()
        if self.driver is not None:
            self.driver.stop()
        if self.publisher is not None:
            self.publisher.close()
            self.publisher = None
        self._audit.close()

    @property
    def port(self) -> int:
        """The port listened on, also if the settings left the choice to the system with 0."""
        return self._listener.port

    def banner(self) -> str:
        """What the command prints when it is ready."""
        where = f"http://{self.config.host}:{self.port}"
        if self._profile is None:
            return f"EMULATED plain inference server on {where}"
        profile, limits = self._profile, self._profile.limits
        return (
            f"EMULATED engine on {where}: no model runs here, its words are made up\n"
            f"  timing of {profile.name} on {self.config.tp} × {self.config.gpu}, speed {self.config.speed:g}, "
            f"time × {self.config.time_scale:g}; {limits.blocks} KV blocks of {limits.block_size} tokens"
        )

    def _application(self, profile: EngineProfile) -> web.Application:
        config, faults, metrics = self.config, FaultBoard(), EngineMetrics()
        driver = self.driver = Driver(profile, WallClock(), config.time_scale, metrics, self.publisher)
        intake = Intake(config, profile)
        registry = registry_of(EngineCollector(driver.core, metrics, intake.models[0], unix_seconds()))
        inference = Inference(intake, driver, faults, self._audit)
        control = Control(intake, driver, faults, self._audit, registry, profile.max_model_len, self._listener.refuse)
        application = web.Application(
            client_max_size=MAX_BODY, middlewares=[_answer_errors, _authorize(config.api_key)]
        )
        application.add_routes(
            [
                web.post("/v1/chat/completions", inference.chat),
                web.post("/v1/completions", inference.completions),
                web.post("/v1/embeddings", inference.embeddings),
                *control.routes(),
            ]
        )
        return application


@web.middleware
async def _answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except ApiError as error:
        echoed = {REQUEST_ID: request.headers[REQUEST_ID]} if REQUEST_ID in request.headers else None
        return web.Response(body=error.body(), status=error.status, content_type="application/json", headers=echoed)
    except web.HTTPException as error:  # no such route or method, or a body too large: worded as FastAPI does
        detail = {"detail": error.reason}
        return web.Response(body=msgspec.json.encode(detail), status=error.status, content_type="application/json")
    except (Broken, ConnectionResetError):  # the latter where the client left just before its answer began
        return web.Response(status=500)  # not sent: the connection is gone


def _authorize(api_key: str | None) -> Middleware:
    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        guarded = api_key is not None and request.path.startswith("/v1/")
        if guarded and request.headers.get("Authorization") != f"Bearer {api_key}":
            raise ApiError("Unauthorized", 401, "AuthenticationError")
        return await handler(request)

    return check
