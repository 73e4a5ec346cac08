"""Runs in several processes: the same results, and an end to all of them whatever happens."""

import multiprocessing
from collections.abc import Iterator
from math import nan

import msgspec
import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig
from pointsman.sim.disturbed import Disturbance
from pointsman.simulate.cases import cases_of
from pointsman.simulate.jobs import RunFailed, measure_all

CONFIG = SimConfig(seconds=5.0, rate=6.0, seeds=2, warm_up=0.0)
CASES = cases_of(CONFIG, ("round_robin", "jffc"))
BROKEN = msgspec.structs.replace(CASES[3], label="no blocks known", engines=Disturbance(blocks=nan))
NO_FLEET = msgspec.structs.replace(CASES[3], config=msgspec.structs.replace(CONFIG, fleet="no_such_fleet"))


class Told:
    """What bars were told."""

    def __init__(self, raises_at: float = 1e9) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.seconds: list[float] = []
        self._raises_at = raises_at

    def begin(self, name: str) -> "Told.Bar":
        self.begun.append(name)
        return Told.Bar(self, name)

    class Bar:
        def __init__(self, told: "Told", name: str) -> None:
            self._told = told
            self._name = name

        def tick(self, second: float) -> None:
            self._told.seconds.append(second)
            if second >= self._told._raises_at:
                raise KeyboardInterrupt

        def end(self) -> None:
            self._told.ended.append(self._name)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    assert not multiprocessing.active_children()


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    one, several = Told(), Told()
    assert measure_all(CASES, 1, one.begin) == measure_all(CASES, 3, several.begin)
    assert one.begun == several.begun == [case.name for case in CASES]
    assert sorted(several.ended) == sorted(several.begun)
    assert several.seconds


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_fails_is_named_with_its_reason(jobs: int) -> None:
    with pytest.raises(RunFailed, match=r"^jffc, no blocks known, seed 2: ValueError: cannot convert") as caught:
        measure_all([*CASES[:3], BROKEN], jobs, Told().begin)
    assert "Traceback" in caught.value.details


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_setting_that_cannot_be_used_is_told_as_one(jobs: int) -> None:
    with pytest.raises(ConfigError, match=r"^`fleet`: no preset named 'no_such_fleet'"):
        measure_all([*CASES[:3], NO_FLEET], jobs, Told().begin)


def test_an_interrupt_ends_all_processes() -> None:
    with pytest.raises(KeyboardInterrupt):
        measure_all(CASES, 2, Told(raises_at=0.0).begin)


def test_a_process_that_dies_is_noticed() -> None:
    class Deadly(Told):
        def begin(self, name: str) -> Told.Bar:
            bar = super().begin(name)
            if len(self.begun) == 2:
                for child in multiprocessing.active_children():
                    child.kill()
            return bar

    with pytest.raises(RunFailed) as caught:
        measure_all(CASES, 2, Deadly().begin)
    assert "its process ended with status -9; is there enough memory?" in str(caught.value)
