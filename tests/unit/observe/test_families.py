from itertools import pairwise

from pointsman.observe.families import FAMILIES, SECONDS, TOKEN_SECONDS, WAIT_SECONDS


def test_names_are_unique_and_carry_their_unit() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
    assert all(family.name.endswith("_seconds") for family in FAMILIES if family.kind == "histogram")
    assert not [name for name in names if name.endswith("_total")]  # the exposition adds it


def test_buckets_rise_by_a_factor_of_at_most_five() -> None:
    for bounds in (SECONDS, TOKEN_SECONDS, WAIT_SECONDS):
        assert all(1.0 < above / below <= 5.0 for below, above in pairwise(bounds))
    assert all(above / below <= 2.5 for below, above in pairwise(SECONDS))
