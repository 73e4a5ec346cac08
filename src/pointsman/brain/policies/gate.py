"""The gate of late binding: which nodes are open to one more request.

A node is open while a request would not wait longer there than this gateway's share of `hold_above` seconds and, with a
`decode_cap`, fewer requests than that are on it (0: no cap). A request is held only when none is open.
"""

from pointsman.brain.model.view import Flags, Floats, View
from pointsman.brain.policies.pickers import least


def open_nodes(view: View, wait: Floats, hold_above: float, decode_cap: int) -> Flags:
    """Which candidates are open; `wait` is in seconds, one for each, or one per ticket of a stacked view and each."""
    short: Flags = wait <= hold_above / view.gateways
    return short & (view.outstanding < decode_cap) if decode_cap else short


def all_shut(view: View, wait: Floats, hold_above: float, decode_cap: int) -> bool:
    """Whether no candidate is open."""
    if not decode_cap:
        return least(wait) > hold_above / view.gateways
    return not open_nodes(view, wait, hold_above, decode_cap).any()
