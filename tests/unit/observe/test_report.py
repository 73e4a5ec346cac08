"""The HTML report: complete, self-contained, escaped, and clear about what it lacks."""

import re
from xml.etree import ElementTree

import msgspec
import pytest

from pointsman.observe import pages
from pointsman.observe.comparison import Sample, Window, figures
from pointsman.observe.page import Disturbance, Page, Run
from pointsman.observe.pages import MissingExtra
from pointsman.observe.report import render

WINDOW = Window(5.0, 20.0)
NODES = ("fast", "slow")


def run(name, samples):
    return Run(figures(name, samples, WINDOW, dict.fromkeys(NODES, 1.0)), tuple(samples))


def page(**changes):
    samples = [Sample(t, t + 0.5 + t / 20, t + 3, True, 100, 40, 20, NODES[t % 2]) for t in range(20)]
    soon = [msgspec.structs.replace(sample, first_s=sample.sent_s + 0.125) for sample in samples]
    content = {
        "title": "A & B <compared>",
        "made": "Made on a Monday.",
        "caption": "Times are seconds.",
        "findings": ("UNSOUND: <busy>.",),
        "notes": ("Four nodes.",),
        "runs": (*(run(name, samples) for name in ("round_robin", "hybrid", "two_choices")), run("jffc", soon)),
        "nodes": NODES,
        "seconds": 20.0,
        "window": WINDOW,
        "disturbance": Disturbance("slow", 7.0, 13.0),
    }
    return Page(**content | changes)


@pytest.fixture(scope="module")
def html():
    return render(page())


def test_well_formed_figures_stand_inline(html):
    drawn = re.findall(r"<svg.*?</svg>", html, re.S)
    assert len(drawn) == 2 + 2 + 4 + 4  # bars, curves, a map and a line of the legend a policy
    for svg in drawn:
        ElementTree.fromstring(svg)


def test_nothing_is_loaded_from_elsewhere(html):
    assert "<script" not in html
    assert not re.search(r"(src|href)=\"(?!#|data:)", html)


def test_text_is_escaped(html):
    assert "A &amp; B &lt;compared&gt;" in html
    assert "<compared>" not in html
    assert "<busy>" not in html


def test_every_policy_has_its_row_and_its_map(html):
    assert html.count("<td>jffc</td>") == 1
    assert html.count("jffc") >= 4


def test_the_best_cell_of_a_column_is_marked(html):
    assert '<td class="best">0.12</td>' in html
    assert '<td class="best">40.0</td>' not in html  # all alike


def test_the_result_stands_before_what_was_measured(html):
    places = [html.index(text) for text in ("Made on", "Times are", "<td>jffc", "UNSOUND", "<svg", "Four nodes.")]
    assert places == sorted(places)


def test_equal_pages_give_equal_text(html):
    assert render(page()) == html


@pytest.mark.parametrize("changes", [{"disturbance": None}, {"runs": (run("jffc", []),)}])
def test_little_to_show_is_shown_too(changes):
    assert "<svg" in render(page(**changes))


def test_a_missing_library_is_named_with_the_cure(monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda name: None if name == "jinja2" else object())
    with pytest.raises(MissingExtra, match=r"needs jinja2: pip install 'pointsman\[report\]'"):
        render(page())
