"""Engine model against public measurements of vLLM, and its formulas' values.

Prints the table of docs/explanation/engine-model.md: each load point measured, predicted at the measured concurrency,
and simulated; the error on the half that nothing was fitted on; and the values the formulas must give.
"""

import argparse
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pointsman.brain.costs.geometry import kv_capacity_tokens
from pointsman.brain.costs.hardware import HARDWARE
from pointsman.brain.costs.models import MODELS
from pointsman.brain.costs.step_time import Roofline, prefill_seconds, step_seconds
from pointsman.engine.load_points import FITTED, POINTS, SHARED, Validation, conditioned, simulated, validated

WORKED = (
    ("Llama-3-8B", "A100-80G", 1, (441e3, 13.0, 15.9, 26.8, 145)),
    ("Llama-3-70B", "H100", 4, (438e3, 17.3, 19.0, 24.7, 147)),
    ("Qwen-72B", "A100-80G", 8, (170e3, 19.0, 27.2, 55.0, 248)),
    ("Qwen2.5-72B", "A100-80G", 8, (1.36e6, 18.8, 20.9, 29.5, 249)),
)
"""Model, GPU, ranks; tokens of KV cache, ms of a decode step of 1, 32, 128 sequences of 1k, ms to prefill 2,048."""
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)


def main() -> int:
    options = arguments()
    alike = validated([conditioned(point, options.shared) for point in POINTS], options.shared)
    played = validated([simulated(point, options.shared) for point in POINTS], options.shared)
    shares = [validated([conditioned(point, share) for point in POINTS], share) for share in SHARES]
    worst = max(off for row in WORKED for off in errors(formulas(*row[:3]), row[3]))
    if options.json:
        told: dict[str, Any] = {"conditioned": alike, "simulated": played, "shares": shares, "formulas_off": worst}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n")
    else:
        tell(alike, played, shares, worst, Console(width=120))
    return 0 if alike.tpot_error <= 0.10 and worst <= 0.03 else 1


def formulas(model: str, gpu: str, ranks: int) -> tuple[float, ...]:
    roofline = Roofline(MODELS[model], HARDWARE[gpu], ranks)
    decodes = [1000 * step_seconds(roofline, sequences, sequences * 1024) for sequences in (1, 32, 128)]
    return kv_capacity_tokens(MODELS[model], HARDWARE[gpu], ranks), *decodes, 1000 * prefill_seconds(roofline, 2048)


def errors(values: Iterable[float], expected: Iterable[float]) -> list[float]:
    """By how much of what is expected each value is off."""
    return [abs(value / right - 1) for value, right in zip(values, expected, strict=True)]


def tell(alike: Validation, played: Validation, shares: list[Validation], worst: float, out: Console) -> None:
    table = Table(box=SIMPLE_HEAD, title="Load points of vLLM 0.15.1 on H100: TPOT and TTFT in ms")
    table.add_column("model/TP")
    for heading in (
        "req/s",
        "in/out",
        "shared",
        *("TPOT", "predicted", "simulated"),
        *("TTFT", "predicted", "simulated"),
    ):
        table.add_column(heading, justify="right")
    for point, one, other in zip(POINTS, alike.predicted, played.predicted, strict=True):
        table.add_row(
            f"{point.model}/{point.ranks}" + (" (fitted)" if point in FITTED else ""),
            f"{point.rate:g}",
            f"{point.prompt}/{point.answer}",
            f"{alike.shared:.0%}",
            *(f"{value:.1f}" for value in (point.tpot_ms, one.tpot_ms, other.tpot_ms)),
            *(f"{value:.1f}" for value in (point.ttft_ms, one.ttft_ms, other.ttft_ms)),
        )
    out.print(table)
    for name, one in (("at the measured concurrency", alike), ("simulated", played)):
        out.print(
            f"Held out, {name}: TPOT off by {one.tpot_error:.1%}, TTFT by {one.ttft_error:.1%} on average; "
            f"overhead {one.overhead_ms:.1f} ms, fitted on the other half."
        )
    text = ", ".join(f"{one.shared:.0%}: {one.tpot_error:.1%}" for one in shares)
    out.print(f"TPOT's error at the measured concurrency, by the share assumed: {text}.")
    out.print(f"The formulas' {5 * len(WORKED)} worked values: off by {worst:.2%} at most.")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench validate", description=__doc__)
    help_ = "share of each prompt assumed to be cached (default: %(default)s)"
    parser.add_argument("--shared", type=float, default=SHARED, metavar="SHARE", help=help_)
    parser.add_argument("--json", action="store_true", help="print JSON on stdout and nothing else")
    options = parser.parse_args()
    if not 0 <= options.shared < 1:
        parser.error(f"--shared: {options.shared:g} is no share of a prompt: give one from 0 to below 1, such as 0.8")
    return options


if __name__ == "__main__":
    sys.exit(main())
