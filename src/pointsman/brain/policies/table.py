"""Which policy decides for which request: by route, else by model, else the default."""

from pointsman.brain.model.request import Request
from pointsman.brain.policies.base import Policy


class PolicyTable:
    """Scopes are "default", "model:NAME" and "route:PATH". Mutated by `put` only."""

    def __init__(self, default: Policy, scopes: dict[str, Policy] | None = None) -> None:
        self._default = default
        self._scopes: dict[str, Policy] = {}
        for scope, policy in (scopes or {}).items():
            self.put(scope, policy)

    def of(self, request: Request) -> Policy:
        """The policy that decides for `request`."""
        if not self._scopes:
            return self._default
        by_route = self._scopes.get("route:" + request.route)
        return by_route or self._scopes.get("model:" + request.model, self._default)

    def put(self, scope: str, policy: Policy | None) -> None:
        """Set the policy of `scope`, or drop it with None. Raises ValueError for another kind of scope."""
        if scope == "default":
            if policy is None:
                raise ValueError("the default policy can be changed but not dropped")
            self._default = policy
        elif not scope.startswith(("model:", "route:")):
            raise ValueError(f"scope {scope!r}: allowed are 'default', 'model:NAME' and 'route:PATH'")
        elif policy is None:
            self._scopes.pop(scope, None)
        else:
            self._scopes[scope] = policy

    def scopes(self) -> dict[str, Policy]:
        """All scopes and their policies."""
        return {"default": self._default, **self._scopes}
