"""The commands from the command line."""

import json
from pathlib import Path

import pytest

from pointsman.cli import main
from pointsman.simulate import main as commands

SMALL = ("--seconds", "10", "--rate", "6")


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
    assert main(["sim", "compare", *SMALL, "--policies", "two_choices,round_robin"]) == 0
    text = capsys.readouterr().out
    assert 0 < text.index("two_choices") < text.index("round_robin")


def test_the_same_seed_prints_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    def once() -> str:
        assert main(["sim", "compare", *SMALL, "--policies", "two_choices,jffc", "--seeds", "2", "--json"]) == 0
        return capsys.readouterr().out

    assert once() == once()


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


def test_an_interrupt_ends_with_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupted)
    assert main(["sim", "compare", *SMALL]) == commands.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err
