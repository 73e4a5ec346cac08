"""The page of policies, from their registry and their own descriptions."""

import inspect
import json
from typing import Any

from markdown import code, table

from pointsman.admin import catalogue
from pointsman.admin.values import PolicyInfo
from pointsman.brain.policies.registry import POLICIES

_HEAD = """# Policies

A policy scores the candidates for one request (lower is better) and picks one, or holds the request until something
changes. Candidates are the nodes that serve the model, are up and are below their cap. Which policy to use when:
[choose a policy](../howto/choose-a-policy.md).

Notation, for node j: q_j outstanding requests; run_j of them past their first token; load_j = max(share of KV blocks
held, q_j/slots_j, backlog seconds/TTFT objective, the server's own figure); R_j seconds to first byte (peak EWMA);
overlap_j prompt tokens cached there; miss_j = prompt − overlap_j. Everything is booked by Pointsman's own account at
the moment of choice and corrected by what nodes report. Ties break at random.

"""


def page() -> str:
    """Markdown."""
    all_of_them = catalogue.policies()
    rows = [(f"[`{policy.name}`](#{policy.name})", policy.summary) for policy in all_of_them]
    return _HEAD + table(("name", "in a sentence"), rows) + "".join(map(_section, all_of_them))


def _section(policy: PolicyInfo) -> str:
    kind = POLICIES[policy.name]
    parts = [f"\n## {policy.name}", inspect.getdoc(inspect.getmodule(kind)) or "", inspect.getdoc(kind) or ""]
    if policy.parameters:
        rows = [(code(name), _default(value)) for name, value in policy.parameters.items()]
        parts.append(table(("parameter", "default"), rows).rstrip())
    return "\n\n".join(parts) + "\n"


def _default(value: Any) -> str:
    return "" if value is None else code(json.dumps(value, ensure_ascii=False))
