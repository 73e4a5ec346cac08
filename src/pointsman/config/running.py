"""What of the settings can change while the gateway runs, and what waits for a restart."""

from typing import Any

import msgspec

from pointsman.config.serve import ServeConfig

FIXED = (
    "listen",
    "admin_listen",
    "admin_hosts",
    "workers",
    "journal",
    "recording",
    "recording_mb",
    "usage",
    "chain_secret_file",
)
"""Settings that are used once, at the start."""
TLS = ("tls_cert", "tls_key")
"""These may name other files, but whether TLS is spoken is settled at the start too."""


def while_running(before: ServeConfig, after: ServeConfig) -> tuple[ServeConfig, list[str]]:
    """`after`, but as `before` in what cannot change while running; and the keys for which that made a difference."""
    fixed = FIXED if bool(before.tls_cert) == bool(after.tls_cert) else (*FIXED, *TLS)
    kept: dict[str, Any] = {key: getattr(before, key) for key in fixed if getattr(before, key) != getattr(after, key)}
    keys = list(kept)
    if before.brain.seed != after.brain.seed:
        kept["brain"] = msgspec.structs.replace(after.brain, seed=before.brain.seed)
        keys.append("brain.seed")
    return msgspec.structs.replace(after, **kept), keys


def changed(before: ServeConfig, after: ServeConfig) -> list[str]:
    """The keys of all settings that differ."""
    return [key for key in before.__struct_fields__ if getattr(before, key) != getattr(after, key)]
