"""What of the settings can change while the gateway runs, and what waits for a restart."""

from typing import Any

import msgspec

from pointsman.config.serve import ServeConfig

FIXED = ("listen", "admin_listen", "workers", "journal", "chain_secret_file")
"""Settings that are used once, at the start."""


def while_running(before: ServeConfig, after: ServeConfig) -> tuple[ServeConfig, list[str]]:
    """`after`, but as `before` in what cannot change while running; and the keys for which that made a difference."""
    kept: dict[str, Any] = {key: getattr(before, key) for key in FIXED if getattr(before, key) != getattr(after, key)}
    keys = list(kept)
    if before.brain.seed != after.brain.seed:
        kept["brain"] = msgspec.structs.replace(after.brain, seed=before.brain.seed)
        keys.append("brain.seed")
    return msgspec.structs.replace(after, **kept), keys


def changed(before: ServeConfig, after: ServeConfig) -> list[str]:
    """The keys of all settings that differ."""
    return [key for key in before.__struct_fields__ if getattr(before, key) != getattr(after, key)]
