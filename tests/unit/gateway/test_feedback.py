"""The body of POST /feedback."""

import pytest

from pointsman.brain.model.errors import BadRequest
from pointsman.brain.model.reports import ClientReport
from pointsman.gateway.feedback import answer_to, read_feedback


def test_a_body_becomes_a_report_of_its_tenant() -> None:
    report = read_feedback(b'{"request_id":"r-1","good":false,"reason":"gibberish","more":[1]}', "t")
    assert report == ClientReport(request="r-1", tenant="t", good=False, reason="gibberish")
    assert answer_to(report) == b'{"object":"feedback","request_id":"r-1","good":false}'


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"[]", None),
        (b'{"good":true}', "request_id"),
        (b'{"request_id":"r"}', "good"),
        (b'{"request_id":"","good":true}', "request_id"),
        (b'{"request_id":7,"good":true}', "request_id"),
        (b'{"request_id":"r","good":"no"}', "good"),
        (b'{"request_id":"r","good":null}', "good"),
        (b'{"request_id":"r","good":true,"reason":"%b"}' % (b"x" * 1001), "reason"),
        (b'{"request_id":"\xff","good":true}', None),
        (b"[" * 100_000, None),
    ],
)
def test_what_is_no_feedback_is_refused_by_its_field(body: bytes, param: str | None) -> None:
    with pytest.raises(BadRequest) as refused:
        read_feedback(body, "")
    assert refused.value.param == param
