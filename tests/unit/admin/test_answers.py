import pytest

from pointsman.admin.answers import Failed, failure
from pointsman.brain.policies.registry import UnknownPolicy


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (LookupError("no node"), 404, "not_found"),
        (ValueError("bad"), 400, "invalid_request"),
        (UnknownPolicy("no such policy"), 400, "unknown_policy"),
    ],
)
def test_what_a_handler_raises_has_a_status_and_a_code(error: Exception, status: int, code: str) -> None:
    failed = failure(error)
    assert failed is not None
    assert (str(failed), failed.status, failed.code) == (str(error), status, code)


def test_a_failure_elsewhere_keeps_what_it_was_there() -> None:
    failed = Failed("no node", 404, "not_found")
    assert failure(failed) is failed


def test_a_fault_of_ours_is_no_failure_of_the_call() -> None:
    assert failure(KeyError("x")) is None
    assert failure(RuntimeError("x")) is None
