"""An engine's scheduler and timing as a pure state machine: what vLLM V1 does in a step, without the tensors.

The life of a step: `schedule(now)` decides which sequences compute how many tokens and how long that takes; when that
time is over `complete(step, now)` advances them and says who got a token. A step has a budget of tokens. Running
sequences are served first, in order of admission; each computes what it has not yet computed, one token when decoding,
a chunk of its prompt when prefilling. Then waiting ones are admitted while budget, sequence slots and blocks last. A
running sequence that finds no block takes those of the last admitted one (with priority scheduling: the least urgent
one), which starts over later, usually finding much of itself still in the prefix cache, or has its blocks copied to
other memory and back where that is quicker. Full blocks enter the prefix cache when scheduled, so that sequences of the
same step can share them; who listens to the cache's events hears of it when the step is over.

Sequences may be aborted at any time, also while a step that contains them is running; the step then passes them over.
"""

import msgspec

from pointsman.brain.costs.step_time import StepTime
from pointsman.brain.model.commands import Carried, Command, Evict, Pin, SwapOut
from pointsman.engine.blocks import PRIVATE, BlockPool
from pointsman.engine.kv_events import KvEventBatch, KvEventLog
from pointsman.engine.obedient import ObedientPool
from pointsman.engine.sequence import Sequence, Status
from pointsman.engine.swap import SwapSpace, Tier
from pointsman.engine.waiting import WaitingQueue


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds an engine's batches. Blocks are `block_size` tokens each; `tiers` take those of the preempted.

    One that `obeys` leaves it to others which cached blocks go.
    """

    blocks: int
    block_size: int = 16
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    by_priority: bool = False
    tiers: tuple[Tier, ...] = ()
    obeys: bool = False

    @property
    def capacity_tokens(self) -> int:
        return self.blocks * self.block_size

    def check(self, sequence: Sequence) -> None:
        """Raises ValueError if the sequence could never fit the blocks."""
        if sequence.prompt_tokens + sequence.max_tokens - 1 > self.capacity_tokens:
            wanted = f"{sequence.prompt_tokens} + {sequence.max_tokens} tokens"
            raise ValueError(f"{wanted} exceed the KV cache of {self.capacity_tokens}")


class Step(msgspec.Struct, frozen=True):
    """A batch in progress: (sequence, tokens computed) pairs, its begin and its length in seconds."""

    work: list[tuple[Sequence, int]]
    began: float
    seconds: float
    preempted: list[Sequence]

    @property
    def ends(self) -> float:
        return self.began + self.seconds


class StepResult(msgspec.Struct, frozen=True):
    """Who got a token when the step ended; those who thereby reached `max_tokens` are also in `finished`.

    `kv_events`: how the prefix cache changed, for a core that tells; None if it did not.
    """

    emitted: list[Sequence]
    finished: list[Sequence]
    kv_events: KvEventBatch | None = None


class Totals(msgspec.Struct):
    """Counters since the start, in tokens unless said otherwise."""

    prompt_tokens: int = 0
    generated_tokens: int = 0
    prefix_queries: int = 0
    prefix_hits: int = 0
    preemptions: int = 0  # sequences
    evicted_blocks: int = 0
    swapped_out_blocks: int = 0
    swapped_in_blocks: int = 0
    steps: int = 0
    busy_seconds: float = 0.0  # length of all steps


class Core:
    """One engine. `slowdown` multiplies the time of steps scheduled from now on, but for copying.

    With `kv_events`, results of steps tell how the prefix cache changed.
    """

    def __init__(self, limits: Limits, step_time: StepTime, slowdown: float = 1.0, *, kv_events: bool = False) -> None:
        self.limits = limits
        self.step_time = step_time
        self.slowdown = slowdown
        self._events = KvEventLog(limits.block_size) if kv_events else None
        self.obedient = ObedientPool(limits.blocks, self._events) if limits.obeys else None
        self.pool = self.obedient or BlockPool(limits.blocks, self._events)
        self.swap = SwapSpace(limits.tiers, step_time, limits.block_size, limits.max_num_batched_tokens)
        self.totals = Totals()
        self._running: list[Sequence] = []
        self._waiting = WaitingQueue(limits.by_priority)
        self._arrivals = 0

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def kv_usage(self) -> float:
        """Share of blocks held by live sequences; free blocks with cached content do not count."""
        return 1.0 - self.pool.free / self.pool.total

    def add(self, sequence: Sequence, now: float) -> None:
        """Queue a sequence. Raises ValueError if it could never fit the engine's blocks, changing nothing."""
        self.limits.check(sequence)
        sequence.expand()
        self._arrivals += 1
        sequence.order = self._arrivals
        sequence.arrival = now
        self._waiting.push(sequence)

    def abort(self, sequence: Sequence, now: float) -> bool:
        """End a sequence, waiting or running, and free its blocks. False if it had ended already."""
        if sequence.status is Status.DONE:
            return False
        was_running = sequence.status is Status.RUNNING
        sequence.status = Status.DONE
        sequence.finished_at = now
        if was_running:
            self._running.remove(sequence)
            self._free(sequence)
        else:
            self._waiting.forget()
            if sequence.parked is not None:
                self.swap.drop(sequence.parked)
        return True

    def carry_out(self, command: Command) -> Carried:
        """Do with the cache what is ordered. Raises ValueError, changing nothing, for a core that does not obey."""
        pool = self.obedient
        if pool is None:
            raise ValueError("this engine takes no orders")
        if isinstance(command, SwapOut):
            return self._swap_out(command.request)
        if isinstance(command, Evict):
            return pool.evict(command.links)
        return pool.pin(command.links) if isinstance(command, Pin) else pool.unpin(command.links)

    finish = abort  # a stop string or an end-of-sequence token ends a sequence the same way

    def reset(self) -> bool:
        """Forget the prefix cache and the counters; False, changing nothing, while there are sequences."""
        if self._running or self.waiting:
            return False
        self.pool.clear()
        self.swap.clear()
        self.totals = Totals()
        return True

    def schedule(self, now: float) -> Step | None:
        """Form the next batch; None if there is nothing to do. The caller completes it before scheduling again."""
        work: list[tuple[Sequence, int]] = []
        preempted: list[Sequence] = []
        budget = self._schedule_running(work, preempted)
        if not preempted:
            self._admit(work, budget, now)
        if not work:
            return None
        self.totals.steps += 1
        seconds = self._seconds(work) * self.slowdown + self.swap.spent()
        self.totals.busy_seconds += seconds
        return Step(work, now, seconds, preempted)

    def complete(self, step: Step, now: float) -> StepResult:
        """Advance the sequences of a step that has just ended; those that computed all they know get a token."""
        emitted: list[Sequence] = []
        finished: list[Sequence] = []
        for sequence, tokens in step.work:
            if sequence.status is not Status.RUNNING:
                continue
            sequence.computed += tokens
            if sequence.computed < sequence.prompt_tokens + sequence.generated:
                continue
            sequence.generated += 1
            if sequence.first_token_at is None:
                sequence.first_token_at = now
            else:
                sequence.gap_s = max(sequence.gap_s, now - sequence.token_at)
            sequence.token_at = now
            emitted.append(sequence)
            if sequence.generated >= sequence.max_tokens:
                finished.append(sequence)
        for sequence in finished:
            self.finish(sequence, now)
        self.totals.generated_tokens += len(emitted)
        return StepResult(emitted, finished, self._events.batch(now) if self._events is not None else None)

    def _schedule_running(self, work: list[tuple[Sequence, int]], preempted: list[Sequence]) -> int:
        """Give running sequences their tokens, preempting where blocks run out; returns the budget left."""
        budget = self.limits.max_num_batched_tokens
        last = self.limits.block_size - 1
        for sequence in list(self._running):
            if budget == 0:
                break
            if sequence.status is not Status.RUNNING:
                continue
            computed = sequence.computed
            tokens = min(sequence.prompt_tokens + sequence.generated - computed, budget)
            # Most decodes stay inside a block: nothing to take and nothing to publish.
            if tokens > 1 or not 0 < computed % self.limits.block_size < last:
                budget += self._make_room(sequence, tokens, work, preempted)
                if preempted and preempted[-1] is sequence:
                    continue
                self._grow(sequence, tokens)
            work.append((sequence, tokens))
            budget -= tokens
        return budget

    def _make_room(
        self, sequence: Sequence, tokens: int, work: list[tuple[Sequence, int]], preempted: list[Sequence]
    ) -> int:
        """Preempt until `sequence` can grow or is itself the victim; returns the budget that victims give back."""
        returned = 0
        while self._blocks_short(sequence, tokens) > self.pool.free:
            victim = self._victim()
            self._preempt(victim)
            preempted.append(victim)
            for entry in work:
                if entry[0] is victim:
                    work.remove(entry)
                    returned += entry[1]
                    break
            if victim is sequence:
                break
        return returned

    def _victim(self) -> Sequence:
        if self.limits.by_priority:
            return max(self._running, key=lambda sequence: (sequence.priority, sequence.order))
        return self._running[-1]

    def _preempt(self, victim: Sequence) -> None:
        self._running.remove(victim)
        self._free(victim)
        victim.parked = self.swap.park(victim.computed, self.slowdown)
        victim.computed = 0
        victim.status = Status.WAITING
        self._waiting.push(victim)
        self.totals.preemptions += 1

    def _admit(self, work: list[tuple[Sequence, int]], budget: int, now: float) -> None:
        """Move waiting sequences into the batch while budget, slots and blocks last."""
        size = self.limits.block_size
        while budget and len(self._running) < self.limits.max_num_seqs:
            sequence = self._waiting.head()
            if sequence is None:
                return
            known = sequence.prompt_tokens + sequence.generated
            hits = sequence.hashes[: self.pool.match(sequence.hashes, known // size)]
            # The last token is always computed, as its output is the next one: with all of its block.
            cached = min(len(hits), (known - 1) // size) * size
            if sequence.parked is not None:
                cached = max(cached, sequence.parked.tokens)
            shelved = len(hits)
            if self.swap.shelved:
                shelved = self.swap.find(sequence.hashes, shelved, min(known // size, len(sequence.hashes)))
                cached = max(cached, min(shelved, (known - 1) // size) * size)
            tokens = min(known - cached, budget)
            if not self.pool.can_hold(hits, -(-(cached + tokens) // size) - len(hits)):
                return
            self._waiting.pop()
            self._start(sequence, hits, cached, now)
            if self.swap.shelved:
                self.swap.fetch(sequence.hashes[:shelved], len(hits))
            self._grow(sequence, tokens)
            work.append((sequence, tokens))
            budget -= tokens

    def _start(self, sequence: Sequence, hits: list[int], cached: int, now: float) -> None:
        self.pool.share(hits)
        sequence.blocks = hits
        sequence.published = len(hits)
        sequence.computed = cached
        sequence.status = Status.RUNNING
        self._running.append(sequence)
        if sequence.parked is not None:
            self.swap.bring(sequence.parked, len(hits))
            sequence.parked = None
        if self.obedient is not None:
            self._name(sequence, 0)
        if sequence.scheduled_at is None:
            sequence.scheduled_at = now
            sequence.cached_tokens = sequence.computed
            self.totals.prompt_tokens += sequence.prompt_tokens
            self.totals.prefix_queries += sequence.prompt_tokens
            self.totals.prefix_hits += sequence.computed

    def _blocks_short(self, sequence: Sequence, tokens: int) -> int:
        return -(-(sequence.computed + tokens) // self.limits.block_size) - len(sequence.blocks)

    def _grow(self, sequence: Sequence, tokens: int) -> None:
        """Take the blocks for `tokens` more and publish those that will be full."""
        short = self._blocks_short(sequence, tokens)
        if short > 0:
            self.pool.take(short)
            sequence.blocks.extend([PRIVATE] * short)
        full = min((sequence.computed + tokens) // self.limits.block_size, len(sequence.hashes))
        before = sequence.published
        while sequence.published < full and self._claim(sequence):
            key = sequence.hashes[sequence.published]
            self.pool.publish(key)
            if self._events is not None:
                self._events.stored(key, sequence.hashes[sequence.published - 1] if sequence.published else None)
            sequence.blocks[sequence.published] = key
            sequence.published += 1
            sequence.claimed = None
        self._claim(sequence)
        if self.obedient is not None:
            self._link_up(self.obedient, sequence, before)

    def _link_up(self, pool: ObedientPool, sequence: Sequence, before: int) -> None:
        """Let the pool know what follows what of the blocks published since there were `before`, and their links."""
        hashes = sequence.hashes
        for position in range(before, sequence.published):
            pool.link_up(hashes[position], hashes[position - 1] if position else None)
        self._name(sequence, before)

    def _name(self, sequence: Sequence, before: int) -> None:
        """The same of blocks that others published without a name."""
        if self.obedient is not None and sequence.links:
            for position in range(before, sequence.published):
                link = sequence.link(position, self.limits.block_size)
                if link is not None:
                    self.obedient.name(sequence.hashes[position], link)

    def _swap_out(self, request: str) -> Carried:
        """Copy what the request's sequences have in the prefix cache."""
        sequences = [sequence for sequence in self._running if sequence.request == request]
        copied = sum(self.swap.shelve(sequence.hashes[: sequence.published]) for sequence in sequences)
        return Carried(blocks=copied, unknown=int(not sequences))

    def _claim(self, sequence: Sequence) -> bool:
        """Whether the sequence is the one to publish its next block; who was not the first once never is again."""
        if sequence.claimed is not None:
            return True
        position = sequence.published
        if not sequence.publishes or position == len(sequence.hashes):
            return False
        sequence.publishes = self.pool.claim(sequence.hashes[position])
        sequence.claimed = sequence.hashes[position] if sequence.publishes else None
        return sequence.publishes

    def _free(self, sequence: Sequence) -> None:
        """Give the blocks back tail first: the longest chains lose their ends before their shared beginnings."""
        if sequence.claimed is not None:
            self.pool.unclaim(sequence.claimed)
            sequence.claimed = None
        self.pool.release(reversed(sequence.blocks))
        sequence.blocks = []
        sequence.published = 0
        sequence.publishes = True

    def _seconds(self, work: list[tuple[Sequence, int]]) -> float:
        decodes = context = prefill = 0
        pairs = 0.0
        for sequence, tokens in work:
            if tokens == 1:
                decodes += 1
                context += sequence.computed + 1
            else:
                prefill += tokens
                pairs += tokens * (sequence.computed + tokens / 2)
        model = self.step_time
        return model.fixed(decodes, prefill) + model.per_context_token * context + model.per_attention_token * pairs
