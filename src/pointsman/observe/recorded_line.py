"""From a request's facts to its line of a recording.

Prompts are never in it, only their chained hashes, and of these the upper 53 bits, which every JSON reader keeps
exactly. What a client calls its session may be somebody's name, so it is hashed too.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from xxhash import xxh3_64_intdigest

from pointsman.brain.cache.chain import seed_for, trace_chain
from pointsman.brain.model.facts import Ended, Placed, Refused
from pointsman.brain.model.request import Chain, Request
from pointsman.workload.recording_line import Recorded

REFUSED = "refused"
_SPARE_BITS = 64 - 53


class Try(NamedTuple):
    """What is known of a try on a node."""

    placed: Placed | None = None
    ttft_s: float | None = None
    ended: Ended | None = None

    def submitted(self, otherwise: float) -> float:
        """When the request came; `otherwise` if it was not placed."""
        return otherwise if self.placed is None else self.placed.now - self.placed.waited_s


class Life(NamedTuple):
    """What is known of a request that is over: its submission, its last try, and its refusal if it was refused."""

    submitted: float
    last: Try
    refused: Refused | None = None


NO_TRY = Try()


class Lines:
    """Makes lines. `epoch` is the Unix time of the clock's zero; `secret` makes hashes that nobody else can make."""

    def __init__(self, epoch: float, secret: bytes) -> None:
        self._epoch = epoch
        self._seed = seed_for(secret, "recording")

    def of(self, life: Life) -> Recorded:
        """The line of a request that was tried or refused."""
        over = life.refused or life.last.ended
        assert over is not None
        request = over.request
        return Recorded(
            timestamp=round((self._epoch + life.submitted) * 1000, 3),
            session_id=self._hashed(request.session) if request.session else None,
            model=request.model,
            tenant=request.tenant,
            priority=request.priority,
            stream=request.stream,
            total_ms=_ms(over.now - life.submitted),
            **_sizes(request, life.last),
            **self._prompt(request),
            **_ending(life),
            **_try(life.last, request.stream),
        )

    def _prompt(self, request: Request) -> dict[str, Any]:
        chain = request.chain
        if chain is None or not chain.links:
            return {"input_bytes": request.prompt_bytes}
        return {
            "hash_ids": tuple([link >> _SPARE_BITS for link in self._links(chain)]),
            "tokens_per_hash": chain.tokens_per_link,
            "bytes_per_hash": chain.bytes_per_link,
            "input_bytes": request.prompt_bytes,
        }

    def _links(self, chain: Chain) -> Iterable[int]:
        """Hashes, as a chain's links are, but for a trace's own ids."""
        return trace_chain(self._seed, chain.links, 1).links if chain.kind == "trace" else chain.links

    def _hashed(self, text: str) -> int:
        return xxh3_64_intdigest(text.encode(errors="surrogatepass"), self._seed) >> _SPARE_BITS


def _sizes(request: Request, last: Try) -> dict[str, Any]:
    """In tokens: what the engine said, else what was expected of the prompt."""
    outcome = last.ended.outcome if last.ended is not None else None
    expected = last.placed.prompt_tokens if last.placed is not None else request.prompt_tokens
    told = outcome.prompt_tokens if outcome is not None else 0
    return {
        "input_length": max(1, told or round(expected)),
        "output_length": outcome.completion_tokens if outcome is not None else 0,
    }


def _ending(life: Life) -> dict[str, Any]:
    refused, ended = life.refused, life.last.ended
    if refused is not None:
        return {"outcome": REFUSED, "reason": refused.code, "status": refused.status}
    assert ended is not None
    outcome = ended.outcome
    return {"outcome": str(outcome.verdict), "reason": outcome.reason, "status": outcome.status}


def _try(last: Try, streamed: bool) -> dict[str, Any]:
    """Where and when; the first byte of an answer that is not streamed is its end, and no token's."""
    placed, ttft_s, ended = last
    known: dict[str, Any] = {}
    if placed is not None:
        known = {"node": placed.node, "tries": placed.attempt, "wait_ms": _ms(placed.waited_s)}
    if ttft_s is not None and streamed:
        known["ttft_ms"] = _ms(ttft_s)
    if ended is not None:
        known["cached_length"] = ended.outcome.cached_tokens
    return known


def _ms(seconds: float) -> float:
    return round(max(0.0, seconds) * 1000, 3)
