"""The inference endpoints: chat, completions, embeddings."""

import asyncio
import struct
from base64 import b64encode
from collections.abc import Callable
from uuid import uuid4

import msgspec
from aiohttp import web
from xxhash import xxh3_64_intdigest

from pointsman.engine.api.audit import Audit
from pointsman.engine.api.driver import Driver
from pointsman.engine.api.errors import ApiError
from pointsman.engine.api.faults import INBAND_ERROR, Fault, FaultBoard, break_connection, refused
from pointsman.engine.api.intake import Intake, decoder, prompts_of
from pointsman.engine.api.job import Job
from pointsman.engine.api.requests import ChatRequest, CompletionRequest, EmbeddingRequest
from pointsman.engine.text.tokens import split
from pointsman.wire.kv_orders import CHAIN_HEADER, unpack_links

REQUEST_ID = "X-Request-Id"
ATTEMPT = "X-Pointsman-Attempt"
DIMENSIONS = 384

_chat = decoder(ChatRequest)
_completion = decoder(CompletionRequest)
_embedding = decoder(EmbeddingRequest)


class Broken(Exception):
    """A fault has ended the connection; there is nothing left to answer."""


class Inference:
    """Answers inference requests with what the driver's engine writes, in the time it takes."""

    def __init__(self, intake: Intake, driver: Driver, faults: FaultBoard, audit: Audit) -> None:
        self._intake = intake
        self._driver = driver
        self._faults = faults
        self._audit = audit

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, lambda body, name: self._intake.chat(_chat(body), name))

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, lambda body, name: self._intake.completion(_completion(body), name))

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        """Vectors that depend on the text alone, at once."""
        fault = self._meet_fault(request)
        if fault is not None and fault.kind == "hang_before_headers":
            await _hang(fault.seconds)
        elif fault is not None:
            break_connection(request, fault)
            raise Broken
        body = _embedding(await request.read())
        model = self._intake.model(body.model)
        prompts = prompts_of(body.input)
        tokens = sum(len(split(prompt)) for prompt in prompts)
        vectors = [embed(prompt, body.dimensions or DIMENSIONS) for prompt in prompts]
        encoded = [_base64(vector) for vector in vectors] if body.encoding_format == "base64" else vectors
        data = [{"object": "embedding", "index": index, "embedding": value} for index, value in enumerate(encoded)]
        counts = {"prompt_tokens": tokens, "total_tokens": tokens, "completion_tokens": 0}
        answer = {"id": f"embd-{_request_id(request)}", "object": "list", "model": model, "data": data, "usage": counts}
        return web.Response(body=msgspec.json.encode(answer), content_type="application/json")

    async def _generate(self, request: web.Request, make: Callable[[bytes, str], Job]) -> web.StreamResponse:
        fault = self._meet_fault(request)
        request_id = _request_id(request)
        job = make(await request.read(), request_id)
        if self._driver.core.limits.obeys:
            _name(job, request_id, request.headers.get(CHAIN_HEADER, ""))
        self._record("start", request, request_id, job)
        self._driver.submit(job)
        event = "abort"
        try:
            answer = await self._answer(request, request_id, job, fault)
            event = "finish"
            return answer
        finally:
            if self._driver.abort(job):
                event = "abort"
            self._record(event, request, request_id, job)

    async def _answer(self, request: web.Request, request_id: str, job: Job, fault: Fault | None) -> web.StreamResponse:
        if fault is not None and fault.kind == "hang_before_headers":
            await _hang(fault.seconds)
            fault = None
        if job.stream:
            return await self._stream(request, request_id, job, fault)
        return await self._whole(request, request_id, job, fault)

    async def _stream(self, request: web.Request, request_id: str, job: Job, fault: Fault | None) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={REQUEST_ID: request_id, "Content-Type": "text/event-stream; charset=utf-8"}
        )
        await response.prepare(request)
        left = fault.n if fault is not None else None
        while not (job.done and job.drained):
            events = await job.wait()
            if not job.first_sent:
                job.first_sent = True
                self._record("first", request, request_id, job)
            data = b"".join(events if left is None else events[:left])
            await response.write(data)
            job.bytes_sent += len(data)
            if fault is not None and left is not None:
                left -= len(events)
                if left <= 0:
                    await self._break_stream(request, response, fault)
                    break
        await response.write_eof()
        return response

    async def _break_stream(self, request: web.Request, response: web.StreamResponse, fault: Fault) -> None:
        if fault.kind == "inband_error":
            await response.write(INBAND_ERROR)
            return
        break_connection(request, fault)
        raise Broken

    async def _whole(self, request: web.Request, request_id: str, job: Job, fault: Fault | None) -> web.StreamResponse:
        while not job.done:
            await job.wait()
        if fault is not None:
            if fault.kind == "inband_error":
                raise ApiError("EngineCore encountered an issue.", 500, "InternalServerError")
            break_connection(request, fault)
            raise Broken
        body = job.whole()
        job.bytes_sent = len(body)
        return web.Response(body=body, content_type="application/json", headers={REQUEST_ID: request_id})

    def _meet_fault(self, request: web.Request) -> Fault | None:
        """Suffer the fault drawn for this request; returned if it acts later: a silence, or a broken stream."""
        fault = self._faults.draw()
        if fault is None:
            return None
        if fault.kind == "status":
            raise refused(fault)
        if fault.n == 0 and fault.kind not in ("inband_error", "hang_before_headers"):
            break_connection(request, fault)
            raise Broken
        return fault

    def _record(self, event: str, request: web.Request, request_id: str, job: Job) -> None:
        counts = job.counts()
        self._audit.write(
            event,
            request_id,
            self._driver.now(),
            attempt=request.headers.get(ATTEMPT, ""),
            path=request.path,
            prompt_tokens=counts["prompt_tokens"],
            cached_tokens=counts["prompt_tokens_details"]["cached_tokens"],
            completion_tokens=counts["completion_tokens"],
            bytes_sent=job.bytes_sent,
        )


def _name(job: Job, request_id: str, chain: str) -> None:
    """Tell the engine what orders will know the job's blocks by. Raises ApiError for a header that is none."""
    try:
        links = unpack_links(chain)
    except ValueError as error:
        raise ApiError(str(error), param=CHAIN_HEADER) from None
    for choice in job.choices:
        choice.sequence.links, choice.sequence.request = links, request_id


def embed(prompt: bytes, dimensions: int) -> list[float]:
    """A deterministic vector with coordinates in [-1, 1)."""
    return [xxh3_64_intdigest(prompt, seed) / 2**63 - 1.0 for seed in range(dimensions)]


def _base64(vector: list[float]) -> str:
    """The vector as OpenAI's base64 format has it: little-endian single-precision floats."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


async def _hang(seconds: float | None) -> None:
    if seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(seconds)


def _request_id(request: web.Request) -> str:
    return request.headers.get(REQUEST_ID) or uuid4().hex
