"""The page of metrics, from the table they are exposed by."""

from markdown import code, table

from pointsman.observe.families import FAMILIES, PER_MODEL, SECONDS, TOKEN_SECONDS, WAIT_SECONDS, Family

_HEAD = """# Metrics

Served by the admin port under `/metrics` in Prometheus's text format, beside the process's own CPU and memory
(`process_*`). Durations are seconds. A counter's samples end in `_total`. The series of a node that was removed are
dropped. All quantities are per gateway: add them up over several.

"""

_QUERIES = (
    (
        "P99 of the time to first token, per model",
        "histogram_quantile(0.99, sum by (model, le) (rate(pointsman_ttft_seconds_bucket[5m])))",
    ),
    ("tokens generated a second", "sum(rate(pointsman_completion_tokens_total[1m]))"),
    (
        "share of prompt tokens found in a cache",
        "sum(rate(pointsman_cached_tokens_total[5m])) / sum(rate(pointsman_prompt_tokens_total[5m]))",
    ),
    (
        "tokens found in a cache per token believed there",
        "sum(rate(pointsman_cached_tokens_total[5m])) / sum(rate(pointsman_predicted_cached_tokens_total[5m]))",
    ),
    ("failures per node", 'sum by (node) (rate(pointsman_tries_total{outcome="fail"}[5m]))'),
    ("requests a second that had to wait", "sum(rate(pointsman_queued_total[5m]))"),
    (
        "seconds by which the wait that clients are told is off, on the mean",
        "sum(rate(pointsman_queue_expected_error_seconds_sum[5m])) "
        "/ sum(rate(pointsman_queue_expected_error_seconds_count[5m]))",
    ),
    (
        "why requests went where they went",
        "sum by (policy, reason) (rate(pointsman_decisions_total[5m]))",
    ),
)


def page() -> str:
    """Markdown."""
    rows = [(code(shown(family)), family.kind, _labels(family), family.help) for family in FAMILIES]
    bounds = [
        ("`pointsman_ttft_seconds`, `pointsman_request_seconds`", _bounds(SECONDS)),
        ("`pointsman_tpot_seconds`", _bounds(TOKEN_SECONDS)),
        (", ".join(code(family.name) for family in PER_MODEL), _bounds(WAIT_SECONDS)),
    ]
    buckets = "\n## Buckets\n\n" + table(("histogram", "upper bounds in seconds"), bounds)
    asked = [(question, code(query)) for question, query in _QUERIES]
    queries = "\n## Questions and their queries\n\n" + table(("question", "query"), asked)
    return _HEAD + table(("name", "kind", "labels", "meaning"), rows) + buckets + queries


def shown(family: Family) -> str:
    return family.name + ("_total" if family.kind == "counter" else "")


def _labels(family: Family) -> str:
    return ", ".join(code(label) for label in family.labels)


def _bounds(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)
