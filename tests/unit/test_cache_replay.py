"""`pointsman cache replay` from the command line."""

import json
from pathlib import Path

import pytest

from pointsman.brain.cache.evicting import EvictingCache
from pointsman.cli import main


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Two dialogues in turn, then a flood of prompts that never come again, then the dialogues."""
    prompts = [[1, 2], [5, 6], [1, 2, 3], [5, 6, 7], *([100 + number] for number in range(8)), [1, 2, 3], [5, 6, 7]]
    lines = [
        json.dumps({"timestamp": 3000 * n, "input_length": 512 * len(ids), "output_length": 9, "hash_ids": ids})
        for n, ids in enumerate(prompts)
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(lines))
    return str(path)


def replayed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, float]]:
    assert main(["cache", "replay", "--json", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["requests"], document["block_tokens"]) == (14, 512)
    assert document["unbounded_hit_ratio"] == pytest.approx(10 / 24)
    return {f"{one['rule']} {one['capacity']}": one for one in document["results"]}


def test_every_rule_at_every_capacity(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = replayed(capsys, "--trace", trace, "--blocks", "7,100")
    assert list(found) == [f"{rule} {room}" for room in (7, 100) for rule in ("lru", "lfu", "gdsf", "reuse")]
    assert {one["hits"] for name, one in found.items() if name.endswith(" 100")} == {10}
    assert found["lru 100"]["evictions"] == 0
    assert found["lru 7"]["hits"] == 4
    assert found["lfu 7"]["hits"] > found["lru 7"]["hits"]


def test_saved_seconds_are_those_of_the_model(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    large = replayed(capsys, "--trace", trace, "--blocks", "100", "--rule", "lru")["lru 100"]
    small = replayed(
        capsys, "--trace", trace, "--blocks", "100", "--rule", "lru", "--profile", "Llama-3-8B", "--tp", "1"
    )["lru 100"]
    assert large["seconds_saved"] > small["seconds_saved"] > 0


def test_a_table_for_people(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "replay", "--trace", trace, "--blocks", "100", "--rule", "lru,reuse"]) == 0
    out = capsys.readouterr().out
    assert "hit ratio" in out
    assert "41.7%" in out
    assert "14 prompts; with room for all, 41.7% would be found." in out


def test_interrupted(trace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(EvictingCache, "use", interrupt)
    assert main(["cache", "replay", "--trace", trace]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name a trace"),
        (["--trace", "/nowhere"], "`trace`: /nowhere"),
        (["--rule", "fifo"], "no eviction rule 'fifo'; there are: all, lru, lfu, gdsf, reuse"),
        (["--blocks", "0"], "`blocks"),
        (["--profile", "GPT-9"], "GPT-9"),
    ],
)
def test_a_setting_that_cannot_be_used(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "replay", *arguments]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert len(err.splitlines()) == 1


def test_a_trace_that_tells_of_no_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "azure.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n")
    assert main(["cache", "replay", "--trace", str(path)]) == 2
    assert "no request has hash_ids" in capsys.readouterr().err
