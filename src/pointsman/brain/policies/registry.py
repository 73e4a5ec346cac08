"""Policies by name: one row each."""

import difflib
from typing import Any

import msgspec

from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.least_requests import LeastRequests
from pointsman.brain.policies.round_robin import RoundRobin

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        LeastRequests,
        RoundRobin,
    )
}


class UnknownPolicy(ValueError):
    """No policy of that name, or no such parameter. The text says what there is."""


def build(name: str, parameters: dict[str, Any] | None = None) -> Policy:
    """The policy `name` with `parameters` over its defaults. Raises UnknownPolicy."""
    kind = POLICIES.get(name)
    if kind is None:
        near = difflib.get_close_matches(name, POLICIES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownPolicy(f"no policy named {name!r}; {hint}there are: {', '.join(sorted(POLICIES))}")
    return _with_parameters(kind, parameters or {})


def _with_parameters(kind: type[Policy], parameters: dict[str, Any]) -> Policy:
    allowed = sorted(getattr(kind, "__dataclass_fields__", {}))
    for key in parameters:
        if key not in allowed:
            raise UnknownPolicy(
                f"policy {kind.name!r} has no parameter {key!r}; it has: {', '.join(allowed) or 'none'}"
            )
    try:
        return msgspec.convert(parameters, kind)
    except msgspec.ValidationError as error:
        raise UnknownPolicy(f"policy {kind.name!r}: {error}") from None
