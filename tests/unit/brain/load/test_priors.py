"""What is believed of a node without knowledge lies among what engines do."""

from pointsman.brain.load.priors import PrefillPrior, TpotPrior


def test_prefill_is_slower_than_that_of_fast_nodes_and_faster_than_that_of_old_cards() -> None:
    prior = PrefillPrior()
    assert 4000.0 / 14_000.0 < prior.base + 4000.0 * prior.per_token < 4000.0 / 5000.0
    assert prior.per_pair == 0.0


def test_a_hundred_sequences_cost_ten_milliseconds_more_than_one() -> None:
    prior = TpotPrior()
    assert 0.013 <= prior.base + prior.per_sequence <= 0.021
    assert 0.009 < 99 * prior.per_sequence < 0.011
    assert prior.per_context == 0.0
