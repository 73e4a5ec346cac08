"""How late a simulated gateway hears of what happens."""

import msgspec


class Delays(msgspec.Struct, frozen=True):
    """How late (seconds) the gateway hears of tokens and ends, and of probes."""

    feedback_s: float = 0.0
    report_s: float = 0.0
