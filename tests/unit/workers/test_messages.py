from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.sharing import Booked, Known, PeerReport, Sent, Share
from pointsman.config.serve import ServeConfig
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.metrics import Metrics
from pointsman.observe.tally import taken
from pointsman.workers.messages import (
    Answer,
    Configure,
    Count,
    Counted,
    Heard,
    Question,
    Ready,
    Recall,
    Recalled,
    Retire,
    Stop,
    Told,
    ToSupervisor,
    ToWorker,
    Unpacker,
    Welcome,
    packed,
)

DOWN = [
    Welcome(
        3,
        7,
        b"\0secret",
        ServeConfig(nodes=(NodeSpec(url="http://a"),), policies={"jffc": {"w_load": 0.5}}),
        [Question(0, "PATCH", "/nodes/{id}", "a", body=b"\x80")],
    ),
    Heard(
        PeerReport(
            gateways=2, counted=1, nodes={"a": Known(Booked(1, 2, 3, 4, 5), 6)}, sent=[Sent("a", b"\xff" * 8, 16.0)]
        )
    ),
    Question(1, "GET", "/nodes"),
    Count(2),
    Recall(3),
    Retire(),
    Stop(),
    Configure(ServeConfig(api_keys=("k",))),
]
UP = [
    Ready(),
    Told(Share(number=1, booked={"a": Booked(1)}, waiting=("m",))),
    Answer(1, b"\xc0"),
    Recalled(3, [Sent("a", b"12345678", 16.0)]),
    Answer(2, status=404, code="not_found", text="no node"),
    Counted(2, taken(Metrics()), FleetReading(nodes=["a"], states=["up"], columns={"load": [1.0]})),
]


@pytest.mark.parametrize(("kind", "messages"), [(ToWorker, DOWN), (ToSupervisor, UP)], ids=["down", "up"])
@given(cuts=st.lists(st.integers(0, 2000), max_size=6))
def test_messages_come_out_as_they_went_in_however_they_are_cut(
    kind: object, messages: list[object], cuts: list[int]
) -> None:
    data = b"".join(packed(message) for message in messages)  # type: ignore[arg-type]
    places = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    unpacker = Unpacker(kind)
    found = [m for start, end in pairwise(places) for m in unpacker.feed(data[start:end])]
    assert found == messages


def test_byte_by_byte() -> None:
    unpacker = Unpacker(ToSupervisor)
    assert [m for byte in packed(UP[1]) + packed(UP[0]) for m in unpacker.feed(bytes([byte]))] == [UP[1], UP[0]]


def test_what_is_no_message_is_an_error() -> None:
    with pytest.raises(msgspec.DecodeError):
        list(Unpacker(ToWorker).feed(packed(UP[0])))
