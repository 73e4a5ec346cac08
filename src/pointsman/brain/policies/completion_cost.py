"""The seconds that placing a request adds to everybody's waiting, term by term.

The terms are those of `fastest_completion.py`. Each function gives one float per candidate, or for a stacked view
(`window.py`) one per ticket and candidate.
"""

import numpy as np

from pointsman.brain.model.view import Floats, Number, View
from pointsman.brain.policies.pickers import least

# An array, because NumPy converts a Python float anew in every call, at half the cost of the call itself.
_ZERO = np.array(0.0)


def wait_seconds(view: View, most_tokens: Number) -> Floats:
    """Seconds until the node turns to the request. Blocks free at the pace at which their holders finish.

    `most_tokens`: prompt and output of the view's request, or of the longest one of a stacked view.
    """
    room = view.room_tokens
    if least(room) >= most_tokens:
        return view.backlog_seconds
    needed = view.prompt_tokens + view.output_tokens
    reserved = np.maximum(view.kv_reserved * view.block_tokens, 1.0)
    wait: Floats = view.backlog_seconds + np.maximum(needed - room, 0.0) / reserved * view.service_seconds
    return wait


def service_and_harm(view: View, decoding: float, reuse: float) -> Floats:
    """Seconds of prefill, and `decoding` times those that our answer takes and that others' answers lose by it.

    The batch is everything in flight up to the slots: what waits for its prefill now will be decoding when ours runs.
    (To count only those that decode already would send one big prompt after the other to the same node.)
    Evicted tokens cost their recomputation with probability `reuse`.
    """
    batch = np.minimum(view.outstanding, view.slots)
    context = view.prompt_tokens + 0.5 * view.output_tokens
    member = view.tpot_per_sequence + context * view.tpot_per_context  # what one more adds to each step
    prefill = view.prefill_seconds
    lost: Floats = member * (0.5 * view.output_tokens)
    lost += prefill
    lost -= view.prefill_base  # of which nobody else loses anything
    lost *= batch
    lost += _decode(view, batch, member)
    lost *= decoding
    lost += prefill
    lost += eviction_seconds(view, reuse)
    return lost


def uncached_prefill(view: View) -> Floats:
    """Seconds of the whole prompt's prefill."""
    prompt = view.prompt_tokens
    seconds: Floats = view.prefill_base + prompt * (view.prefill_per_token + 0.5 * prompt * view.prefill_per_pair)
    return seconds


def _decode(view: View, batch: Floats, member: Floats) -> Floats:
    step = view.tpot_base + batch * view.tpot_per_sequence
    step += view.context_tokens * view.tpot_per_context
    seconds: Floats = step + member
    seconds *= view.output_tokens
    return seconds


def eviction_seconds(view: View, reuse: float) -> Floats:
    """`reuse` times the seconds to compute again what is evicted: what is needed beyond the free blocks."""
    cached = view.kv_cached * view.block_tokens
    evicted: Floats = view.miss + view.output_tokens
    evicted -= view.room_tokens
    evicted += cached
    np.minimum(evicted, cached, out=evicted)
    np.maximum(evicted, _ZERO, out=evicted)
    evicted *= view.prefill_per_token
    evicted *= reuse
    return evicted
