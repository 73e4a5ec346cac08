"""Errors in OpenAI's shape."""

import json

import pytest

from pointsman.brain.model.errors import ModelNotFound
from pointsman.wire.openai.errors import error_body, error_status, is_error


def test_shape() -> None:
    assert json.loads(error_body(ModelNotFound("no"))) == {
        "error": {
            "message": "The model `no` does not exist.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"error":{"message":"x","code":400}}', 400),
        (b'{"error":{"message":"x","code":"oops"}}', 500),
        (b'{"error":"x"}', 500),
        (b'{"object":"error","message":"x","code":503}', 503),
        (b'{"error":{"code":200}}', 500),
    ],
)
def test_errors_of_nodes_that_come_with_a_200(body: bytes, status: int) -> None:
    assert is_error(body)
    assert error_status(body) == status


@pytest.mark.parametrize(
    "body", [b'{"id":"r","error":null}', b'{"error":""}', b'{"text":"\\"error\\""}', b'"error"', b""]
)
def test_what_is_no_error(body: bytes) -> None:
    assert not is_error(body)
