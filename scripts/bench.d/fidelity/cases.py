"""Which router runs with which options, and which of our rules it is held against.

When SMG polls its engines' loads cannot be seen from outside. It does so first when only some of them are registered,
so a run begins after the second poll, of all, and is over before the third. Beside the thresholds a router has by
default, which a fleet of four idle engines never reaches, each cache-aware rule also runs with tight ones.
"""

from dataclasses import dataclass
from pathlib import Path

from .compare import Rule

TWO = Rule("two_choices", allows="two")
TURN = Rule("round_robin", allows="turn")
HOME = Rule("session", {"epsilon": 1e9, "within": "random"}, allows="home")
POLL_S = 12
POLLED = ("--load-monitor-interval", str(POLL_S))
TIGHT = ("--balance-abs-threshold", "2", "--balance-rel-threshold", "1.2")
SMG_LOAD = {"throughput": 2000.0}


@dataclass(frozen=True, slots=True)
class Case:
    """One run. The first rule is meant to be the router's; the others tell what accounts for the rest."""

    router: str
    policy: str
    options: tuple[str, ...]
    rules: tuple[Rule, ...]
    setting: str = "default"
    wait_s: float = 0.0
    """Between its being ready and the first request."""
    sessions: bool = False
    """Whether requests name their session: in the header `x-session-id` and the field `user`."""

    @property
    def name(self) -> str:
        return f"{self.router} {self.policy}" + (f" ({self.setting})" if self.setting != "default" else "")

    def command(self, program: Path, port: int, own_port: int, urls: list[str]) -> list[str]:
        start = [] if self.router == "vllm-router" else ["launch"]
        ports = ["--host", "127.0.0.1", "--port", str(port)]
        own = ["--prometheus-host", "127.0.0.1", "--prometheus-port", str(own_port), "--log-level", "error"]
        wait = ["--worker-startup-check-interval", "1"]
        return [
            str(program),
            *start,
            *ports,
            *own,
            *wait,
            "--policy",
            self.policy,
            *self.options,
            "--worker-urls",
            *urls,
        ]


def cases() -> list[Case]:
    return [
        Case("smg", "round_robin", (), (TURN,)),
        Case("smg", "power_of_two", ("--power-of-two-load-metric", "least_requests"), (TWO,)),
        Case("smg", "least_load", POLLED, (Rule("smg_least_load", SMG_LOAD), Rule("least_requests")), wait_s=POLL_S),
        Case("smg", "cache_aware", POLLED, _smg(64.0, 1.5), wait_s=POLL_S),
        Case("smg", "cache_aware", (*POLLED, *TIGHT), _smg(2.0, 1.2), "tight", POLL_S),
        Case("vllm-router", "round_robin", (), (TURN,)),
        Case("vllm-router", "power_of_two", (), (TWO,)),
        Case("vllm-router", "consistent_hash", (), (HOME,), sessions=True),
        Case("vllm-router", "cache_aware", (), _sglang()),
        Case("vllm-router", "cache_aware", TIGHT, _sglang(tight=True), "tight"),
        Case("sglang-router", "cache_aware", (), _sglang()),
        Case("sglang-router", "cache_aware", TIGHT, _sglang(tight=True), "tight"),
    ]


def _smg(spill_abs: float, spill_rel: float) -> tuple[Rule, ...]:
    load = {"policy": "smg_least_load", **SMG_LOAD}
    ours = {"load": load, "spill_abs": spill_abs, "spill_rel": spill_rel}
    gate = {"balance_abs": spill_abs, "balance_rel": spill_rel, "miss": "least_requests"}
    return (
        Rule("smg_cache_aware", ours),
        Rule("smg_cache_aware", ours, exact=True, note="prefixes in characters"),
        Rule("sglang_cache_aware", gate, note="the rule it comes from"),
    )


def _sglang(tight: bool = False) -> tuple[Rule, ...]:
    gate = {"balance_abs": 2.0, "balance_rel": 1.2} if tight else {}
    return (
        Rule("sglang_cache_aware", {**gate, "miss": "least_requests"}),
        Rule("sglang_cache_aware", {**gate, "miss": "least_requests"}, exact=True, note="prefixes in characters"),
        Rule("sglang_cache_aware", {**gate, "miss": "smallest_cache"}, note="misses as the router's text has it"),
    )
