"""Settings files: whatever is wrong with one is a ConfigError."""

import contextlib
import tomllib

from pointsman.config.flags import ConfigError, convert
from pointsman.config.serve import ServeConfig, all_nodes, gateway_settings, policy_table

SEEDS = [
    b'policy = "jffc"\nlisten = "127.0.0.1:0"\nnodes = [{ url = "http://h:1" }]\n[timeouts]\nconnect_s = 1.5\n',
    b'node = ["http://h:1/x"]\n[policies.hybrid]\n[models."m"]\npolicy = "hybrid"\n[routes."/x"]\npool = "p"\n',
    b'allow_paths = ["/a"]\napi_keys = ["k"]\nnode_key = "k"\n[limits]\nbody_bytes = 5\n[brain]\ntries = 1\n',
]
WORDS = (
    b"nan",
    b"inf",
    b"-1",
    b"9999999999999999999",
    b"[policies.",
    b"[models.",
    b"[routes.",
    b'url = "http://',
    b"[[",
)


def check(data: bytes) -> None:
    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return
    if any(name.endswith("_file") for name in raw):
        return  # would be read
    with contextlib.suppress(ConfigError):
        config = convert(raw, ServeConfig, "file")
        all_nodes(config)
        policy_table(config)
        gateway_settings(config)
