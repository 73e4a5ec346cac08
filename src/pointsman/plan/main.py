"""`pointsman plan chains`: place the blocks, allocate the cache, simulate if asked, tell."""

from rich.console import Console
from rich.progress import Progress

from pointsman.brain.policies.base import Policy
from pointsman.chains.bounds import capacity_rate
from pointsman.chains.model import Infeasible
from pointsman.chains.planner import Layout, Plan, plan
from pointsman.chains.study import AtLoad, Conditions, study
from pointsman.config.flags import ConfigError
from pointsman.config.plan import ChainsConfig, rate_of, rules_of, servers_of, service_of
from pointsman.observe.command_output import INTERRUPTED, write_json
from pointsman.plan.tell import as_json, tell


def chains(config: ChainsConfig) -> int:
    """Plan and tell; returns the exit status. Raises ConfigError when a setting cannot be used or met."""
    policies = rules_of(config)
    found = _planned(config)
    err = Console(stderr=True)
    try:
        studied = _simulated(config, found.best, policies, err) if config.simulate else ()
    except KeyboardInterrupt:
        err.print("pointsman plan chains: interrupted")
        return INTERRUPTED
    if config.json:
        write_json(as_json(config, found, studied))
    else:
        tell(config, found, studied, Console())
    return 0


def _planned(config: ChainsConfig) -> Plan:
    service, servers, rate = service_of(config), servers_of(config), rate_of(config)
    try:
        return plan(servers, service, rate=rate, target_load=config.target_load, reserved=config.reserved)
    except Infeasible as error:
        hint = "; without `reserved` the best number is looked for" if config.reserved else ""
        raise ConfigError(f"`server`: {error}{hint}") from None


def _simulated(config: ChainsConfig, layout: Layout, policies: list[Policy], err: Console) -> tuple[AtLoad, ...]:
    most = capacity_rate(layout.chains, config.slowdown)
    rates = [load * most for load in config.loads] or [rate_of(config)]
    conditions = Conditions(config.run_length, config.seed, config.seeds, config.slowdown)
    with Progress(console=err, disable=not err.is_terminal) as display:
        bar = display.add_task(f"{config.run_length} jobs a run", total=len(rates) * len(policies) * config.seeds)
        return study(layout.chains, policies, rates, conditions, lambda: display.advance(bar))
