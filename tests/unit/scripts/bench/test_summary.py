import math
from io import StringIO

from proxies.summary import Row, Run, as_json, as_table, ratio
from rich.console import Console

BACKEND = Row("backend", [Run(5.0, 4.0, 0.0, 20.0)])
OURS = Row("ours", [Run(20.0, 10.0, 0.1, 60.0), Run(22.0, 11.0, 0.2, 61.0), Run(90.0, 12.0, 0.3, 62.0)])
OTHER = Row("other", [Run(44.0, 5.5, 0.05, 90.0)])


def test_the_json_has_the_medians_of_each_proxy_in_order() -> None:
    value = as_json([OURS, OTHER], BACKEND, {"nginx": "not there"}, "compiled")
    assert value["build"] == "compiled"
    ours = value["proxies"][0]
    runs = ours.pop("runs")
    assert ours == {"name": "ours", "us_per_request": 22.0, "us_per_chunk": 11.0, "added_ms": 0.2, "rss_mb": 61.0}
    assert [run["us_per_request"] for run in runs] == [20.0, 22.0, 90.0]
    assert [proxy["name"] for proxy in value["proxies"]] == ["ours", "other"]
    assert value["skipped"] == {"nginx": "not there"}


def test_the_table_gives_multiples_of_its_first_row() -> None:
    text = StringIO()
    Console(file=text, width=120).print(as_table([OURS, OTHER], BACKEND, "compiled"))
    assert "Pointsman ran compiled." in text.getvalue()
    line = next(line for line in text.getvalue().splitlines() if "other" in line)
    assert line.replace("│", " ").split() == ["other", "44.0", "2.00", "5.5", "0.50", "0.050", "90"]


def test_nothing_to_compare_with_is_not_a_number() -> None:
    assert math.isnan(ratio(1.0, 0.0))
