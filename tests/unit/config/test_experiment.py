"""Files of experiments, and the command's settings."""

from pathlib import Path

import pytest

from pointsman.config.experiment import Paper, paper_of, shipped, trace_in
from pointsman.config.flags import ConfigError, convert

LEAST = {"title": "T", "question": "Q?", "settings": {}, "table": [{"figures": ["in_slo"]}]}


def test_every_shipped_experiment_is_valid_and_says_what_it_expects() -> None:
    found = {name: paper_of(name) for name in shipped()}
    assert "mooncake-order" in found
    assert "chains" not in found  # settings of another command
    assert all(paper.claim or paper.answer for paper in found.values())


def test_a_file_may_be_named_instead(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('title = "T"\nquestion = "Q?"\n[settings]\nfleet = "mixed"\n[[table]]\nfigures = ["in_slo"]\n')
    assert paper_of(str(path)).settings == {"fleet": "mixed"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mooncake-ordr", "did you mean 'mooncake-order'"),
        ("nothing-like-it", "there are: "),
        ("/does/not/exist.toml", "No such file"),
    ],
)
def test_an_unknown_experiment_is_refused_with_a_way_on(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        paper_of(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": []},
        {"table": [{"figures": []}]},
        {"grid": {"fleet": []}},
        {"claim": [{"figure": "in_slo"}]},
        {"unknown": 1},
    ],
)
def test_what_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"own\.toml"):
        convert(LEAST | wrong, Paper, "own.toml")


def test_a_trace_is_found_or_it_is_said_where_it_is_published(tmp_path: Path) -> None:
    name = "mooncake_conversation_trace.jsonl"
    with pytest.raises(ConfigError, match=f"has no {name}; it is published at https"):
        trace_in(str(tmp_path), name)
    (tmp_path / name).touch()
    assert trace_in(str(tmp_path), name) == str(tmp_path / name)
