"""The command: what goes to stdout, and how it ends."""

import json

import pytest

from pointsman.config.demo import DemoConfig
from pointsman.config.flags import ConfigError
from pointsman.demo import main as command
from pointsman.demo.errors import DemoError
from pointsman.demo.figures import figures
from pointsman.demo.main import main
from pointsman.demo.result import Round, Usage
from pointsman.demo.scene import MEMORY_TIGHT
from pointsman.observe.comparison import Sample

POLICIES = ("round_robin", "jffc")


@pytest.fixture
def measured(monkeypatch):
    """Rounds without engines: the comparison is replaced by a made-up one."""

    async def compare(plan, policies, folder, tick):
        samples = tuple(
            Sample(float(k), k + 0.5, k + 2.0, True, 100, 40, 20, plan.scene.nodes[0].name) for k in range(40)
        )
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
    assert "jffc: 2 of 2" in err


def test_the_table_has_a_row_a_policy_and_says_its_unit(measured, capsys):
    assert main(DemoConfig(policies=POLICIES)) == 0
    out = capsys.readouterr().out
    assert "round_robin" in out
    assert "jffc" in out
    assert "engine seconds" in out
    assert "Bold" not in out  # in a pipe nothing is


def test_a_terminal_gets_bars_and_is_told_what_bold_means(measured, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert main(DemoConfig(policies=POLICIES)) == 0
    out, err = capsys.readouterr()
    assert "Bold: the best of its column" in out.replace("\n", " ")
    assert "engine seconds" in err


def test_the_report_is_written(measured, tmp_path, capsys):
    path = tmp_path / "out.html"
    assert main(DemoConfig(policies=POLICIES, report=str(path))) == 0
    assert "Made by Pointsman" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]
    assert str(path.name) in capsys.readouterr().err.replace("\n", "")


def test_the_report_is_written_though_nobody_reads_what_is_printed(measured, tmp_path, monkeypatch):
    def gone(_document):
        raise BrokenPipeError

    monkeypatch.setattr(command, "write_json", gone)
    path = tmp_path / "out.html"
    with pytest.raises(BrokenPipeError):
        main(DemoConfig(policies=POLICIES, json=True, report=str(path)))
    assert "Made by Pointsman" in path.read_text()


def test_a_report_that_cannot_be_written_costs_no_table(measured, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise ConfigError("no space left")

    monkeypatch.setattr(command, "write_report", full)
    with pytest.raises(ConfigError, match="no space"):
        main(DemoConfig(policies=POLICIES, report=str(tmp_path / "out.html")))
    assert POLICIES[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (DemoConfig(policies=("jfc",)), "`policies`: .*did you mean 'jffc'?"),
        (DemoConfig(trace="/no/such/file"), "`trace`: /no/such/file: No such file"),
        (DemoConfig(report="/no/such/folder/out.html"), "`report`: /no/such/folder/out.html: No such file"),
    ],
)
def test_a_setting_that_cannot_be_used_is_known_before_measuring(measured, config, told):
    with pytest.raises(ConfigError, match=told):
        main(config)


def test_a_run_that_ends_early_leaves_the_old_report(monkeypatch, tmp_path):
    async def compare(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "compare", compare)
    path = tmp_path / "out.html"
    path.write_text("old")
    assert main(DemoConfig(policies=POLICIES, report=str(path))) == 130
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("error", "status"), [(DemoError("an engine died"), 1), (KeyboardInterrupt(), 130)])
def test_a_run_that_ends_early_says_why(monkeypatch, capsys, error, status):
    async def compare(*_):
        raise error

    monkeypatch.setattr(command, "compare", compare)
    assert main(DemoConfig(policies=POLICIES)) == status
    assert ("an engine died" if status == 1 else "interrupted") in capsys.readouterr().err


def test_a_scene_has_policies_and_columns_of_its_own(measured, capsys, monkeypatch):
    monkeypatch.setattr("pointsman.demo.plan.scene_saturation", lambda *_: 1.0)  # measuring it takes a while
    assert main(DemoConfig(scene="memory-tight")) == 0
    out = capsys.readouterr().out
    rows = [line.split()[0] for line in out.splitlines() if line.startswith(MEMORY_TIGHT.policies)]
    assert rows[: len(MEMORY_TIGHT.policies)] == list(MEMORY_TIGHT.policies)
    assert "empted" in out
    assert "goodput: answers per second" in out.replace("\n", " ").lower()
    assert "times slower" not in out
