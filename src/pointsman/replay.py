"""`pointsman replay`: make the decisions of a recorded run again, and say whether they came out the same.

Two things are checked. Agreement: the journal's calls, made on a fresh dispatcher, must start the same requests on
the same nodes. Replay: each decision, taken out of the run and made from what its policy saw alone, must be the same
again. With another policy the first says how many calls would have started something else.
"""

from collections.abc import Iterable

import msgspec
from rich.console import Console

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.facts import Decided, Fact
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import UnknownPolicy, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.config.flags import ConfigError
from pointsman.config.replay import ReplayConfig, recorded
from pointsman.observe.command_output import write_json
from pointsman.observe.replay import JournalError, differences
from pointsman.observe.snapshot import Snapshot

SHOWN = 5
"""Differences printed; the rest are counted."""


class Verdict(msgspec.Struct, kw_only=True):
    """What a replay found. `other_starts` names the first calls that differ, `half_lines` what a killed run left."""

    calls: int = 0
    decisions: int = 0
    calls_that_start_otherwise: int = 0
    decisions_made_otherwise: int = 0
    other_starts: list[str] = []
    half_lines: list[int] = []

    @property
    def same(self) -> bool:
        return not (self.calls_that_start_otherwise or self.decisions_made_otherwise)


def main(config: ReplayConfig) -> int:
    """Replay and tell; returns 0 when all came out the same (or another policy was asked for), else 1.

    Raises ConfigError for a journal that cannot be read and an unknown policy.
    """
    with recorded(config) as lines:
        try:
            verdict = replayed(lines, config.policy)
        except JournalError as error:
            raise ConfigError(f"{config.journal}: {error}") from None
        except UnknownPolicy as error:
            raise ConfigError(f"`policy`: {error}") from None
    _tell(verdict, config)
    return 0 if verdict.same or config.policy else 1


def replayed(lines: Iterable[bytes], policy: str = "") -> Verdict:
    """Replay the journal's `lines`, by `policy` if one is named. Raises JournalError, UnknownPolicy."""
    verdict = Verdict()
    chosen = build(policy) if policy else None

    def make(settings: BrainSettings, policies: PolicyTable, now: float) -> Dispatcher:
        table = policies if chosen is None else PolicyTable(chosen)

        def observe(fact: Fact) -> None:
            if isinstance(fact, Decided):
                verdict.decisions += 1
                snapshot = Snapshot.of(fact, table.of(fact.request))
                verdict.decisions_made_otherwise += not snapshot.agrees(snapshot.choose_again())

        return Dispatcher(settings, table, [observe], now)

    found = differences(_counted(lines, verdict), make, verdict.half_lines.append)
    verdict.calls -= len(verdict.half_lines)
    verdict.calls_that_start_otherwise = len(found)
    verdict.other_starts = [f"line {each.line}: {each.recorded} became {each.replayed}" for each in found[:SHOWN]]
    return verdict


def _counted(lines: Iterable[bytes], verdict: Verdict) -> Iterable[bytes]:
    for line in lines:
        verdict.calls += 1
        yield line


def _tell(verdict: Verdict, config: ReplayConfig) -> None:
    if config.json:
        write_json(verdict)
        return
    console = Console(highlight=False)
    who = f"by {config.policy}" if config.policy else "as recorded"
    console.print(f"{verdict.calls} calls replayed {who}: {verdict.calls_that_start_otherwise} start something else")
    console.print(
        f"{verdict.decisions} decisions made again from what their policy saw: "
        f"{verdict.decisions_made_otherwise} come out otherwise"
    )
    for number in verdict.half_lines:
        console.print(f"line {number} was passed over: its run was cut while writing it")
    for line in verdict.other_starts:
        console.print("  " + line, markup=False)
