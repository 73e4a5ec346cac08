"""How urgent a request is: its tenant's priority, or what the client asks for up to the tenant's ceiling.

A client asks by `x-pointsman-priority` (any number above 0, 1 is usual, more goes first), by `priority` in the body as
vLLM reads it (whole numbers, 0 is usual, less goes first: each step counts for a factor of two), or by `x-slo-ttft-ms`,
within how long it wants its first token: half of the usual time counts as twice the priority.
"""

from collections.abc import Mapping

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.tenant import ANYONE, Tenant

REFERENCE_TTFT_S = 5.0
"""The time to a first token that is asked for at priority 1: the usual objective."""
STEPS = 20
"""Furthest the body's `priority` counts: 2^20 is beyond any ceiling that means something."""
LONGEST = 12
"""Digits of a number in these headers."""

_NOBODY = Tenant(name=ANYONE)


class Urgency:
    """The rules of all tenants, as far as priorities go."""

    def __init__(self, tenants: Mapping[str, Tenant]) -> None:
        self._tenants = tenants
        self._anyone = tenants.get(ANYONE, _NOBODY)

    def priority(self, tenant: str, fields: Mapping[bytes, bytes], asked: bytes, slo_s: float | None) -> float:
        """Above 0. `asked` is the body's own member, empty if absent. Raises BadRequest."""
        rules = self._tenants.get(tenant, self._anyone)
        header = fields.get(b"x-pointsman-priority")
        if header is not None:
            wish = _number(header)
        elif asked:
            wish = _steps(asked)
        elif slo_s is not None:
            wish = REFERENCE_TTFT_S / slo_s
        else:
            return rules.priority
        return min(wish, max(rules.priority, rules.priority_ceiling))


def ttft_slo(fields: Mapping[bytes, bytes]) -> float | None:
    """Seconds within which the client wants its first token, None if it does not say. Raises BadRequest."""
    wish = fields.get(b"x-slo-ttft-ms")
    if wish is None:
        return None
    if not wish.isdigit() or len(wish) > LONGEST or not int(wish):
        raise BadRequest("x-slo-ttft-ms must be a whole number of milliseconds above 0")
    return int(wish) / 1000.0


def _number(text: bytes) -> float:
    whole, _, rest = text.partition(b".")
    digits = whole + rest
    if not digits.isdigit() or len(digits) > LONGEST or not int(digits):
        raise BadRequest("x-pointsman-priority must be a number above 0, such as 2 or 0.5; 1 is usual, more goes first")
    return float(text)


def _steps(text: bytes) -> float:
    """2 to the power of what vLLM's clients send; what is no whole number asks for nothing in particular."""
    if not text.removeprefix(b"-").isdigit() or len(text) > LONGEST:
        return 1.0
    return 2.0 ** -max(-STEPS, min(STEPS, int(text)))
