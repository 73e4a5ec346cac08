"""What the figures of a simulation say, for whoever meets them first."""

from pointsman.sim.summary import LONG_TURNS

GLOSSARY = (
    (
        "In SLO",
        "Share of all requests sent whose first token came soon enough and the others fast enough.",
    ),
    ("Goodput", "Requests answered in time, per second."),
    ("Throughput", "Answers completed per second, in time or not."),
    ("Success", "Share of the requests sent that were answered wholly."),
    ("TTFT", "Time to the first token, waiting included. P99: one request in a hundred waits longer."),
    ("TPOT", "Time per output token after the first, averaged over each answer."),
    ("Worst gap", "The longest time between two tokens of a stream, as the engine made them. A stutter people see."),
    ("E2E", "Time from sending a request to the end of its answer."),
    ("Slowdown", "E2E over what the request would take alone on the fastest node with nothing cached."),
    ("Wait", "Time in the gateway's own queue, before the request was sent to a node."),
    ("Long dialogues", f"Share of dialogues of {LONG_TURNS} turns or more of which no request failed."),
    ("Hits", "Share of all prompt tokens found in a KV cache and so not computed again."),
    ("Node time per token", "Time that nodes were at work, by tokens generated: what an answer costs."),
    ("Busy", "Share of the time in which nodes were at work. Neither low nor high is good in itself."),
    (
        "Work imbalance",
        "How unevenly computed tokens are spread over the nodes, each counted by its speed: standard deviation over "
        "mean, 0 when every node does its fair share.",
    ),
    (
        "In flight, spread",
        "How unevenly requests are spread over the nodes at a moment: standard deviation, and the same over the mean.",
    ),
    ("Preemptions", "Answers that an engine interrupted, and had to begin again, for want of KV memory."),
    ("Evictions", "Cached blocks that gave way to others."),
    ("Forwards", "Requests sent to the node with their cache although another had the better score."),
    ("Retries", "Further tries of requests whose first try failed."),
)
"""Term and meaning, in the order of reading."""
