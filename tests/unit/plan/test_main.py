"""`pointsman plan chains` from the command line."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main
from pointsman.plan import main as command

EXAMPLE = str(Path(__file__).parents[3] / "examples" / "chains.toml")
WORKED = """
rate = 1.0
reserved = 1
service = { blocks = 3, block_gb = 1, job_gb = 0.1 }
server = [
    { name = "1", memory_gb = 2, communication_s = 1, block_s = 0.01 },
    { name = "2", memory_gb = 3, communication_s = 2, block_s = 0.02 },
    { name = "3", memory_gb = 2, communication_s = 1, block_s = 0.03 },
    { name = "4", memory_gb = 2, communication_s = 1, block_s = 0.04 },
    { name = "5", memory_gb = 2, communication_s = 1, block_s = 0.05 },
]
"""


@pytest.fixture
def worked(tmp_path: Path) -> str:
    path = tmp_path / "worked.toml"
    path.write_text(WORKED)
    return str(path)


def test_the_worked_example(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "chains", "--config", worked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["stages"][1] == {"server": "2", "first": 2, "last": 3}
    assert [chain["capacity"] for chain in document["chains"]] == [5, 5, 5]
    assert document["chains"][0]["through"] == [{"server": "1", "blocks": 1}, {"server": "2", "blocks": 2}]
    assert document["capacity_rate"] == pytest.approx(5 / 3.05 + 5 / 3.10 + 5 / 3.12)
    assert document["response"]["lower_s"] <= document["response"]["upper_s"]
    assert document["simulated"] == []


def test_simulated_policies_are_those_named(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--simulate", "--run-length", "200", "--seeds", "2", "--policies", "sed,two_choices"]
    assert main(["plan", "chains", "--config", worked, *flags, "--json"]) == 0
    (at,) = json.loads(capsys.readouterr().out)["simulated"]
    assert at["rate"] == 1.0
    assert [mean["policy"] for mean in at["means"]] == ["sed", "two_choices"]


def test_the_example_can_be_planned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "chains", "--config", EXAMPLE]) == 0
    assert "fastest free chain" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ["--rate", "9"],
            "`server`: 9 jobs per second are too many: the most these servers serve is 4.855, with",
        ),
        (["--reserved", "40"], "`server`: 3 of 3 blocks fit on no server with cache for 40 jobs beside each"),
        (["--rate", "9"], "; without `reserved` the best number is looked for"),
        (["--rate", "-1"], "`rate` must be a number above 0"),
        (["--target-load", "1.5"], "`target_load` must be a number up to 1"),
        (["--policies", "jfsq"], "`policies`: no policy named 'jfsq'"),
    ],
)
def test_what_cannot_be_planned_ends_with_one_line(
    worked: str, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "chains", "--config", worked, *flags]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_plan_of_nothing_asks_for_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "chains"]) == 2
    assert "`service`: describe the model" in capsys.readouterr().err


def test_an_interrupt_ends_with_a_line(
    worked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "study", interrupted)
    assert main(["plan", "chains", "--config", worked, "--simulate"]) == command.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err
