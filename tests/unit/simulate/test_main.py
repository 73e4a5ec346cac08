"""The commands from the command line."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main
from pointsman.observe.command_output import INTERRUPTED
from pointsman.simulate import jobs
from pointsman.simulate import main as commands
from pointsman.simulate.command import FAILED

SMALL = ("--seconds", "10", "--rate", "6")
ONCE = (*SMALL, "--seeds", "1", "--jobs", "1")


def test_run_leaves_a_journal_that_replays_and_what_each_request_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, requests = tmp_path / "j.jsonl", tmp_path / "r.jsonl"
    assert main(["sim", "run", *SMALL, "--json", "--journal", str(journal), "--requests", str(requests)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["policies"][0]["name"] == "fastest_completion"
    records = [json.loads(line) for line in requests.read_text().splitlines()]
    assert len(records) > 20
    assert {"id", "sent_s", "first_s", "done_s", "node", "tries"} <= records[0].keys()
    assert main(["replay", "--journal", str(journal), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["decisions"] == len(records)


def test_compare_tells_policies_in_the_order_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "compare", *ONCE, "--policies", "two_choices,round_robin"]) == 0
    text = capsys.readouterr().out
    assert 0 < text.index("two_choices") < text.index("round_robin")


def test_the_same_seed_prints_the_same_bytes_however_many_processes(capsys: pytest.CaptureFixture[str]) -> None:
    def once(jobs: str) -> str:
        what = ["sim", "compare", *SMALL, "--policies", "two_choices,jffc", "--seeds", "2", "--json", "--jobs", jobs]
        assert main(what) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["settings"].pop("jobs") == int(jobs)
        return json.dumps(document)

    assert once("1") == once("1") == once("2")


def test_a_file_sets_nodes_parameters_and_the_brain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sim.toml").write_text(
        """
        seconds = 10
        rate = 3
        node = [{ name = "big", gpu = "H100" }, { name = "small", count = 2, gpu = "L40S" }]
        parameters = { jffc = { variant = "seed" } }
        brain = { queue_timeout_s = 5 }
        """
    )
    assert main(["sim", "run", "--config", str(tmp_path / "sim.toml"), "--policy", "jffc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fleet"] == ["big", "small-1", "small-2"]


def test_variants_of_a_policy_stand_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sim.toml").write_text(
        """
        policies = ["jffc", "jffc, capped"]
        parameters = { "jffc, capped" = { policy = "gated", within = "jffc", decode_cap = 1 } }
        """
    )
    assert main(["sim", "compare", "--config", str(tmp_path / "sim.toml"), *ONCE, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["policies"]
    assert [row["name"] for row in rows] == ["jffc", "jffc, capped"]
    assert {**rows[0], "name": ""} != {**rows[1], "name": ""}


def test_an_interrupt_ends_with_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupted)
    monkeypatch.setattr(jobs, "measure", interrupted)
    for command in (["run"], ["compare", "--jobs", "1"]):
        assert main(["sim", *command, *SMALL]) == INTERRUPTED
        assert f"pointsman sim {command[0]}: interrupted" in capsys.readouterr().err


def test_a_run_that_fails_ends_with_its_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("too bad")

    monkeypatch.setattr(jobs, "measure", broken)
    assert main(["sim", "compare", *ONCE, "--policies", "jffc"]) == FAILED
    assert "pointsman sim compare: jffc, seed 1: ZeroDivisionError: too bad\n" in capsys.readouterr().err


def test_every_run_is_a_row_of_the_csv_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.csv"
    assert main(["sim", "compare", *ONCE, "--policies", "two_choices,jffc", "--csv", str(path)]) == 0
    assert [line.split(",")[:2] for line in path.read_text().splitlines()] == [
        ["policy", "seed"],
        ["two_choices", "1"],
        ["jffc", "1"],
    ]
    assert f"figures written to {path}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--policies", "jffc,no_such"), "`policies`: no policy named 'no_such'"),
        (("--policies", "jffc,jffc"), "`policies`: 'jffc' is named twice"),
        (("--csv", "/no/such/folder/f.csv"), "`csv`: /no/such/folder/f.csv: No such file or directory"),
        (("--jobs", "0"), "`jobs`"),
    ],
)
def test_what_cannot_be_used_is_told_before_the_work(
    flags: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", "compare", *SMALL, *flags]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_sweep_leaves_a_row_for_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.csv"
    what = ["--seconds", "20", "--seeds", "1", "--jobs", "1", "--policies", "jffc,two_choices", "--loads", "0.3,0.6"]
    assert main(["sim", "sweep", *what, "--refine", "1", "--json", "--csv", str(path)]) == 0
    (scene,) = json.loads(capsys.readouterr().out)["scenes"]
    tried = [(one["name"], row["load"]) for one in scene["policies"] for row in one["loads"]]
    assert {(name, load) for name in ("jffc", "two_choices") for load in (0.3, 0.6)} < set(tried)
    assert len(path.read_text().splitlines()) == 1 + len(tried)


def test_a_sweep_with_a_pace_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "sweep", "--rate", "3"]) == 2
    assert "`rate`: leave it out: the pace of a sweep is said by `loads`" in capsys.readouterr().err


def test_a_report_is_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.html"
    assert main(["sim", "compare", *ONCE, "--policies", "two_choices,jffc", "--report", str(path)]) == 0
    assert "<h1>Policies compared</h1>" in path.read_text(encoding="utf-8")
    assert f"report written to {path}" in capsys.readouterr().err


def test_robustness_is_told_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    what = ["sim", "compare", *ONCE, "--policies", "two_choices,jffc", "--robustness", "--csv", str(tmp_path / "f.csv")]
    assert main([*what, "--json"]) == 0
    conditions = [one["condition"] for one in json.loads(capsys.readouterr().out)["robustness"]]
    assert len(conditions) == 8
    rows = (tmp_path / "f.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * (1 + 8)
    assert {row.split(",")[0] for row in rows[1:]} == {"", *conditions}
    assert main([*what, "--report", str(tmp_path / "r.html")]) == 0
    assert "The policy best in goodput" in capsys.readouterr().out
    assert "<td>25 % fewer blocks</td>" in (tmp_path / "r.html").read_text(encoding="utf-8")
