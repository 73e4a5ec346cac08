"""The configuration of a running gateway, read again: when a file of it changes, and when asked to (SIGHUP).

Strategy: first everything that can fail. The files are read and all that follows from them is made, in a thread, so
that no stream waits for a parser; what is wrong is logged, and nothing has changed. Then, in one go on the loop, what
differs from the configuration applied before is applied: requests see all of it or nothing. What the admin port has
changed since stays, unless the file changes the same thing.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Order
from pointsman.brain.policies.base import Policy
from pointsman.config.files import Watch, digests, files_of
from pointsman.config.flags import ConfigError
from pointsman.config.running import FIXED, changed, while_running
from pointsman.config.serve import ServeConfig, all_nodes, gateway_settings, policy_table
from pointsman.config.source import Source
from pointsman.gateway.app import Gateway, GatewaySettings

POLL_SECONDS = 1.0
"""How often files are looked at; a change is read when it has rested as long."""

_log = logging.getLogger("pointsman")


class Plan(msgspec.Struct, frozen=True):
    """Settings and all that is made of them; `policies` by scope."""

    config: ServeConfig
    nodes: tuple[NodeSpec, ...]
    policies: Mapping[str, Policy]
    gateway: GatewaySettings
    digests: dict[str, bytes]

    @classmethod
    def of(cls, config: ServeConfig) -> "Plan":
        """Reads the files that settings name. Raises ConfigError for what cannot be used."""
        return cls(config, all_nodes(config), policy_table(config).scopes(), gateway_settings(config), digests(config))


class Reload:
    """Keeps a gateway to its configuration. `told` hears of each reload whether it went well."""

    def __init__(
        self,
        source: Source[ServeConfig],
        plan: Plan,
        gateway: Gateway,
        dispatcher: Dispatcher,
        told: Callable[[bool], None],
    ) -> None:
        self._source = source
        self._applied = plan
        self._gateway = gateway
        self._dispatcher = dispatcher
        self._told = told
        self._asked = asyncio.Event()
        self._watch = Watch(files_of(plan.config, source.path))

    def ask(self) -> None:
        """Reload as soon as possible, whatever the files look like."""
        self._asked.set()

    async def run(self) -> None:
        """Reload when asked, and when a file changes if that is watched for. Ends by being cancelled."""
        while True:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._asked.wait()
            except TimeoutError:
                if not (self._applied.config.watch and self._watch.changed()):
                    continue
            self._asked.clear()
            await self.reload()

    async def reload(self) -> bool:
        """Read and apply; whether that went well. What is wrong is logged and changes nothing."""
        self._watch.mark()
        well = False
        try:
            self._apply(await asyncio.to_thread(self._plan))
            well = True
        except ConfigError as error:
            _log.error("the configuration stays as it was: %s", error)
        except Exception:
            _log.exception("reloading the configuration failed inside the gateway")
        self._told(well)
        return well

    def _plan(self) -> Plan:
        """Raises ConfigError, whose text names the file."""
        config = self._source.read()
        try:
            plan = Plan.of(config)
            self._check_room(plan)
        except ConfigError as error:
            raise ConfigError(self._source.named(error)) from None
        return plan

    def _check_room(self, plan: Plan) -> None:
        """Nodes that leave keep their rows for as long as they have requests."""
        fleet = self._dispatcher.fleet
        new = sum(node not in self._applied.nodes for node in plan.nodes)
        if new > fleet.room:
            raise ConfigError(f"nodes: {new} new ones are too many, {len(fleet.row_of)} of {fleet.capacity} are there")

    def _apply(self, plan: Plan) -> None:
        before = self._applied
        config, kept = while_running(before.config, plan.config)
        self._gateway.configure(plan.gateway)
        if config.brain != before.config.brain:
            self._call(self._dispatcher.configure, config.brain)
        self._apply_policies(before.policies, plan.policies)
        self._apply_nodes(before.nodes, plan.nodes)
        logging.getLogger().setLevel(config.log_level.upper())
        self._applied = msgspec.structs.replace(plan, config=config)
        self._watch.follow(files_of(config, self._source.path))
        _tell(before, self._applied, kept)

    def _apply_policies(self, old: Mapping[str, Policy], new: Mapping[str, Policy]) -> None:
        for scope in {**old, **new}:
            if new.get(scope) != old.get(scope):
                self._call(self._dispatcher.set_policy, scope, new.get(scope))

    def _apply_nodes(self, before: tuple[NodeSpec, ...], after: tuple[NodeSpec, ...]) -> None:
        """New nodes come first, so that no model is left without any in between."""
        old, new = ({node.name: node for node in nodes} for nodes in (before, after))
        for name, node in new.items():
            if node != old.get(name):
                self._call(self._dispatcher.declare_node, node)
        for name in old.keys() - new.keys():
            if name in self._dispatcher.fleet.row_of:
                self._call(self._dispatcher.remove_node, name)

    def _call(self, call: Callable[..., list[Order]], *arguments: Any) -> None:
        """Make a call of the dispatcher's and carry out what it orders."""
        self._gateway.driver.call(lambda now: call(*arguments, now))


def _tell(before: Plan, after: Plan, kept: list[str]) -> None:
    keys = changed(before.config, after.config)
    inside = [key for key in after.digests if after.digests[key] != before.digests.get(key) and key not in keys]
    kept += [key for key in inside if key in FIXED and key not in kept]
    _log.info("configuration reloaded; changed: %s", ", ".join(k for k in keys + inside if k not in kept) or "nothing")
    if kept:
        _log.warning("needs a restart and stays as it was: %s", ", ".join(kept))
