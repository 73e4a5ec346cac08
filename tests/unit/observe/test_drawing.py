"""How figures are drawn."""

import numpy as np

from pointsman.observe.drawing import (
    FEATURED,
    INK,
    MOST_ROWS,
    OTHERS,
    RULE,
    featured,
    heat_map,
    legend,
    lines,
    panel,
    shades,
    svg,
)


def test_curves_of_many_policies_differ() -> None:
    looks = lines([str(number) for number in range(28)])
    assert len({(line.colour, line.dash) for line in looks}) == 28


def test_ink_and_rules_follow_the_page() -> None:
    figure, axes = panel(2.0)
    axes.plot([0, 1], [0, 1], **lines(list("abcdefg"))[-1].look())
    axes.grid(color=RULE)
    text = svg(figure)
    assert text.startswith("<svg")
    assert "currentColor" in text
    assert "var(--rule)" in text
    assert INK not in text
    assert lines(list("abcdefg"))[-1].stroke == "currentColor"


def test_shades_run_from_light_to_dark() -> None:
    brightness = [sum(int(shade[k : k + 2], 16) for k in (1, 3, 5)) for shade in shades()]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) == 5


def test_of_many_nodes_some_are_named() -> None:
    for count in (4, MOST_ROWS, 100):
        _, axes = heat_map("jffc", [f"node-{number}" for number in range(count)], np.zeros((count, 10)), 60.0, 1.0)
        assert min(count, MOST_ROWS) / 2 < len(axes.get_yticklabels()) <= MOST_ROWS
        assert axes.get_yticklabels()[0].get_text() == "node-0"


def test_of_many_policies_the_first_stand_out() -> None:
    names = [f"policy_{number}" for number in range(30)]
    looks = featured(names, names[::-1])
    assert list(looks)[:FEATURED] == names[-FEATURED:]
    assert {looks[name].name for name in names[:-FEATURED]} == {OTHERS}
    assert [line.name for line in legend(looks)] == [*names[-FEATURED:], OTHERS]
    assert [line.name for line in legend(featured(names[:12], names[:1]))] == names[:12]
