"""Figures for spreadsheets."""

import csv
from io import StringIO

from pointsman.config.sim import SimConfig
from pointsman.simulate.cases import cases_of, measure
from pointsman.simulate.sheet import as_csv, sheet
from pointsman.simulate.standing import by_policy

POLICIES = ("round_robin", "jffc")


def test_a_row_a_run_under_one_line_of_names() -> None:
    cases = cases_of(SimConfig(seconds=15.0, rate=6.0, seeds=2, warm_up=0.0), POLICIES)
    found = [measure(case, lambda _: None) for case in cases]
    text = as_csv(sheet(by_policy(POLICIES, found), {"load": 0.7}))
    rows = list(csv.DictReader(StringIO(text)))
    assert [(row["load"], row["policy"], row["seed"]) for row in rows] == [
        ("0.7", policy, seed) for policy in POLICIES for seed in ("1", "2")
    ]
    assert float(rows[0]["ttft_mean_s"]) == found[0].summary.ttft_mean_s
    assert float(rows[0]["slowdown_by_length_10"]) == found[0].summary.slowdown_by_length[9]
    assert None not in rows[0]
