"""What all reports have in common."""

import pytest

from pointsman.observe import pages
from pointsman.observe.columns import COLUMNS
from pointsman.observe.pages import MissingExtra, check_libraries, heading_of


def test_a_missing_library_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib and jinja2: pip install 'pointsman\[report\]'"):
        check_libraries()


def test_a_heading_of_two_lines_is_one_word_again() -> None:
    assert heading_of(COLUMNS[0]) == ("throughput", "per s ↑")
    assert heading_of(COLUMNS[2]) == ("TTFT mean", "s ↓")
