"""Errors in OpenAI's shape."""

import json

from pointsman.brain.model.errors import ModelNotFound
from pointsman.wire.openai.errors import error_body


def test_shape() -> None:
    assert json.loads(error_body(ModelNotFound("no"))) == {
        "error": {
            "message": "The model `no` does not exist.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }
