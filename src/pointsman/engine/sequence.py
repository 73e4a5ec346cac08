"""One sequence inside an engine: a prompt, what has been computed of it and the blocks that hold it."""

from enum import Enum

from pointsman.engine.swap import Parked
from pointsman.workload.runs import Runs, ids_of


class Status(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


class Sequence:
    """The engine's account of one sequence. Owned and mutated by the core; callers may extend `hashes`.

    `hashes` are the chained hashes (≥ 0) of the leading full blocks: those of the prompt, and of generated tokens where
    the caller knows them and appends them as blocks fill up. Blocks without a hash are never shared. Who knows all
    of them beforehand may give them as `runs` instead.
    """

    __slots__ = (
        "arrival",
        "blocks",
        "cached_tokens",
        "claimed",
        "computed",
        "finished_at",
        "first_token_at",
        "gap_s",
        "generated",
        "hashes",
        "key",
        "links",
        "max_tokens",
        "order",
        "parked",
        "priority",
        "prompt_tokens",
        "published",
        "publishes",
        "request",
        "runs",
        "scheduled_at",
        "status",
        "token_at",
    )

    def __init__(
        self,
        key: str,
        prompt_tokens: int,
        max_tokens: int,
        hashes: list[int] | None = None,
        priority: int = 0,
        runs: Runs = (),
    ) -> None:
        """Raises ValueError unless both token counts are at least one."""
        if prompt_tokens < 1 or max_tokens < 1:
            raise ValueError(f"a sequence needs a prompt and an answer, got {prompt_tokens} and {max_tokens} tokens")
        self.key = key
        self.prompt_tokens = prompt_tokens
        self.max_tokens = max_tokens
        self.hashes = hashes if hashes is not None else []
        self.runs = runs
        self.priority = priority
        self.status = Status.WAITING
        self.order = 0  # place in arrival order, given by the core
        self.computed = 0  # tokens whose keys and values are in the cache
        self.generated = 0
        self.cached_tokens = 0  # of the prompt, found in the prefix cache when first scheduled
        self.blocks: list[int] = []  # in position order: a block's hash once it is shared, else PRIVATE
        self.published = 0  # leading blocks shared with the prefix cache
        self.publishes = True  # until another sequence is the first to compute a block of its chain
        self.claimed: int | None = None  # the hash it will publish next
        self.parked: Parked | None = None  # its blocks outside of the GPU's memory, while it waits after a preemption
        self.links: tuple[int, ...] = ()  # of its prompt's chain, for an engine that obeys: names of its blocks
        self.request = ""  # the id of its request, for the same
        self.arrival = 0.0
        self.scheduled_at: float | None = None
        self.first_token_at: float | None = None
        self.token_at = 0.0  # when a token came last; many steps at a time, only the last one before an interruption
        self.gap_s = 0.0  # the longest time between two tokens, known when it is finished
        self.finished_at: float | None = None

    def link(self, position: int, block_size: int) -> int | None:
        """The link that the block at `position` belongs to, if that is of the prompt and the prompt's links are known.

        Links share a prompt's full blocks evenly: what is equal in two prompts is cut by the first that came.
        """
        full = self.prompt_tokens // block_size
        return self.links[position * len(self.links) // full] if self.links and position < full else None

    def expand(self) -> None:
        """Write the hashes of `runs` out, for a core that knows blocks one by one."""
        if self.runs:
            self.hashes = ids_of(self.runs)
