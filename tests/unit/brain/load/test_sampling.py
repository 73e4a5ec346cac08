from pointsman.brain.load.sampling import BURST, PER_SECOND, Sampling


def taken(sampling: Sampling, row: int, times: list[float]) -> int:
    return sum(sampling.take(row, now) for now in times)


def test_a_slow_node_is_learned_from_with_every_answer() -> None:
    assert taken(Sampling(2), 1, [0.2 * number for number in range(1000)]) == 1000


def test_a_burst_is_taken_whole_and_then_so_many_a_second() -> None:
    sampling = Sampling(2)
    sampling.start(1, 100.0)
    assert taken(sampling, 1, [100.0] * 200) == BURST
    assert taken(sampling, 1, [100.0 + 0.001 * number for number in range(1, 10_001)]) == 10 * PER_SECOND
    assert sampling.take(0, 100.0), "rows have buckets of their own"


def test_a_new_node_has_a_full_bucket() -> None:
    sampling = Sampling(1)
    assert taken(sampling, 0, [5.0] * 100) == BURST
    sampling.start(0, 5.0)
    assert taken(sampling, 0, [5.0] * 100) == BURST
