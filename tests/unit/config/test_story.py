"""Settings of an explanation."""

import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.story import ExplainConfig, asked_id


def test_the_request_has_to_be_named() -> None:
    assert asked_id(ExplainConfig(id=("r",))) == "r"
    with pytest.raises(ConfigError, match="name the request: pointsman explain ID"):
        asked_id(ExplainConfig())
