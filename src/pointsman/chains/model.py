"""Values of chain planning: servers, the service they give together, where its blocks lie, and chains through them.

Memory is in GB and times are seconds; blocks are numbered from 1. A job is one request from its first to its last
token, and what it needs of a server does not depend on how many jobs share it.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0.0, le=1e9)]
Amount = Annotated[float, Meta(ge=0.0, le=1e9)]

_ROUNDING = 1e-9
"""What a quotient may fall short of a whole number by, when it is one: 0.3/0.1 is three."""


class Infeasible(ValueError):
    """No placement can do what is asked. The text says what is missing."""


class Server(msgspec.Struct, frozen=True):
    """`communication_s`: mean seconds a job's messages take to this server and back; `block_s`: mean seconds of
    computing that a job needs per block.
    """

    name: str
    memory_gb: Positive
    communication_s: Amount
    block_s: Positive

    def job_seconds(self, blocks: int) -> float:
        """Mean seconds a job spends here when it is taken through `blocks` of its blocks here."""
        return self.communication_s + self.block_s * blocks


class Service(msgspec.Struct, frozen=True):
    """A model of `blocks` equal blocks. `block_gb`: parameters of one, held once by every server that has it;
    `job_gb`: cache that one job holds per block, reserved for its longest sequence.
    """

    blocks: Annotated[int, Meta(ge=1, le=100_000)]
    block_gb: Positive
    job_gb: Positive

    def held(self, server: Server, reserved: float) -> int:
        """Blocks that fit on the server with cache for `reserved` jobs each; all of them at most."""
        return min(whole(server.memory_gb / (self.block_gb + reserved * self.job_gb)), self.blocks)

    def slots(self, server: Server, blocks: int) -> int:
        """Units of cache left beside `blocks` blocks. A job takes one for each block it is taken through here."""
        return max(0, whole((server.memory_gb - self.block_gb * blocks) / self.job_gb))


class Stage(msgspec.Struct, frozen=True):
    """The blocks `first` to `end` − 1 on one server."""

    server: Server
    first: int
    count: int

    @property
    def end(self) -> int:
        """The block after the last one here."""
        return self.first + self.count

    def taken(self, following: int) -> int:
        """Blocks a job is taken through here when `following` is its next one; 0 when it cannot come here.

        A job is processed by the first server of its chain that has the block.
        """
        return self.end - following if self.first <= following < self.end else 0


class Chain(msgspec.Struct, frozen=True):
    """Stages in order, the blocks processed at each, `capacity` jobs at once, and the mean `seconds` of one job."""

    stages: tuple[Stage, ...]
    taken: tuple[int, ...]
    capacity: int
    seconds: float

    @property
    def rate(self) -> float:
        """Jobs per second when all its slots are taken."""
        return self.capacity / self.seconds


def whole(value: float) -> int:
    """`value` rounded down, but for what rounding has taken from a whole number."""
    return int(value + _ROUNDING)


def number_of_jobs(count: int) -> str:
    """The count in words: 1 job, 2 jobs."""
    return "1 job" if count == 1 else f"{count} jobs"
