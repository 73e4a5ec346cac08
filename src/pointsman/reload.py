"""The configuration of a running gateway, read again: when a file of it changes, and when asked to (SIGHUP).

Strategy: first everything that can fail. The files are read and all that follows from them is made, in a thread, so
that no stream waits for a parser; what is wrong is logged, and nothing has changed. Then, in one go on the loop, what
differs from the configuration applied before is applied: requests see all of it or nothing. What the admin port has
changed since stays, unless the file changes the same thing. Where several workers serve, their supervisor reads, and
hands each of them the same settings to apply.
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
from pointsman.brain.redeclaring import same_endpoint
from pointsman.config.files import Watch, digests, files_of
from pointsman.config.flags import ConfigError
from pointsman.config.running import FIXED, changed, while_running
from pointsman.config.serve import ServeConfig, all_nodes, brain_settings, gateway_settings, policy_table
from pointsman.config.source import Source
from pointsman.gateway.app import Gateway, GatewaySettings

POLL_SECONDS = 1.0
"""How often files are looked at; a change is read when it has rested as long."""

_log = logging.getLogger("pointsman")


class Plan(msgspec.Struct, frozen=True):
    """Settings and all that is made of them; nodes by id, policies by scope."""

    config: ServeConfig
    nodes: Mapping[str, NodeSpec]
    policies: Mapping[str, Policy]
    gateway: GatewaySettings
    digests: dict[str, bytes]

    @classmethod
    def of(cls, config: ServeConfig) -> "Plan":
        """Reads the files that settings name. Raises ConfigError for what cannot be used."""
        brain_settings(config)
        return cls(
            config,
            {node.name: node for node in all_nodes(config)},
            policy_table(config).scopes(),
            gateway_settings(config),
            digests(config),
        )


class Reload:
    """`start`, then `stop`. `apply` puts a plan in use, or raises ConfigError and changes nothing.

    `told` hears of each reload whether it went well.
    """

    def __init__(
        self,
        source: Source[ServeConfig],
        plan: Plan,
        apply: Callable[[Plan], None],
        told: Callable[[bool], None],
    ) -> None:
        self._source = source
        self._plan = plan
        self._apply = apply
        self._told = told
        self._asked = asyncio.Event()
        self._watch = Watch(files_of(plan.config, source.path))
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Reload from now on when asked, and when a file changes if that is watched for."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Reload no more."""
        if self._task is not None:
            self._task.cancel()

    def ask(self) -> None:
        """Reload as soon as possible, whatever the files look like."""
        if self._source.path is None:
            _log.warning("it was started without --config: there is no file of settings to read again")
        self._asked.set()

    async def reload(self) -> bool:
        """Read and apply; whether that went well. What is wrong is logged and changes nothing."""
        self._watch.mark()
        well = False
        try:
            self._use(await asyncio.to_thread(self._read))
            well = True
        except ConfigError as error:
            _log.error("the configuration stays as it was: %s", error)
        except Exception:
            _log.exception("reloading the configuration failed inside the gateway")
        self._told(well)
        return well

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._asked.wait()
            except TimeoutError:
                if not (self._plan.config.watch and self._watch.changed()):
                    continue
            self._asked.clear()
            await self.reload()

    def _read(self) -> Plan:
        """Raises ConfigError, whose text names the file."""
        config = self._source.read()
        try:
            return Plan.of(config)
        except ConfigError as error:
            raise ConfigError(self._source.named(error)) from None

    def _use(self, plan: Plan) -> None:
        before = self._plan
        config, kept = while_running(before.config, plan.config)
        after = msgspec.structs.replace(plan, config=config)
        self._apply(after)
        self._plan = after
        self._watch.follow(files_of(config, self._source.path))
        _tell(before, after, kept)


class Configured:
    """A gateway that goes by a plan, and by another one when told to."""

    def __init__(self, plan: Plan, gateway: Gateway, dispatcher: Dispatcher) -> None:
        self._plan = plan
        self._gateway = gateway
        self._dispatcher = dispatcher

    def apply(self, plan: Plan) -> None:
        """Change what differs from the plan before. Raises ConfigError and changes nothing if that is too much."""
        before, self._plan = self._plan, self._fitting(plan)
        logging.getLogger().setLevel(plan.config.log_level.upper())
        self._gateway.configure(plan.gateway)
        brain = brain_settings(plan.config)
        if brain != brain_settings(before.config):
            self._call(self._dispatcher.configure, brain)
        for scope in differing(before.policies, plan.policies):
            self._call(self._dispatcher.set_policy, scope, plan.policies.get(scope))
        self._apply_nodes(before, plan)

    def _fitting(self, plan: Plan) -> Plan:
        """`plan`, if there is room for its nodes: those that leave keep theirs for as long as they have requests."""
        fleet = self._dispatcher.fleet
        there = {spec.name: spec for spec in fleet.specs if spec is not None}
        new = sum(name not in there or not same_endpoint(node, there[name]) for name, node in plan.nodes.items())
        if new > fleet.room:
            raise ConfigError(f"nodes: {new} new ones are too many, {len(fleet.row_of)} of {fleet.capacity} are there")
        return plan

    def _apply_nodes(self, before: Plan, after: Plan) -> None:
        """New nodes come first, so that no model is left without any in between."""
        names = differing(before.nodes, after.nodes)
        for name in names:
            if name in after.nodes:
                self._call(self._dispatcher.declare_node, after.nodes[name])
        for name in names:
            if name not in after.nodes and name in self._dispatcher.fleet.row_of:
                self._call(self._dispatcher.remove_node, name)

    def _call(self, call: Callable[..., list[Order]], *arguments: Any) -> None:
        """Make a call of the dispatcher's and carry out what it orders."""
        self._gateway.driver.call(lambda now: call(*arguments, now))


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys under which there is something else than before, or nothing any more."""
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _tell(before: Plan, after: Plan, kept: list[str]) -> None:
    keys = changed(before.config, after.config)
    inside = [key for key in differing(before.digests, after.digests) if key not in keys]
    kept += [key for key in inside if key in FIXED and key not in kept]
    _log.info("configuration reloaded; changed: %s", ", ".join(k for k in keys + inside if k not in kept) or "nothing")
    if kept:
        _log.warning("needs a restart and stays as it was: %s", ", ".join(kept))
