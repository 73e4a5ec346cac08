"""Settings of sweeps."""

import msgspec
import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.sweep import SweepConfig, check_sweep


def test_defaults_are_valid_by_their_own_rules() -> None:
    check_sweep(SweepConfig())
    assert msgspec.convert(msgspec.to_builtins(SweepConfig()), SweepConfig) == SweepConfig()


@pytest.mark.parametrize("wrong", [{"loads": []}, {"loads": [0.0]}, {"plains": [1.5]}, {"delays": [-1.0]}])
def test_what_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, SweepConfig)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": 3.0}, "`rate`: leave it out: the pace of a sweep is said by `loads`"),
        ({"fleets": ("uneven", "even")}, "`fleets`: no preset named 'even'; there are: "),
        ({"robustness": True}, "`robustness`: that is asked of `sim compare`"),
        ({"fleets": ("mixed",), "fleet": "mixed"}, "`fleet`: `fleets` says it already"),
        ({"plains": (0.3,), "plain": 0.1}, "`plain`: `plains` says it already"),
        ({"loads": (0.5, 0.7, 0.5)}, "`loads`: 0.5 is there twice"),
        ({"fleets": ("mixed", "mixed")}, "`fleets`: 'mixed' is there twice"),
        ({"delays": (0.1,), "report_delay_s": 0.1}, "`report_delay_s`: `delays` says it already"),
    ],
)
def test_what_is_said_twice_or_unknown_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_sweep(SweepConfig(**given))  # type: ignore[arg-type]
