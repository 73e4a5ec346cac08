"""The command: what goes to stdout, and how it ends."""

import json

import pytest

from pointsman.config.demo import DemoConfig
from pointsman.config.flags import ConfigError
from pointsman.demo import main as command
from pointsman.demo.errors import DemoError
from pointsman.demo.main import main
from pointsman.demo.result import Round, Usage
from pointsman.observe.comparison import Sample, figures

POLICIES = ("round_robin", "jffc")


@pytest.fixture
def measured(monkeypatch):
    """Rounds without engines: the comparison is replaced by a made-up one."""

    async def compare(plan, policies, folder, tick):
        samples = tuple(Sample(float(k), k + 0.5, k + 2.0, True, 100, 40, 20, "fast-1") for k in range(40))
        for policy in policies:
            tick(policy, plan.seconds)
        capacity = plan.scene.capacity()
        return [
            Round(figures(policy, samples, plan.window, capacity), samples, Usage(0.1, 0.1, 0.1), 0.01, ())
            for policy in policies
        ]

    monkeypatch.setattr(command, "compare", compare)


def test_json_is_all_there_is_on_stdout(measured, capsys):
    assert main(DemoConfig(policies=POLICIES, json=True)) == 0
    out, err = capsys.readouterr()
    assert [policy["name"] for policy in json.loads(out)["policies"]] == list(POLICIES)
    assert "engine seconds" in err


def test_the_table_has_a_row_a_policy_and_says_its_unit(measured, capsys):
    assert main(DemoConfig(policies=POLICIES)) == 0
    out = capsys.readouterr().out
    assert "round_robin" in out
    assert "jffc" in out
    assert "engine seconds" in out


def test_the_report_is_written(measured, tmp_path, capsys):
    path = tmp_path / "out.html"
    assert main(DemoConfig(policies=POLICIES, report=str(path))) == 0
    assert path.read_text().count("<svg") == 3
    assert str(path.name) in capsys.readouterr().err.replace("\n", "")


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (DemoConfig(policies=("jfc",)), "did you mean 'jffc'?"),
        (DemoConfig(trace="/no/such/file"), "No such file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(measured, capsys, config, told):
    assert main(config) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err


def test_a_report_that_cannot_be_written_is_known_before_measuring(measured):
    with pytest.raises(ConfigError, match=r"`report`: /no/such/folder/out.html: No such file"):
        main(DemoConfig(policies=POLICIES, report="/no/such/folder/out.html"))


@pytest.mark.parametrize(("error", "status"), [(DemoError("an engine died"), 1), (KeyboardInterrupt(), 130)])
def test_a_run_that_ends_early_says_why(monkeypatch, capsys, error, status):
    async def compare(*_):
        raise error

    monkeypatch.setattr(command, "compare", compare)
    assert main(DemoConfig(policies=POLICIES)) == status
    assert ("an engine died" if status == 1 else "interrupted") in capsys.readouterr().err
