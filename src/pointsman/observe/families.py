"""Every metric Pointsman exposes: name, kind, labels and meaning. The reference page is made from this table."""

from typing import Literal

import msgspec

Kind = Literal["counter", "gauge", "histogram"]


class Family(msgspec.Struct, frozen=True):
    """One metric. `field` names where its values live (`metrics.py` for counts, `fleet_reading.py` for gauges)."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    field: str


def _family(kind: Kind, name: str, labels: str, field: str, text: str) -> Family:
    return Family(f"pointsman_{name}", kind, tuple(labels.split()), text, field)


# Bucket bounds in seconds. A quantile read from buckets is off by less than the step it lies in.
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0)
TOKEN_SECONDS = (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
WAIT_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# Values kept per (model, node).
PER_LANE = (
    _family("histogram", "ttft_seconds", "model node", "ttft", "From submission to the first token, waiting included."),
    _family("histogram", "tpot_seconds", "model node", "tpot", "Mean time between the tokens of one answer."),
    _family("histogram", "request_seconds", "model node", "duration", "From submission to the end of the answer."),
    _family(
        "histogram", "resume_gap_seconds", "model node", "resume_gap",
        "From an interruption to the first token of the rest, by the node it came from.",
    ),
    _family("counter", "prompt_tokens", "model node", "prompt_tokens", "Prompt tokens, as the engine counted them."),
    _family("counter", "cached_tokens", "model node", "cached_tokens", "Prompt tokens the engine found in its cache."),
    _family(
        "counter", "predicted_cached_tokens", "model node", "predicted_tokens",
        "Prompt tokens believed cached on the chosen node when the request was placed.",
    ),
    _family("counter", "completion_tokens", "model node", "completion_tokens", "Tokens generated."),
    _family("counter", "forwards", "model node", "forwards", "Requests sent to the cache instead of the best score."),
    _family("counter", "retries", "model node", "retries", "Further tries placed on this node after one failed."),
)  # fmt: skip

# Counts kept under their own label values.
COUNTED = (
    _family("counter", "requests", "model node outcome", "requests", "Requests ended, by their final outcome."),
    _family("counter", "tries", "model node outcome reason", "tries", "Tries ended, retried ones included."),
    _family(
        "counter", "interruptions", "model node cause resumed", "interruptions",
        "Answers interrupted on their node, by whether the rest was asked of another.",
    ),
    _family(
        "counter", "room_made", "model node cause", "room_made",
        "Times others left a node for one who waited, or to have its memory free in one piece.",
    ),
    _family("counter", "refused", "model code", "refused", "Requests refused, by error code."),
    _family("counter", "queued", "model", "queued", "Requests that had to wait for a node."),
    _family(
        "counter", "tenant_requests", "tenant outcome", "tenant_requests",
        "Requests of each tenant of [[tenants]], by how they ended; all others are `other`.",
    ),
    _family("counter", "tenant_prompt_tokens", "tenant", "tenant_prompt", "Their prompt tokens, as engines count."),
    _family("counter", "tenant_cached_tokens", "tenant", "tenant_cached", "Of these, those engines found cached."),
    _family(
        "counter", "tenant_completion_tokens", "tenant", "tenant_completion",
        "Tokens of their answers, those seen to come where the engine did not count.",
    ),
    _family("counter", "tenant_waits", "tenant", "tenant_waits", "Their requests that had to wait for a node."),
    _family("counter", "decisions", "policy reason", "decisions", "Answers of policies, holds included."),
    _family("counter", "node_transitions", "node before after", "transitions", "Changes of a node's state."),
    _family("counter", "probe_failures", "node", "probe_failures", "Probes that failed or found no models."),
    _family("counter", "load_unknown", "node", "load_unknown", "Good probes that told nothing of the node's load."),
    _family(
        "counter",
        "feedback",
        "node word",
        "feedback",
        "Words of clients on answers: good, bad (counted as a failure), or late (bad, but the node has moved on).",
    ),
    _family("counter", "warmups", "model node result", "warmups", "Hot prefixes sent to idle nodes: ok or failed."),
    _family("counter", "warmup_tokens", "model node", "warmup_tokens", "Tokens of prefixes that idle nodes computed."),
    _family(
        "counter", "kv_orders", "node order result", "kv_orders",
        "Orders to nodes that are commanded (evict, pin, unpin, swap_out): carried out or failed.",
    ),
    _family("counter", "kv_order_blocks", "node order", "kv_order_blocks", "KV blocks that these concerned."),
    _family(
        "counter", "kv_lost_links", "node", "kv_lost_links",
        "Links that nodes which are commanded evicted unasked, an order being late.",
    ),
    _family(
        "counter", "residency_changes", "node residency", "residency_changes",
        "Changes in how it is known what a node has cached, and declared ways that turned out not to be had.",
    ),
    _family("counter", "kv_event_batches", "node", "kv_batches", "Batches of KV events heard of nodes that report."),
    _family("counter", "kv_event_gaps", "node", "kv_gaps", "Times batches were missing, or could not be read."),
    _family("counter", "kv_event_lost_batches", "node", "kv_lost", "Batches that no replay brought back."),
    _family(
        "counter", "kv_event_resets", "node", "kv_resets",
        "Times all was forgotten that a node had reported: cleared, restarted, heard anew, or events lost.",
    ),
    _family("counter", "panics", "model", "panics", "Times too few of a model's nodes were in use."),
    _family("counter", "policy_errors", "policy call", "policy_errors", "Exceptions raised by a policy."),
    _family(
        "counter", "continuation_probes", "model engine result", "continuation_probes",
        "Trials whether a kind of engine continues chats as it would have: faithful, unfaithful or failed.",
    ),
    _family("counter", "config_reloads", "result", "config_reloads", "Reloads of the configuration: ok or failed."),
    _family("counter", "policy_changes", "scope policy", "policy_changes", "Changes of policy while running."),
)  # fmt: skip

# Histograms kept per model.
PER_MODEL = (
    _family("histogram", "queue_wait_seconds", "model", "waits", "From submission to the first placement."),
    _family(
        "histogram", "queue_expected_seconds", "model", "expected",
        "Wait that was expected when a request joined its queue, where the queue's pace was known.",
    ),
    _family(
        "histogram", "queue_expected_error_seconds", "model", "expected_errors",
        "By how much the wait of those then differed from it, until they were placed.",
    ),
)  # fmt: skip

# Read from the fleet when asked, one value a node.
PER_NODE = (
    _family("gauge", "node_outstanding", "node", "outstanding", "Requests placed and not ended."),
    _family("gauge", "node_queue_growth", "node", "queue_growth", "Rise of these per second, smoothed over seconds."),
    _family("gauge", "node_running", "node", "running", "Outstanding requests past their first token."),
    _family("gauge", "node_slots", "node", "slots", "Requests the engine runs at once."),
    _family(
        "gauge", "node_share_ratio", "node", "share",
        "Share of its room that it may fill; below 1 while it is slower or has more queued than its peers.",
    ),
    _family("gauge", "node_load", "node", "load", "Load as policies see it; 1 is full."),
    _family("gauge", "node_kv_reserved_ratio", "node", "kv_reserved", "Share of KV blocks held by live requests."),
    _family("gauge", "node_kv_cached_ratio", "node", "kv_cached", "Share of KV blocks believed cached, evictable."),
    _family("gauge", "node_backlog_tokens", "node", "backlog_tokens", "Prompt tokens placed and not yet computed."),
    _family("gauge", "node_reported_running", "node", "reported_running", "Requests the engine says it computes."),
    _family("gauge", "node_reported_waiting", "node", "reported_waiting", "Requests in the engine's own queue."),
    _family(
        "gauge", "node_reported_kv_usage_ratio", "node", "reported_kv_usage",
        "Share of its KV blocks the engine says are in use.",
    ),
    _family("gauge", "node_response_seconds", "node", "response_seconds", "Time to first byte, peak-sensitive."),
)  # fmt: skip

NODE_STATE = _family("gauge", "node_state", "node state", "state", "1 for the state the node is in.")
NODE_RESIDENCY = _family(
    "gauge", "node_residency", "node mode", "residencies", "1 for how it is known what the node has cached."
)
KV_EVENT_AGE = _family(
    "gauge", "kv_event_age_seconds", "node", "event_ages", "How long ago a node that reports was heard last."
)
REPORTED_PROMPTS = _family(
    "counter",
    "reported_prompts",
    "known",
    "known_prompts",
    "Requests placed on nodes that report, by whether their tokens were known (report) or not (belief).",
)
QUEUE_LENGTH = _family("gauge", "queue_length", "model", "queue", "Requests waiting for a node.")
QUEUE_OLDEST = _family("gauge", "queue_oldest_seconds", "model", "oldest", "How long the oldest of these has waited.")
PANIC = _family("gauge", "panic", "model", "panics", "1 while a model's requests go to all nodes that do not refuse.")
INDEX_ENTRIES = _family("gauge", "index_entries", "", "index", "Prefix blocks in the global cache index.")
IMBALANCE = _family("gauge", "load_imbalance", "", "imbalance", "Standard deviation of load over the nodes in use.")
CONFIGURED = _family(
    "gauge", "config_applied_timestamp_seconds", "", "configured_at",
    "When the configuration in use was applied, in seconds since 1970.",
)  # fmt: skip
WORKERS = _family("gauge", "workers", "", "workers", "Worker processes there are; only with several.")
WORKER_RESTARTS = _family("counter", "worker_restarts", "", "restarts", "Workers started because one ended unasked.")
BUILD = _family("gauge", "build_info", "version", "version", "1, labelled with the version that runs.")

FAMILIES = (
    *COUNTED,
    *PER_LANE,
    *PER_MODEL,
    *PER_NODE,
    NODE_STATE,
    NODE_RESIDENCY,
    KV_EVENT_AGE,
    REPORTED_PROMPTS,
    QUEUE_LENGTH,
    QUEUE_OLDEST,
    PANIC,
    INDEX_ENTRIES,
    IMBALANCE,
    CONFIGURED,
    WORKERS,
    WORKER_RESTARTS,
    BUILD,
)
