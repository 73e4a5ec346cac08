"""What the commands of `pointsman sim` share: checks before the work, progress during it, the exit status after it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rich.console import Console

from pointsman.config.compare import CompareConfig, check_names
from pointsman.config.flags import ConfigError
from pointsman.config.outputs import check_apart, check_output, put_output
from pointsman.config.sim import built
from pointsman.observe.command_output import FAILED, INTERRUPTED, write_json
from pointsman.observe.pages import MissingExtra, check_libraries
from pointsman.simulate.cases import Case, Measured
from pointsman.simulate.jobs import RunFailed, measure_all
from pointsman.simulate.progress import progress

T = TypeVar("T")


def check(config: CompareConfig) -> None:
    """Whether every policy can be built, and every file written. Raises ConfigError."""
    check_names(config)
    check_apart({"csv": config.csv, "report": config.report}, config.traces)
    for name in config.policies:
        built(config, name, "policies")
    if config.csv:
        check_output(config.csv, "csv")
    if config.report:
        check_report(config.report)


def check_report(path: str) -> None:
    """Whether a report could be made, and written there. Raises ConfigError."""
    try:
        check_libraries()
    except MissingExtra as error:
        raise ConfigError(f"`report`: {error}") from None
    check_output(path, "report")


def simulated(cases: Sequence[Case], jobs: int, seconds: float, err: Console) -> list[Measured]:
    """All cases, each of about so many simulated seconds. Raises RunFailed, ConfigError and KeyboardInterrupt."""
    with progress(seconds, len(cases), err) as begin:
        return measure_all(cases, jobs, begin)


def guarded(work: Callable[[], T], command: str, err: Console) -> T | int:
    """What the work gives, or the exit status, its reason said, where it did not come to its end."""
    try:
        return work()
    except KeyboardInterrupt:
        err.print(f"pointsman sim {command}: interrupted")
        return INTERRUPTED
    except RunFailed as error:
        err.print(f"pointsman sim {command}: {error}\n{error.details}", markup=False, highlight=False, soft_wrap=True)
        return FAILED


def print_json(document: dict[str, Any]) -> None:
    """On stdout, for programs and people."""
    write_json(document)


def write(what: str, path: str, text: str, key: str, err: Console) -> None:
    """Put the file in its place, and say so. Raises ConfigError."""
    put_output(path, text, key)
    err.print(f"{what} written to {path}", markup=False, highlight=False, soft_wrap=True)
