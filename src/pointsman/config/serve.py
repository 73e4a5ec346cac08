"""The settings of `pointsman serve`."""

import os
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
from msgspec import Meta

from pointsman.admin.hosts import Hosts
from pointsman.brain.costs.block_size import sized
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import POLICIES, UnknownPolicy, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.config.flags import Address, ConfigError, File, Key, Keys, Name, Names, Networks, Paths, Urls
from pointsman.config.tenants import check_keys, with_tenants
from pointsman.config.tls import node_context, server_context
from pointsman.gateway.app import GatewaySettings
from pointsman.gateway.origin import Origin
from pointsman.gateway.routes import PlainRoute
from pointsman.gateway.settings import ClientTenant, Limits, Resuming, Timeouts
from pointsman.gateway.trusted_peers import TrustedPeers
from pointsman.observe.followed_file import FollowedFile
from pointsman.observe.recording_file import BoundedFile
from pointsman.wire.openai.resumable import Mode

NODE_KEY_VARIABLE = "POINTSMAN_NODE_KEY"
API_KEYS_VARIABLE = "POINTSMAN_API_KEYS"
_NAMES = ", ".join(sorted(POLICIES))
_PORT = re.compile(r"[0-9]{1,5}")
_HOST = re.compile(r"[A-Za-z0-9._-]+")
_KEY = re.compile(r"[!-~]+")


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one model: `[models."NAME"]`."""

    policy: Annotated[str, Meta(description="policy for this model; the default if empty")] = ""
    resume: Annotated[Mode | None, Meta(description="how its interrupted streams go on; else as `resume`")] = None


class ServeConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything the gateway can be told. Scalars are flags too; tables belong in the file."""

    listen: Annotated[Address, Meta(description="address and port of the data port")] = "127.0.0.1:8080"
    admin_listen: Annotated[Address, Meta(description="address and port of the admin port; empty for none")] = (
        "127.0.0.1:9080"
    )
    admin_hosts: Annotated[
        Names, Meta(description="names the admin port goes by, besides its own address and localhost")
    ] = ()
    workers: Annotated[int, Meta(ge=1, description="processes that serve the data port")] = 1
    policy: Annotated[Name, Meta(description=f"policy, unless a model or route has its own; one of {_NAMES}")] = (
        "fastest_completion"
    )
    node: Annotated[Urls, Meta(description="base URL of an engine; may be repeated")] = ()
    nodes: tuple[NodeSpec, ...] = ()
    policies: Annotated[dict[str, dict[str, Any]], Meta(description="parameters of policies by name")] = {}
    models: dict[str, ModelSettings] = {}
    routes: dict[str, PlainRoute] = {}
    allow_paths: Annotated[Paths, Meta(description="further JSON paths to relay by their model")] = ()
    resume: Annotated[
        Mode, Meta(description="how a stream goes on when its node is lost: by its text, by token ids, or not at all")
    ] = "off"
    trusted_peers: Annotated[
        Networks, Meta(description="proxies whose Forwarded, X-Forwarded-* and X-Real-IP headers reach the nodes")
    ] = ()
    forwarded_for: Annotated[
        bool, Meta(description="tell nodes who asks: X-Forwarded-For and -Proto, appended to what trusted_peers say")
    ] = False
    api_keys: Annotated[Keys, Meta(description=f"keys clients may use; also {API_KEYS_VARIABLE}")] = ()
    tenants: tuple[ClientTenant, ...] = ()
    node_key: Annotated[Key, Meta(description=f"key shown to the nodes; also {NODE_KEY_VARIABLE}")] = ""
    node_key_file: Annotated[File, Meta(description="file that holds the key shown to the nodes")] = ""
    chain_secret_file: Annotated[File, Meta(description="file with the secret of prompt hashes; random if empty")] = ""
    tls_cert: Annotated[File, Meta(description="PEM file with the data port's certificate and its chain")] = ""
    tls_key: Annotated[File, Meta(description="PEM file with its key; in tls_cert if empty")] = ""
    node_ca_file: Annotated[
        File, Meta(description="PEM file of who may sign for https nodes; the system's if empty")
    ] = ""
    journal: Annotated[File, Meta(description="file that records every decision's inputs, for replay")] = ""
    recording: Annotated[File, Meta(description="file that records the traffic, without prompts, to be simulated")] = ""
    recording_mb: Annotated[int, Meta(ge=2, description="most megabytes of recording that are kept, a process")] = 1024
    usage: Annotated[File, Meta(description="file that gets a line of JSON for each request: who had what")] = ""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Meta(description="how much is logged")] = "info"
    watch: Annotated[bool, Meta(description="apply changes of the file, and of files it names, while running")] = True
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    brain: BrainSettings = BrainSettings()


