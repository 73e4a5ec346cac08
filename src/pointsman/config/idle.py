"""Settings of the gateway that do nothing beside the others: no mistake, since both may be changed while it runs, but
hardly what was meant."""

from collections.abc import Iterator

from pointsman.config.serve import ServeConfig


def idle(config: ServeConfig) -> Iterator[str]:
    """A sentence on each, with what it takes."""
    yield from _movers(config)
    yield from _memory(config)
    if config.workers > 1 and any(node.residency == "commanded" for node in config.nodes):
        yield '`residency = "commanded"`: a node obeys one gateway, and each of several `workers` is one'


def _movers(config: ServeConfig) -> Iterator[str]:
    """Streams are moved by resuming them."""
    modes = (config.resume, *(model.resume for model in config.models.values()))
    if any(mode not in (None, "off") for mode in modes):
        return
    brain = config.brain
    asked = {
        "brain.preemption": brain.preemption == "on",
        "brain.defragmentation": brain.defragmentation == "on",
        "brain.cache.gather_load": brain.cache.gather_load > 0,
    }
    if told := _named(asked):
        yield f"{told}: no stream is moved while `resume` is off"


def _memory(config: ServeConfig) -> Iterator[str]:
    """What keeps memory free is heeded by the policy that asks whether it is."""
    models, routes = config.models.values(), config.routes.values()
    if "greedy" in (config.policy, *(model.policy for model in models), *(route.policy for route in routes)):
        return
    cache = config.brain.cache
    asked = {
        "brain.cache.prealloc": bool(cache.prealloc),
        "brain.cache.demand_classes": cache.demand_classes > 0,
        "brain.reserve": config.brain.reserve == "peak",
    }
    if told := _named(asked):
        yield f"{told}: no policy in use asks whether memory is free; `greedy` does"


def _named(asked: dict[str, bool]) -> str:
    return ", ".join(f"`{key}`" for key, on in asked.items() if on)
