"""The fleet's columns as a request's candidates see them: one row per candidate.

A property for each column, spelt out: a compiled class has no other way to make one that costs next to nothing.
"""

from mypy_extensions import mypyc_attr

from pointsman.brain.model.columns import Columns, Floats, Rows


@mypyc_attr(acyclic=True)
class Sight:
    """Columns read through `nodes`, their rows; `whole` where these are all rows in order, so nothing is gathered."""

    def __init__(self, columns: Columns, nodes: Rows, whole: bool) -> None:
        self.columns = columns
        self.nodes = nodes
        self.whole = whole
        self._taken: dict[str, Floats] | None = None

    def _gathered(self, name: str) -> Floats:
        """The column's rows, taken once."""
        if self._taken is None:
            self._taken = {}
        taken = self._taken.get(name)
        if taken is None:
            column: Floats = getattr(self.columns, name)
            taken = self._taken[name] = column.take(self.nodes)
        return taken

    @property
    def identity(self) -> Floats:
        return self.columns.identity if self.whole else self._gathered("identity")

    @property
    def outstanding(self) -> Floats:
        return self.columns.outstanding if self.whole else self._gathered("outstanding")

    @property
    def running(self) -> Floats:
        return self.columns.running if self.whole else self._gathered("running")

    @property
    def slots(self) -> Floats:
        return self.columns.slots if self.whole else self._gathered("slots")

    @property
    def kv_capacity(self) -> Floats:
        return self.columns.kv_capacity if self.whole else self._gathered("kv_capacity")

    @property
    def kv_reserved(self) -> Floats:
        return self.columns.kv_reserved if self.whole else self._gathered("kv_reserved")

    @property
    def kv_cached(self) -> Floats:
        return self.columns.kv_cached if self.whole else self._gathered("kv_cached")

    @property
    def block_tokens(self) -> Floats:
        return self.columns.block_tokens if self.whole else self._gathered("block_tokens")

    @property
    def backlog_tokens(self) -> Floats:
        return self.columns.backlog_tokens if self.whole else self._gathered("backlog_tokens")

    @property
    def backlog_pairs(self) -> Floats:
        return self.columns.backlog_pairs if self.whole else self._gathered("backlog_pairs")

    @property
    def prefilled_seconds(self) -> Floats:
        return self.columns.prefilled_seconds if self.whole else self._gathered("prefilled_seconds")

    @property
    def context_tokens(self) -> Floats:
        return self.columns.context_tokens if self.whole else self._gathered("context_tokens")

    @property
    def reported_running(self) -> Floats:
        return self.columns.reported_running if self.whole else self._gathered("reported_running")

    @property
    def reported_waiting(self) -> Floats:
        return self.columns.reported_waiting if self.whole else self._gathered("reported_waiting")

    @property
    def reported_kv_usage(self) -> Floats:
        return self.columns.reported_kv_usage if self.whole else self._gathered("reported_kv_usage")

    @property
    def reported_gpu_busy(self) -> Floats:
        return self.columns.reported_gpu_busy if self.whole else self._gathered("reported_gpu_busy")

    @property
    def sent_tokens(self) -> Floats:
        return self.columns.sent_tokens if self.whole else self._gathered("sent_tokens")

    @property
    def reported_load(self) -> Floats:
        return self.columns.reported_load if self.whole else self._gathered("reported_load")

    @property
    def response_seconds(self) -> Floats:
        return self.columns.response_seconds if self.whole else self._gathered("response_seconds")

    @property
    def response_at_queue(self) -> Floats:
        return self.columns.response_at_queue if self.whole else self._gathered("response_at_queue")

    @property
    def service_seconds(self) -> Floats:
        return self.columns.service_seconds if self.whole else self._gathered("service_seconds")

    @property
    def recent_work(self) -> Floats:
        return self.columns.recent_work if self.whole else self._gathered("recent_work")

    @property
    def speed(self) -> Floats:
        return self.columns.speed if self.whole else self._gathered("speed")

    @property
    def recovery_slope(self) -> Floats:
        return self.columns.recovery_slope if self.whole else self._gathered("recovery_slope")

    @property
    def queue_growth(self) -> Floats:
        return self.columns.queue_growth if self.whole else self._gathered("queue_growth")

    @property
    def prefill_base(self) -> Floats:
        return self.columns.prefill_base if self.whole else self._gathered("prefill_base")

    @property
    def prefill_per_token(self) -> Floats:
        return self.columns.prefill_per_token if self.whole else self._gathered("prefill_per_token")

    @property
    def prefill_per_pair(self) -> Floats:
        return self.columns.prefill_per_pair if self.whole else self._gathered("prefill_per_pair")

    @property
    def tpot_base(self) -> Floats:
        return self.columns.tpot_base if self.whole else self._gathered("tpot_base")

    @property
    def tpot_per_sequence(self) -> Floats:
        return self.columns.tpot_per_sequence if self.whole else self._gathered("tpot_per_sequence")

    @property
    def tpot_per_context(self) -> Floats:
        return self.columns.tpot_per_context if self.whole else self._gathered("tpot_per_context")

    @property
    def prediction_error(self) -> Floats:
        return self.columns.prediction_error if self.whole else self._gathered("prediction_error")
