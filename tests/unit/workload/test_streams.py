"""Streams depend on seed and part, nothing else."""

from pointsman.workload.streams import stream


def test_streams_are_reproducible_and_distinct():
    draws = {(seed, part): stream(seed, part).random() for seed in (1, 2) for part in ("a", "b")}
    assert len(set(draws.values())) == 4
    assert stream(1, "a").random() == draws[1, "a"]
