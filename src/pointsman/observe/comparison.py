"""Policies compared: what one request saw, and the figures of a run made from all of them.

Every comparison, over sockets or simulated, fills the same values, so that a table or a report can be made of either.
Three rules keep the figures honest. A request counts by when it was *sent*, inside the measured window, so a policy
cannot look good by leaving its slowest requests out. A request that had no first token when the run was cut enters the
TTFT figures with the age it had reached, a lower bound. Whoever was answered at all counts towards the hit ratio.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from .sampled import NOWHERE, Sampled, mean, quantile


class Sample(msgspec.Struct, frozen=True):
    """One request as its client saw it. All moments in seconds since the run began.

    `first_s`: first token, None if none came. `done_s`: end of the answer, or when the run gave up. `output_tokens`,
    `cached_tokens`: as reported by the engine, 0 when it reported nothing. `node`: "" when nobody knows. `streamed`:
    false for a plain answer, of which nobody sees the first token: it counts in no figure of TTFT or TPOT.
    """

    sent_s: float
    first_s: float | None
    done_s: float
    ok: bool
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    node: str = ""
    streamed: bool = True

    @property
    def ttft_s(self) -> float:
        """Seconds to the first token, or as long as was waited for one."""
        return (self.done_s if self.first_s is None else self.first_s) - self.sent_s

    @property
    def tpot_s(self) -> float | None:
        """Seconds per output token after the first; None for answers of one token and for failed ones."""
        if not self.ok or self.first_s is None or self.output_tokens < 2:
            return None
        return (self.done_s - self.first_s) / (self.output_tokens - 1)

    @property
    def work_tokens(self) -> int:
        """Tokens its node computed: the part of the prompt that was not cached, and the answer."""
        return self.prompt_tokens - self.cached_tokens + self.output_tokens


class Window(msgspec.Struct, frozen=True):
    """The measured part of a run, [start_s, end_s): after it has warmed up, before it drains."""

    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    def holds(self, moment_s: float) -> bool:
        return self.start_s <= moment_s < self.end_s


class Figures(msgspec.Struct, frozen=True):
    """What one policy achieved. Seconds are the run's own; a figure without any sample is None.

    `offered_rps`: requests sent per second of the window; `throughput_rps`: successful answers completed per second of
    it. `success`: share of the requests sent in the window that were answered wholly. `hit_ratio`: cached over all
    prompt tokens. `imbalance`: see `imbalance()`.
    """

    name: str
    requests: int
    offered_rps: float
    throughput_rps: float
    success: float | None
    ttft_mean_s: float | None
    ttft_p50_s: float | None
    ttft_p99_s: float | None
    tpot_mean_s: float | None
    hit_ratio: float | None
    imbalance: float | None


def figures(name: str, samples: Sequence[Sample], window: Window, capacity: Mapping[str, float]) -> Figures:
    """The figures of the run that gave `samples`. `capacity`: relative speed of each node over the run."""
    return figures_of(name, Sampled.of(samples, list(capacity)), window, list(capacity.values()))


def figures_of(name: str, samples: Sampled, window: Window, capacity: Sequence[float]) -> Figures:
    """The same of columns; `capacity` has a row for each of their nodes."""
    sent = samples.only(samples.sent_in(window))
    completed = samples.ok & (samples.done_s >= window.start_s) & (samples.done_s < window.end_s)
    ttft = sent.ttft_s[sent.streamed]
    prompts = float(sent.prompt_tokens.sum())
    return Figures(
        name=name,
        requests=len(sent),
        offered_rps=len(sent) / window.seconds,
        throughput_rps=int(completed.sum()) / window.seconds,
        success=float(sent.ok.mean()) if len(sent) else None,
        ttft_mean_s=mean(ttft),
        ttft_p50_s=quantile(ttft, 0.50),
        ttft_p99_s=quantile(ttft, 0.99),
        tpot_mean_s=mean(sent.tpot_s),
        hit_ratio=float(sent.cached_tokens.sum()) / prompts if prompts else None,
        imbalance=imbalance(sent, capacity),
    )


def imbalance(samples: Sampled, capacity: Sequence[float]) -> float | None:
    """Coefficient of variation over the nodes of work per capacity: 0 when every node does its fair share.

    Work of a node: the tokens it computed (uncached prompt and answers). Capacity: its relative speed over the run, so
    that a node three times slower is in balance with a third of the work. None when no work was done.
    """
    known = samples.only(samples.node != NOWHERE)
    if not len(known):
        return None
    work = np.bincount(known.node, weights=known.work_tokens, minlength=len(capacity)) / np.array(capacity)
    average = float(work.mean())
    return float(work.std()) / average if average > 0 else None
