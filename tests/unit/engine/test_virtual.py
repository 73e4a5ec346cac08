"""An engine run on a virtual clock."""

import pytest

from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig
from pointsman.engine.virtual import Sample, run, saturation_rps

SMALL = profile_of(EngineConfig(prefill_tokens_per_second=10_000, decode_base_ms=10, overhead_ms=0, max_num_seqs=4))


def test_one_request_takes_its_steps() -> None:
    (served,) = run(SMALL, [(5.0, Sample(1000, 11))])
    assert served.ttft == pytest.approx(0.010 + 0.1)
    assert served.tpot == pytest.approx(0.010)
    assert served.finish == pytest.approx(5.0 + 0.110 + 0.100)


def test_a_repeated_prompt_hits_the_cache() -> None:
    hashes = tuple(range(62))
    first, second = run(SMALL, [(0.0, Sample(1000, 2, hashes)), (1.0, Sample(1000, 2, hashes))])
    assert (first.cached_tokens, second.cached_tokens) == (0, 992)
    assert second.ttft < first.ttft / 5


def test_results_keep_the_order_of_arrival() -> None:
    served = run(SMALL, [(0.0, Sample(100, 50)), (0.1, Sample(100, 1))])
    assert [result.sample.output_tokens for result in served] == [50, 1]
    assert served[1].finish < served[0].finish


def test_saturation_is_what_a_full_batch_finishes() -> None:
    # Four sequences of 50 steps of 10 ms and a prefill of a token: 4 / 0.5 s.
    assert saturation_rps(SMALL, [Sample(1, 50)] * 200) == pytest.approx(8.0, rel=0.05)


def test_a_slower_engine_saturates_sooner() -> None:
    slow = profile_of(EngineConfig(speed=0.25))
    fast = profile_of(EngineConfig())
    samples = [Sample(500, 50)] * 300
    assert saturation_rps(fast, samples) == pytest.approx(4 * saturation_rps(slow, samples), rel=0.05)


def test_saturation_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        saturation_rps(SMALL, [])


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_the_saturation_of_a_few_samples_is_that_of_all_of_them(samples: int) -> None:
    served = run(SMALL, [(0.0, Sample(100, 50))] * samples)
    whole = samples / max(result.finish for result in served)
    assert saturation_rps(SMALL, [Sample(100, 50)] * samples) == pytest.approx(whole)
