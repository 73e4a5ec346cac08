"""Asks nodes how they are, when the brain orders it, and reports what they say.

A node is well when `GET /health` answers 2xx, or does not know the path (404, 405). Its models are asked for unless
they were configured, its load by the means its kind has. Only `/health` decides whether a probe is good: a page of
metrics that is missing or late takes no node out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.clock import Clock
from pointsman.gateway.deadlines import SWEEP_S
from pointsman.gateway.driver import Driver
from pointsman.gateway.fetch import Fetched, FetchFailed, fetch
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.targets import Target, Targets
from pointsman.gateway.upstream import NO_SOCKET, ConnectFailed
from pointsman.wire.decoding import decoder
from pointsman.wire.exposition import EngineReading, read_exposition
from pointsman.wire.kv_orders import KvTier, decode_status

Document = TypeVar("Document")

FLOW_S = 2.0
"""Answers that came so lately count for a probe that fails at once, too."""
_UNKNOWN_PATH = (404, 405, 501)
_MODELS = "/v1/models"
_PLAIN = "a plain server lists no models: name the node's `models`"
_KEYLESS = f"GET {_MODELS} answers %s: it wants a key, which `node_key_file` names"
_UNLISTED = f"GET {_MODELS} %s; if the address is right, name the node's `models`"


class _Model(msgspec.Struct):
    id: str
    parent: msgspec.Raw = msgspec.Raw()


class _Models(msgspec.Struct):
    data: list[_Model]


class _Status(msgspec.Struct):
    load: float | None = None
    running: int | None = None


_decode_models = decoder(_Models)
_decode_status = decoder(_Status)


class Probes:
    """Runs at most one probe per node at a time, each in a task of its own: none waits for another's node.

    `driver` is told how each ended; set it before the first probe. Then `told(node, started_at)` hears when the process
    there began, and `adapters` has the models that nodes list as LoRA adapters of others.
    """

    def __init__(self, targets: Targets, timeouts: Timeouts, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self._targets = targets
        self._timeouts = timeouts
        self._clock = clock
        self._loop = loop
        self._running: dict[str, asyncio.Task[None]] = {}
        self.driver: Driver | None = None
        self.told: Callable[[str, float | None], object] = _nobody
        self.adapters: set[str] = set()

    def configure(self, timeouts: Timeouts) -> None:
        """Be as patient as `timeouts` from now on."""
        self._timeouts = timeouts

    def start(self, node: NodeSpec) -> None:
        """Probe `node` unless a probe of it is still under way."""
        if node.name not in self._running:
            task = self._loop.create_task(self._probe(node))
            self._running[node.name] = task
            task.add_done_callback(lambda _: self._running.pop(node.name, None))

    def stop(self) -> None:
        """Cancel what is under way."""
        for task in tuple(self._running.values()):
            task.cancel()

    async def _probe(self, node: NodeSpec) -> None:
        began = self._clock.now()
        target = self._targets.of(node)
        try:
            report = await self._examine(node, target, began)
        except ConnectFailed as failure:
            if failure.reason == NO_SOCKET:  # that says nothing about the node
                return
            report = self._bad(node, str(failure), began)
        except (FetchFailed, TimeoutError, OSError, ValueError) as error:
            report = self._bad(node, str(error) or "timeout", began)
        if self.driver is not None:
            self.driver.report(msgspec.structs.replace(report, flowing=self._flows(target, began)))
            self.told(report.node, report.started_at)

    def _flows(self, target: Target, began: float) -> bool:
        """Whether answers to requests came from the node while it was probed, or shortly before the end of that."""
        now = self._clock.now()
        return target.pool.heard_at > now - max(now - began - SWEEP_S, FLOW_S)

    async def _examine(self, node: NodeSpec, target: Target, began: float) -> NodeReport:
        health = await fetch(target, "/health", self._timeouts.probe_s)
        if not 200 <= health.status < 300 and health.status not in _UNKNOWN_PATH:
            return self._bad(node, f"status_{health.status}", began)
        seconds = self._clock.now() - began
        if node.engine == "plain":
            return await self._plain(node, target, seconds)
        (models, why), reading = await asyncio.gather(self._models(node, target), self._reading(node, target))
        report = NodeReport(
            node=node.name,
            ok=True,
            reason=why,
            seconds=seconds,
            models=models,
            running=reading.running,
            waiting=reading.waiting,
            kv_usage=reading.kv_usage,
            gpu_busy=None if reading.gpu_percent is None else reading.gpu_percent / 100.0,
            kv_blocks=reading.kv_blocks,
            block_tokens=reading.block_tokens,
            started_at=reading.started_at,
        )
        return report if node.residency != "commanded" else await self._obedience(report, target)

    async def _obedience(self, report: NodeReport, target: Target) -> NodeReport:
        """The same with what the engine says of its cache, and of the next memory to which it can copy."""
        answer = await self._ask(target, "/kv")
        if answer is None:
            return report
        status = _decoded(answer.body, decode_status) if answer.status == 200 else None
        if status is None:
            return msgspec.structs.replace(report, obeys=False)
        tier = next((tier for tier in status.tiers if tier.free), KvTier(0, 0, 0.0))
        block_s = tier.seconds_per_block
        return msgspec.structs.replace(report, obeys=status.obeys, swap_blocks=tier.free, swap_block_s=block_s)

    def _bad(self, node: NodeSpec, reason: str, began: float) -> NodeReport:
        return NodeReport(node=node.name, ok=False, reason=reason, seconds=self._clock.now() - began)

    async def _plain(self, node: NodeSpec, target: Target, seconds: float) -> NodeReport:
        answer = await self._maybe(target, "/status")
        status = _decoded(answer, _decode_status) or _Status()
        return NodeReport(
            node=node.name,
            ok=True,
            reason="" if node.models else _PLAIN,
            seconds=seconds,
            models=node.models or None,
            load=status.load,
            running=status.running,
        )

    async def _models(self, node: NodeSpec, target: Target) -> tuple[tuple[str, ...] | None, str]:
        """The models of the node; None if it does not tell, and why."""
        if node.models:
            return node.models, ""
        answer = await self._ask(target, _MODELS)
        if answer is None:
            return None, f"GET {_MODELS} is not answered"
        if answer.status in (401, 403):
            return None, _KEYLESS % answer.status
        if answer.status != 200:
            return None, _UNLISTED % f"answers {answer.status}"
        listed = _decoded(answer.body, _decode_models)
        if listed is None:
            return None, _UNLISTED % "answers no list of models"
        self.adapters.update(model.id for model in listed.data if bytes(model.parent).startswith(b'"'))
        return tuple(model.id for model in listed.data), ""

    async def _reading(self, node: NodeSpec, target: Target) -> EngineReading:
        page = await self._maybe(target, "/metrics")
        return read_exposition(page.decode(errors="replace"), node.rank) if page else EngineReading()

    async def _maybe(self, target: Target, path: str) -> bytes:
        """The body of a 200, or nothing."""
        answer = await self._ask(target, path)
        return answer.body if answer is not None and answer.status == 200 else b""

    async def _ask(self, target: Target, path: str) -> Fetched | None:
        """The answer, whatever it says; None if there is none."""
        try:
            return await fetch(target, path, self._timeouts.probe_s)
        except (ConnectFailed, FetchFailed, TimeoutError, OSError):
            return None


def _nobody(_node: str, _started_at: float | None) -> None:
    """There is nobody to be told."""


def _decoded(body: bytes, decode: Callable[[bytes], Document]) -> Document | None:
    try:
        return decode(body)
    except msgspec.DecodeError:
        return None
