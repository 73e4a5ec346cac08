"""A demand knows how long its long answers are."""

from pointsman.demo.demand import Demand, Dialogue, Line


def demand(*answers):
    return Demand(tuple(Dialogue(0.0, "", (Line(" a", tokens),)) for tokens in answers), "test")


def test_one_answer_in_a_hundred_is_longer():
    assert 98 <= demand(*range(1, 101)).long_answer_tokens() <= 100


def test_no_question_has_no_answer():
    assert demand().long_answer_tokens() == 0
