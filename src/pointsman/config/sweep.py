"""Settings of `pointsman sim sweep`: a comparison at many loads, on many scenes."""

from typing import Annotated

from msgspec import Meta

from pointsman.config.compare import CompareConfig
from pointsman.config.flags import ConfigError, Names
from pointsman.config.sim import SimConfig
from pointsman.config.sim_load import check_pace
from pointsman.engine.settings import PositiveFloat
from pointsman.sim.presets import FLEETS

Share = Annotated[float, Meta(ge=0, le=1)]
Delay = Annotated[float, Meta(ge=0, le=60)]


class SweepConfig(CompareConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pointsman sim sweep`: policies against load, and the highest rate at which each keeps the objective."""

    loads: Annotated[
        tuple[PositiveFloat, ...],
        Meta(min_length=1, description="shares of what least_requests can serve; of a trace, factors of its pace"),
    ] = (0.3, 0.5, 0.7, 0.9, 1.1, 1.3)
    fleets: Annotated[Names, Meta(description="presets to try each on, instead of one fleet")] = ()
    delays: Annotated[tuple[Delay, ...], Meta(description="seconds by which tokens and probes are known late")] = ()
    plains: Annotated[tuple[Share, ...], Meta(description="shares of requests that ask for no stream")] = ()
    refine: Annotated[
        int, Meta(ge=0, le=10, description="further loads tried to find where each policy loses the SLO")
    ] = 3


def check_sweep(config: SweepConfig) -> None:
    """Whether all fleets are known, and nothing is said twice. Raises ConfigError."""
    check_pace(config)
    for key in ("rate", "rate_factor", "load"):
        if getattr(config, key) is not None:
            raise ConfigError(f"`{key}`: leave it out: the pace of a sweep is said by `loads`")
    if config.robustness:
        raise ConfigError("`robustness`: that is asked of `sim compare`, at one load")
    for name in config.fleets:
        if name not in FLEETS:
            raise ConfigError(f"`fleets`: no preset named {name!r}; there are: {', '.join(FLEETS)}")
    for key in ("loads", "fleets", "delays", "plains"):
        values = getattr(config, key)
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise ConfigError(f"`{key}`: {twice!r} is there twice")
    usual = SimConfig()
    for many, one in (("fleets", "fleet"), ("fleets", "node"), ("plains", "plain")):
        if getattr(config, many) and getattr(config, one) != getattr(usual, one):
            raise ConfigError(f"`{one}`: `{many}` says it already")
    for key in ("feedback_delay_s", "report_delay_s"):
        if config.delays and getattr(config, key):
            raise ConfigError(f"`{key}`: `delays` says it already")
