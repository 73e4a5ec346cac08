"""A simulation says the same to the last byte in another process, where sets and hashes come in another order."""

import os
import subprocess
import sys
from pathlib import Path

SCENE = """
workload = "tenants"
seconds = 12
gateways = 2
leaving = 0.1
plain = 0.3
[[failure]]
node = "fast-1"
begins_s = 4
ends_s = 8
"""


def test_a_simulation_does_not_hang_on_the_order_of_hashes(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE)
    command = [sys.executable, "-m", "pointsman", "sim", "compare", "--config", "scene.toml", "--json", "--seeds", "1"]
    command += ["--policies", "two_choices,fastest_completion"]
    said = [_said(command, tmp_path, seed) for seed in ("1", "2")]
    assert said[0] == said[1]
    assert said[0]


def _said(command: list[str], directory: Path, seed: str) -> bytes:
    where = os.environ | {"PYTHONHASHSEED": seed}
    return subprocess.run(command, cwd=directory, env=where, capture_output=True, check=True, timeout=60).stdout
