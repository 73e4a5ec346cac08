"""Results as tables."""

from pointsman.config.experiment import TableSpec
from pointsman.observe.columns import Cell
from pointsman.observe.columns import Row as Line
from pointsman.simulate.experiments.layout import sheets
from pointsman.simulate.experiments.results import Results, Row

ROWS = (
    Row("now", "a", {"in_slo": 0.5, "ttft_mean_s": 3.0}, 0.7, {"ttft_mean_s": (2.5, 3.5)}),
    Row("now", "b", {"in_slo": 0.9, "ttft_mean_s": 2.0}, 0.7, {"ttft_mean_s": (2.0, 2.0)}),
    Row("now", "a", {"rate_at_90": 4.0}, bounds={"rate_at_90": "below"}),
    Row("now", "b", {"rate_at_90": 8.0}),
    Row("late", "a", {"in_slo": 0.1}, 0.7),
)
RESULTS = Results("x", False, {}, ROWS)


def test_a_table_a_scene_shows_figures_side_by_side() -> None:
    found = sheets(TableSpec(figures=("in_slo", "ttft_mean_s", "rate_at_90"), scene="now"), RESULTS)
    assert [sheet.title for sheet in found] == ["now, load 0.7", "now"]
    assert found[0].head == ("policy", "in SLO (%) ↑", "TTFT mean (s) ↓")
    assert found[0].rows == (
        Line("a", (Cell("50.0"), Cell("3.00", span="±0.50"))),
        Line("b", (Cell("90.0", best=True), Cell("2.00", best=True))),
    )
    assert found[1].rows == (Line("a", (Cell("< 4.00"),)), Line("b", (Cell("8.00", best=True),)))


def test_a_table_a_figure_shows_scenes_side_by_side() -> None:
    (sheet,) = sheets(TableSpec(figures=("in_slo", "busy"), by="figure"), RESULTS)
    assert sheet.title == "in SLO (%) ↑"
    assert sheet.head == ("policy", "now, load 0.7", "late, load 0.7")
    assert sheet.rows[1] == Line("b", (Cell("90.0", best=True), Cell("–")))


def test_one_load_of_those_swept_may_be_shown() -> None:
    rows = tuple(Row("", "a", {"in_slo": load}, load) for load in (0.5, 0.7))
    (sheet,) = sheets(TableSpec(figures=("in_slo",), by="figure", load=0.7), Results("x", False, {}, rows))
    assert sheet.head == ("policy", "load 0.7")


def test_more_scenes_than_policies_go_down() -> None:
    rows = tuple(Row(scene, "a", {"in_slo": 0.5}) for scene in ("one", "two"))
    (sheet,) = sheets(TableSpec(figures=("in_slo",), by="figure"), Results("x", False, {}, rows))
    assert sheet.head == ("scene", "a")
    assert sheet.rows == (Line("one", (Cell("50.0"),)), Line("two", (Cell("50.0"),)))


def test_who_leaves_requests_unanswered_is_best_in_nothing_else() -> None:
    rows = (
        Row("", "fair", {"success": 1.0, "ttft_mean_s": 3.0}),
        Row("", "slow", {"success": 1.0, "ttft_mean_s": 4.0}),
        Row("", "lazy", {"success": 0.5, "ttft_mean_s": 1.0}),
    )
    (sheet,) = sheets(TableSpec(figures=("ttft_mean_s",)), Results("x", False, {}, rows))
    assert [row.name for row in sheet.rows if row.cells[0].best] == ["fair"]
