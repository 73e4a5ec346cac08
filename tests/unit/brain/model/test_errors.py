import pytest

from pointsman.brain.model import errors
from pointsman.brain.model.errors import PointsmanError


def tree(base: type[PointsmanError] = PointsmanError) -> list[type[PointsmanError]]:
    return [base, *(below for child in base.__subclasses__() for below in tree(child))]


def drawn() -> dict[str, tuple[int, str]]:
    """The leaves of the drawing at the top of the module: name to status and code."""
    lines = [line.split() for line in (errors.__doc__ or "").splitlines()]
    rows = [[word for word in line if word.strip("│├└─")] for line in lines]
    return {row[0]: (int(row[1]), row[2]) for row in rows if len(row) == 3 and row[1].isdigit()}


def test_the_drawing_is_the_tree() -> None:
    told = drawn()
    assert len(told) > 10
    by_name = {kind.__name__: kind for kind in tree()}
    assert {name: (by_name[name].status, by_name[name].code) for name in told} == told


@pytest.mark.parametrize("kind", tree())
def test_every_error_has_what_a_client_needs(kind: type[PointsmanError]) -> None:
    words_itself = kind is errors.ModelNotFound  # from the model's name alone
    error = kind("what was wrong") if words_itself else kind("what was wrong", param="model")
    assert "what was wrong" in error.message
    assert (str(error), error.param) == (error.message, "model")
    assert 400 <= error.status < 600
    assert error.code
    assert error.kind


def test_an_unknown_model_is_told_with_some_that_are_served() -> None:
    assert str(errors.ModelNotFound("x", ["a", "b"])) == "The model `x` does not exist. Served are: a, b."
    many = str(errors.ModelNotFound("x", [f"m{n}" for n in range(100)]))
    assert many.endswith("m18, m19 and more.")
    assert "m20" not in many


def test_only_overload_says_when_to_try_again() -> None:
    assert {kind for kind in tree() if kind.retry_after_s is not None} == set(tree(errors.Overloaded))
