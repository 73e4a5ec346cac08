import pytest

from pointsman.brain.load.tokens_per_byte import MOST_MODELS, TokensPerByte


def test_starts_at_four_bytes_a_token() -> None:
    assert TokensPerByte().tokens("any", 400) == 100.0


def test_learns_per_model() -> None:
    ratio = TokensPerByte()
    for _ in range(200):
        ratio.observe("chinese", 2000, 1000)
    assert ratio.bytes_per_token("chinese") == pytest.approx(2.0, rel=0.01)
    assert ratio.bytes_per_token("other") == 4.0


def test_forgets_the_old_script() -> None:
    ratio = TokensPerByte()
    for bytes_ in [4000] * 1000 + [2000] * 1000:
        ratio.observe("m", bytes_, 1000)
    assert ratio.bytes_per_token("m") == pytest.approx(2.0, rel=0.01)


def test_nonsense_teaches_nothing_and_memory_is_bounded() -> None:
    ratio = TokensPerByte()
    ratio.observe("m", 100, 0)
    ratio.observe("m", 0, 100)
    assert ratio.bytes_per_token("m") == 4.0
    for i in range(MOST_MODELS + 1):
        ratio.observe(f"m{i}", 20_000, 10_000)
    assert ratio.bytes_per_token("m0") == 4.0
    assert ratio.bytes_per_token("m1") < 2.1
