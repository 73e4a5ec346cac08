"""The seconds that placing a request adds to everybody's waiting, term by term.

The terms are those of `fastest_completion.py`. Each function gives one float per candidate, or for a stacked view
(`window.py`) one per ticket and candidate. Where a view has few candidates the same is worked out for one after the
other in floats: the same IEEE operations in the same order, so both are equal to the last bit.
"""

import numpy as np

from pointsman.brain.model.candidate import Candidate
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


def waits_of_few(view: View) -> list[float]:
    """`wait_seconds` of each of few candidates."""
    needed = float(view.prompt_tokens + view.output_tokens)
    return [_wait(node, needed) for node in view.candidates]


def costs_of_few(view: View, waits: list[float], decoding: float, reuse: float) -> list[float]:
    """`service_and_harm` of each of few candidates, and its wait."""
    prompt, output = float(view.prompt_tokens), float(view.output_tokens)
    nodes = view.candidates
    return [_service_and_harm(nodes[i], prompt, output, decoding, reuse) + waits[i] for i in range(len(nodes))]


def _wait(node: Candidate, needed: float) -> float:
    room = node.room_tokens
    if room >= needed:
        return node.backlog_seconds
    reserved = node.kv_reserved * node.block_tokens
    return node.backlog_seconds + (needed - room) / (reserved if reserved > 1.0 else 1.0) * node.service_seconds


def _service_and_harm(node: Candidate, prompt: float, output: float, decoding: float, reuse: float) -> float:
    batch = node.outstanding if node.outstanding < node.slots else node.slots
    per_sequence, per_context = node.tpot_per_sequence, node.tpot_per_context
    member = per_sequence + (prompt + 0.5 * output) * per_context
    step = node.tpot_base + batch * per_sequence + node.context_tokens * per_context
    prefill = node.prefill_seconds
    harm = (member * (0.5 * output) + prefill - node.prefill_base) * batch
    return (harm + (step + member) * output) * decoding + prefill + _eviction(node, output, reuse)


def _eviction(node: Candidate, output: float, reuse: float) -> float:
    cached = node.kv_cached * node.block_tokens
    evicted = node.miss + output - node.room_tokens + cached
    evicted = evicted if evicted < cached else cached
    return (evicted if evicted > 0.0 else 0.0) * node.prefill_per_token * reuse