def all_nodes(config: ServeConfig) -> tuple[NodeSpec, ...]:
    """Nodes of the file and of the command line. Raises ConfigError for a bad URL or size, or two of one name."""
    nodes = config.nodes + tuple(NodeSpec(url=url.rstrip("/")) for url in config.node)
    names = Counter(node.name for node in nodes)
    for node in nodes:
        try:
            Origin.parse(node.url)
            sized(node)
        except ValueError as error:
            raise ConfigError(f"nodes: {error}") from None
        check_events(node, config.workers, nodes)
        if names[node.name] > 1:
            raise ConfigError(f"nodes: {node.name!r} is there more than once; give each an `id` of its own")
    return nodes


def check_events(node: NodeSpec, workers: int, nodes: tuple[NodeSpec, ...] = ()) -> None:
    """Whether the KV events of a node, one of `nodes`, can be heard, if it is to report. Raises ConfigError."""
    who = f"nodes: {node.name!r}"
    if node.residency != "reported":
        if node.kv_events or node.kv_replay:
            raise ConfigError(f'{who} has addresses of KV events: say `residency = "reported"` to go by them')
        return
    if not node.kv_events:
        raise ConfigError(f"{who} is to report: give the address of its KV events as `kv_events`")
    if node.kv_events.startswith("@") and workers > 1:
        raise ConfigError(f"{who}: several workers cannot all bind {node.kv_events}; let the engine bind, and connect")
    for where in (node.kv_events, node.kv_replay):
        if where.lstrip("@").startswith("tcp://") and not _tells_port(where):
            raise ConfigError(f"{who}: {where} must end in a port from 1 to 65535, such as tcp://10.0.0.5:5557")
    for other in nodes:
        if other is not node and other.kv_events == node.kv_events and _mixed(node, other):
            raise ConfigError(f"{who} and {other.name!r} cannot both publish at {node.kv_events}: give each its own")
    if find_spec("zmq") is None:
        raise ConfigError(f"{who} is to report, which needs pyzmq: pip install 'pointsman[kv-events]'")


def _tells_port(address: str) -> bool:
    port = address.rpartition(":")[2]
    return port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535


def _mixed(one: NodeSpec, other: NodeSpec) -> bool:
    """Whether what two nodes publish at one address could not be told apart, or not be heard twice: ranks can be."""
    return one.kv_events.startswith("@") or one.url != other.url


def policy_table(config: ServeConfig) -> PolicyTable:
    """The default policy and those of models and routes. Raises ConfigError for an unknown name or parameter."""
    for name, parameters in config.policies.items():
        _policy(name, parameters, f"policies.{name}")
    scopes = {}
    for model, settings in config.models.items():
        if settings.policy:
            scopes["model:" + model] = _named(config, settings.policy, f'models."{model}".policy')
    for path, route in config.routes.items():
        if route.policy:
            scopes["route:" + path] = _named(config, route.policy, f'routes."{path}".policy')
    return PolicyTable(_named(config, config.policy, "policy"), scopes)


def brain_settings(config: ServeConfig) -> BrainSettings:
    """What each process's brain goes by. Raises ConfigError for tenants that cannot be told apart."""
    return with_tenants(config.brain, config.tenants, config.workers)


