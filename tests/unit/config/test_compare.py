"""Settings of comparisons."""

import msgspec
import pytest

from pointsman.config.compare import CompareConfig, check_names, jobs_of
from pointsman.config.flags import ConfigError


def test_defaults_are_valid_by_their_own_rules() -> None:
    assert msgspec.convert(msgspec.to_builtins(CompareConfig()), CompareConfig) == CompareConfig()


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"policies": []}, {"seeds": 0}])
def test_what_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, CompareConfig)


def test_a_policy_is_named_once() -> None:
    check_names(CompareConfig())
    with pytest.raises(ConfigError, match="`policies`: 'jffc' is named twice"):
        check_names(CompareConfig(policies=("jffc", "session", "jffc")))


def test_as_many_runs_at_a_time_as_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert (jobs_of(CompareConfig()), jobs_of(CompareConfig(jobs=2))) == (7, 2)
