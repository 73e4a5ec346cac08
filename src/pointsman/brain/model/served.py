"""Who served a request that is over."""

from mypy_extensions import mypyc_attr


@mypyc_attr(acyclic=True)
class Served:
    """A tenant's request: the node's row and the row's generation. `failed` if it counts as a failure already.

    `ended` is when (seconds).
    """

    __slots__ = ("ended", "failed", "generation", "request", "row", "tenant")

    def __init__(self, tenant: str, request: str, row: int, generation: int, failed: bool, ended: float) -> None:
        self.tenant = tenant
        self.request = request
        self.row = row
        self.generation = generation
        self.failed = failed
        self.ended = ended
