"""What commands write for programs."""

import pytest

from pointsman.observe.command_output import write_json


def test_a_document_is_indented_and_ends_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"a": [1.5], "b": None})
    assert capsys.readouterr().out == '{\n  "a": [\n    1.5\n  ],\n  "b": null\n}\n'
