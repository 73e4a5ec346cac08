"""What the cache manager is told."""

import pytest

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.config.flags import ConfigError, convert


def test_two_classes_of_memory_that_are_one_stop_the_start() -> None:
    kept = {"model": "m", "up_to_tokens": 512}
    with pytest.raises(ConfigError, match="`prealloc` has 'm' up to 512 tokens more than once; keep one"):
        convert({"prealloc": [kept, kept | {"requests": 2}]}, CacheSettings, "f")


def test_classes_of_one_model_differ_in_size() -> None:
    given = [{"model": model, "up_to_tokens": tokens} for model in "mn" for tokens in (512, 1024)]
    assert len(convert({"prealloc": given}, CacheSettings, "f").prealloc) == 4
