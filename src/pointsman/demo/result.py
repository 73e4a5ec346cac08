"""What a comparison found, and under which conditions: the values behind the table, the JSON and the report."""

from typing import Any

import msgspec

from pointsman.observe.comparison import Figures, Sample, Window

from .scene import Fault, Scene

CPU_BOUND = 0.9  # of all cores together: beyond it, the machine is what is measured


class Usage(msgspec.Struct, frozen=True):
    """CPU of one run, in cores (CPU seconds per wall second)."""

    client: float
    gateway: float
    engines: float

    @property
    def total(self) -> float:
        return self.client + self.gateway + self.engines


class Round(msgspec.Struct, frozen=True):
    """One policy's run. `lateness_p99_s`: how late the client sent requests, in engine seconds.

    `unanswered`: requests cut because no whole answer had come long after the run's end; `problems`: other failures.
    """

    figures: Figures
    samples: tuple[Sample, ...]
    cpu: Usage
    lateness_p99_s: float
    problems: tuple[str, ...]
    unanswered: int = 0


class Result(msgspec.Struct, frozen=True):
    """All rounds and what they have in common. `window`: the measured part of each run, in engine seconds."""

    rounds: tuple[Round, ...]
    scene: Scene
    window: Window
    workload: str
    remarks: tuple[str, ...]
    saturation_rps: float
    load: float
    seed: int
    time_scale: float
    cpus: int

    @property
    def lateness_p99_s(self) -> float:
        return max((one.lateness_p99_s for one in self.rounds), default=0.0)

    def doubts(self) -> list[str]:
        """Reasons not to believe the figures; empty when they are sound."""
        busiest = max((one.cpu.total for one in self.rounds), default=0.0)
        found = []
        bound = self.scene.lateness_bound_s
        if self.lateness_p99_s > bound:
            found.append(f"the client itself sent requests {self.lateness_p99_s:.2f} s late (bound {bound})")
        if busiest > CPU_BOUND * self.cpus:
            found.append(f"the machine was busy: {busiest:.1f} of {self.cpus} cores")
        return found

    def caption(self) -> str:
        """What one must know to read the figures at all."""
        return f"All times are engine seconds: wall seconds × {self.time_scale:g}."

    def findings(self) -> list[str]:
        """What a reader must not miss: who did not keep up, what failed, why not to believe the figures."""
        return [
            *(_overtaken(one) for one in self.rounds if one.unanswered),
            *(f"Failures under {one.figures.name}: {'; '.join(one.problems)}." for one in self.rounds if one.problems),
            *(f"UNSOUND: {doubt}; lower --time-scale or --load." for doubt in self.doubts()),
        ]

    def notes(self) -> list[str]:
        """What was measured on what, finished sentences."""
        nodes = ", ".join(f"{node.name} {node.speed:.2f}×" for node in self.scene.nodes)
        return [
            f"Fleet: emulated engines ({nodes}) behind real sockets on {self.cpus} CPUs{_told(self.scene.fault)}.",
            f"Load: {self.workload}; {self.load:.0%} of a saturation of {self.saturation_rps:.2f} requests/s, seed "
            f"{self.seed}, measured from {self.window.start_s:.0f} s to {self.window.end_s:.0f} s.",
            "Saturation: what the undisturbed fleet would finish with always enough to do and every prefix seen before "
            "still cached; no policy reaches it.",
            "The gateway's own guards (a cap of requests per node, a queue, health) act under every policy, so each "
            "does better here than its bare rule would; their time constants are divided by the time scale.",
            f"Client lateness P99: {1000 * self.lateness_p99_s:.0f} ms.",
            *(f"{remark}." for remark in (*self.scene.remarks, *self.remarks)),
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values: `policies`, one object each, and the conditions."""
        return {
            "policies": [
                {
                    **msgspec.to_builtins(one.figures),
                    "cpu_cores": msgspec.to_builtins(one.cpu),
                    "client_lateness_p99_s": one.lateness_p99_s,
                    "problems": list(one.problems),
                    "unanswered": one.unanswered,
                }
                for one in self.rounds
            ],
            "seconds_are": f"engine seconds (wall × {self.time_scale:g})",
            "workload": self.workload,
            "notes": [*self.scene.remarks, *self.remarks],
            "saturation_rps": self.saturation_rps,
            "load": self.load,
            "seed": self.seed,
            "time_scale": self.time_scale,
            "window_s": [self.window.start_s, self.window.end_s],
            "fleet": [
                {"name": node.name, "speed": node.speed, "kv_blocks": node.kind.kv_blocks} for node in self.scene.nodes
            ],
            "scene": self.scene.name,
            "fault": msgspec.to_builtins(self.scene.fault),
            "cpus": self.cpus,
            "client_lateness_p99_s": self.lateness_p99_s,
            "sound": not self.doubts(),
            "doubts": self.doubts(),
        }


def _told(fault: Fault | None) -> str:
    if fault is None:
        return ""
    during = f"between {fault.begins:.0%} and {fault.ends:.0%} of the run"
    return f"; {fault.node} is {fault.factor:g} times slower {during}"


def _overtaken(one: Round) -> str:
    requests = "request was" if one.unanswered == 1 else "requests were"
    return f"{one.figures.name} could not keep up: {one.unanswered} {requests} still unanswered when the run ended."