def gateway_settings(config: ServeConfig) -> GatewaySettings:
    """What the data plane needs of it. Raises ConfigError for a bad address, path or file."""
    host, port = address(config.listen, "listen")
    for path in (*config.routes, *config.allow_paths):
        if not path.startswith("/"):
            raise ConfigError(f"routes: {path!r} must begin with a slash")
    if config.timeouts.total_s > config.brain.lease_s:
        raise ConfigError(f"`timeouts.total_s` must not be above `brain.lease_s`, which is {config.brain.lease_s:g}")
    try:
        TrustedPeers(config.trusted_peers)
    except ValueError as error:
        raise ConfigError(f"`trusted_peers`: {error}") from None
    keys = config.api_keys + tuple(_split(os.environ.get(API_KEYS_VARIABLE, "")))
    check_keys([(tenant.name, tenant.keys) for tenant in config.tenants], keys)
    return GatewaySettings(
        host=host,
        port=port,
        api_keys=keys,
        tenants=config.tenants,
        node_key=_node_key(config),
        routes=config.routes,
        allow_paths=config.allow_paths,
        trusted_peers=config.trusted_peers,
        forwarded_for=config.forwarded_for,
        timeouts=config.timeouts,
        limits=config.limits,
        resuming=_resuming(config),
        chain_secret=_secret(config.chain_secret_file, "chain_secret_file").encode(),
        tls=server_context(config.tls_cert, config.tls_key),
        node_tls=node_context(config.node_ca_file),
    )


def _resuming(config: ServeConfig) -> Resuming:
    models = {name: settings.resume for name, settings in config.models.items() if settings.resume is not None}
    return Resuming(config.resume, models)


def admin_hosts(config: ServeConfig) -> Hosts:
    """The names the admin port answers to. Raises ConfigError for what is none."""
    for name in config.admin_hosts:
        if not _HOST.fullmatch(name):
            raise ConfigError(
                f"`admin_hosts`: {name!r} is not a name alone, such as admin.example; leave out scheme and port"
            )
    return Hosts(address(config.admin_listen, "admin_listen")[0] if config.admin_listen else "", config.admin_hosts)


def open_journal(path: str) -> BinaryIO:
    """The journal, appended to on a line of its own, whatever a killed process left. Raises ConfigError."""
    try:
        _end_line(Path(path))
        return Path(path).open("ab")
    except (OSError, ValueError) as error:
        raise ConfigError(f"`journal`: {path!r}: {getattr(error, 'strerror', error)}") from None


def open_recording(path: str, limit_mb: int) -> BoundedFile:
    """The recording, appended to. Raises ConfigError."""
    try:
        return BoundedFile(path, limit_mb * 1_000_000)
    except (OSError, ValueError) as error:
        raise ConfigError(f"`recording`: {path!r}: {getattr(error, 'strerror', error)}") from None


def open_usage(path: str) -> FollowedFile:
    """The file of usage records, appended to. Raises ConfigError."""
    try:
        return FollowedFile(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"`usage`: {path!r}: {getattr(error, 'strerror', error)}") from None


def _end_line(path: Path) -> None:
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.write(b"\n")


def address(text: str, key: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    if not colon or not _PORT.fullmatch(port) or int(port) > 65535:
        raise ConfigError(f"`{key}`: {text!r} is not HOST:PORT, such as 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)


def _named(config: ServeConfig, name: str, key: str) -> Policy:
    return _policy(name, config.policies.get(name, {}), key)


def _policy(name: str, parameters: dict[str, Any], key: str) -> Policy:
    try:
        return build(name, parameters)
    except UnknownPolicy as error:
        raise ConfigError(f"`{key}`: {error}") from None


def _node_key(config: ServeConfig) -> str:
    key = config.node_key or _secret(config.node_key_file, "node_key_file") or os.environ.get(NODE_KEY_VARIABLE, "")
    if key and not _KEY.fullmatch(key):
        raise ConfigError("`node_key`: a key consists of visible ASCII characters")
    return key


def _secret(path: str, key: str) -> str:
    if not path:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(f"`{key}`: {path!r} cannot be read: {error}") from None


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
